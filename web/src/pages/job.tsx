import { useSignal } from "@preact/signals";
import { useAsked, useChanges } from "../asked.js";
import { isOverdue, overdueText, unstartableText } from "../outcome.js";
import { Actions } from "../parts/actions.js";
import { Draws } from "../parts/draws.js";
import { nameOf } from "../parts/job-name.js";
import { Legend, Mark } from "../parts/mark.js";
import { NextStarts } from "../parts/next-starts.js";
import { Output } from "../parts/output.js";
import { Panel, Refused } from "../parts/panel.js";
import { Periods } from "../parts/periods.js";
import { RunLength } from "../parts/run-length.js";
import { Strip } from "../parts/strip.js";
import { endpointAddress } from "../router.js";
import { scheduleText } from "../schedule-text.js";
import { mayOperate } from "../session.js";
import type {
  DefinitionAnswer,
  EndpointTold,
  ExplainAnswer,
  HistoryRow,
  JobRow,
  Page,
  UpcomingAnswer,
  Why,
} from "../shapes.js";
import { clockText, distanceText, localText, momentText, spanText, zone } from "../time.js";
import { nextOf, usualText } from "../usual.js";

const PERIODS = 60;

export function Job({ identity }: { readonly identity: string }) {
  const path = `/schedules/${encodeURIComponent(identity)}`;
  const job = useAsked<JobRow>(path);
  // Of one that is not there nothing more is asked.
  const isThere = job.it !== null;
  const definition = useAsked<DefinitionAnswer>(isThere ? `${path}/definition` : null);
  const history = useAsked<Page<HistoryRow>>(isThere ? `${path}/history?limit=${PERIODS}` : null);
  const upcoming = useAsked<UpcomingAnswer>(isThere ? `${path}/upcoming` : null);
  /** Counted from the oldest that is shown; null: nobody has picked one. */
  const place = useSignal<number | null>(null);
  const picked = useSignal<string | null>(null);
  function again(): void {
    for (const asked of [job, definition, history, upcoming]) asked.again();
  }
  useChanges((identities) => (isThere && identities === null) || identities?.includes(identity) === true, again, 500);
  if (job.it === null) return <Absent identity={identity} refusal={job.refusal} />;
  const rows = history.it?.rows ?? [];
  const at = place.value ?? rows.length - 1;
  return (
    <>
      <h1 tabIndex={-1}>{nameOf(job.it)}</h1>
      {job.it.endpoint !== undefined && <EndpointLine identity={identity} endpoint={job.it.endpoint} />}
      <Refused text={job.refusal} />
      <Head job={job.it} definition={definition.it} />
      <Actions job={job.it} onDone={again} />
      {mayOperate() && (
        <p class="soft small keys">
          <kbd>r</kbd> runs · <kbd>p</kbd> pauses or resumes · <kbd>c</kbd> cancels · <kbd>h</kbd> hints ·{" "}
          <kbd>Esc</kbd> closes
        </p>
      )}
      <h2>History</h2>
      <Panel name="History">
        {rows.length === 0 ? (
          <p class="soft">Nothing has happened yet.</p>
        ) : (
          <Strip
            rows={rows}
            at={at}
            onPlace={(index) => {
              place.value = index;
            }}
            onOpen={(index) => {
              picked.value = rows[rows.length - 1 - index]?.periodId ?? null;
            }}
          />
        )}
        <Legend />
      </Panel>
      <div class="two">
        <WhyPart path={path} identity={identity} periodId={picked.value} />
        <ChosenPart path={path} job={job.it} periodId={picked.value} />
      </div>
      {mayOperate() && (
        <Output
          identity={identity}
          periodId={picked.value}
          isRunning={job.it.active.length > 0}
          hasRun={job.it.lastRun !== null}
        />
      )}
      {upcoming.it !== null && <NextStarts upcoming={upcoming.it} empty={nothingAhead(job.it)} />}
      <Periods
        identity={identity}
        rows={rows}
        onPick={(periodId) => {
          picked.value = periodId;
          document.getElementById(CHOSEN)?.focus();
        }}
      />
    </>
  );
}

/** It is asked for, or there is none. */
function Absent({ identity, refusal }: { readonly identity: string; readonly refusal: string | null }) {
  return (
    <>
      <h1 tabIndex={-1}>{identity}</h1>
      {refusal !== null && (
        <>
          <Refused text={refusal} />
          <p>
            <a href={`/jobs?q=${encodeURIComponent(identity)}`}>Look for it among all jobs</a>
          </p>
        </>
      )}
    </>
  );
}

function nothingAhead({ schedule, standing }: JobRow): string {
  if (schedule === "@reboot") return "It starts when the machine does, and nobody knows when that is.";
  return standing === "suspended" ? "It is suspended: nothing starts." : "Nothing lies ahead.";
}

function EndpointLine({ identity, endpoint }: { readonly identity: string; readonly endpoint: EndpointTold }) {
  return (
    <p class="soft">
      <a href={endpointAddress(endpoint)}>endpoint of {endpoint.tenant}</a> · <code>{identity}</code>
    </p>
  );
}

function Head({ job, definition }: { readonly job: JobRow; readonly definition: DefinitionAnswer | null }) {
  return (
    <>
      {definition?.description != null && <p>{definition.description}</p>}
      <p class="soft">
        {scheduleText(job.schedule) ?? ""} <code>{job.schedule}</code> {job.timezone}
        {definition !== null && <Rule definition={definition} />}
      </p>
      <Standing job={job} />
      <Underway job={job} />
    </>
  );
}

/** What runs of it, and what is usual. */
function Underway({ job }: { readonly job: JobRow }) {
  const usual = usualText(job);
  if (job.active.length === 0) return usual === null ? null : <p class="soft">{usual}</p>;
  return (
    <ul class="plain-list">
      {job.active.map(({ attemptId, startedAt }) => (
        <li key={attemptId}>
          <Mark outcome="running" isNamed={false} /> running <RunLength job={job} startedAt={startedAt} />
        </li>
      ))}
    </ul>
  );
}

function Rule({ definition }: { readonly definition: DefinitionAnswer }) {
  const { window, distribution, only, avoid, concurrency, deadline, target, tags } = definition;
  const parts = [
    ...(window.durationMs === 0 ? [] : [`${window.mode} ${spanText(window.durationMs)}, ${distribution}`]),
    ...(only === "" ? [] : [`only ${only}`]),
    ...(avoid === "" ? [] : [`avoid ${avoid}`]),
    ...(concurrency === "forbid" ? [] : [`concurrency ${concurrency}`]),
    `deadline ${deadline}`,
    target,
    ...tags.map((tag) => `#${tag}`),
  ];
  return <> · {parts.join(" · ")}</>;
}

function Standing({ job }: { readonly job: JobRow }) {
  const { standing, pausedUntil, pauseReason, timezone, nextSource, startFailure, unserved } = job;
  const next = nextOf(job);
  const because = pauseReason === null || pauseReason === "" ? "" : `: ${pauseReason}`;
  return (
    <p>
      {standing === "paused" && pausedUntil !== null ? `paused until ${momentText(pausedUntil)}${because}` : standing}
      {unserved !== undefined && ` · no node looks after it now (pool ${unserved})`}
      {isOverdue(job) && ` · ${overdueText(job)}`}
      {next !== null && !isOverdue(job) && (
        <>
          {" · next start "}
          <b>{momentText(next)}</b>
          {timezone !== zone.value && (
            <span class="soft">
              {" "}
              ({momentText(next, timezone)} {timezone})
            </span>
          )}
          , {distanceText(next)}
          {nextSource !== null && nextSource !== "cron" && <span class="soft"> by {nextSource}</span>}
        </>
      )}
      {startFailure !== null && <span class="refusal"> · {unstartableText(startFailure)}</span>}
    </p>
  );
}

interface PartProps {
  readonly path: string;
  /** null: the current one. */
  readonly periodId: string | null;
}

function WhyPart({ path, identity, periodId }: PartProps & { readonly identity: string }) {
  const why = useAsked<Why>(`${path}/why${periodId === null ? "" : `?periodAt=${encodeURIComponent(periodId)}`}`);
  useChanges((identities) => identities === null || identities.includes(identity), why.again);
  const command = why.it === null ? "" : `kron why '${identity}@${why.it.periodId}'`;
  return (
    <section>
      <h2>Why {periodId === null ? "" : momentText(periodId)}</h2>
      <Panel name="Why">
        <Refused text={why.refusal} />
        {why.it !== null && (
          <>
            <p>
              <span class="soft">{momentText(why.it.periodId)}</span> {localText(why.it.text)}
            </p>
            {why.it.windowStart !== null && why.it.windowEnd !== null && (
              <p class="soft small">
                window {momentText(why.it.windowStart)} to {momentText(why.it.windowEnd)}
              </p>
            )}
            <p class="small">
              <code>{command}</code>{" "}
              <button type="button" class="plain" onClick={() => void navigator.clipboard?.writeText(command)}>
                Copy
              </button>
            </p>
          </>
        )}
      </Panel>
    </section>
  );
}

/** Where whoever has picked a period goes on. */
const CHOSEN = "chosen";

function ChosenPart({ path, job, periodId }: PartProps & { readonly job: JobRow | null }) {
  const at = periodId ?? (job?.nextSource === "cron" ? job.nextPeriodId : null);
  const isDecided = job !== null && !/^@(?:every|reboot)\b/.test(job.schedule);
  const explained = useAsked<ExplainAnswer>(
    !isDecided ? null : `${path}/explain${at === null ? "" : `?at=${encodeURIComponent(at)}`}`,
  );
  const chosen = explained.it?.chosen ?? null;
  return (
    <section>
      <h2 id={CHOSEN} tabIndex={-1}>
        {chosen === null ? "How the second is chosen" : `How ${clockText(chosen)} was chosen`}
      </h2>
      <Panel name="How it was chosen">
        {job !== null && !isDecided && <p class="soft">There is no window, and nothing to decide.</p>}
        {explained.refusal === null ? (
          explained.it !== null && <Draws explained={explained.it} />
        ) : (
          <p class="soft">{explained.refusal}</p>
        )}
      </Panel>
    </section>
  );
}
