import { type Signal, useSignal } from "@preact/signals";
import { useAsked, useChanges } from "../asked.js";
import { type DaemonNow, daemon } from "../data.js";
import { outcomeOf, outcomeOfJob, reasonText, startedText, troubleText } from "../outcome.js";
import { JobName, nameOf } from "../parts/job-name.js";
import { Legend, Mark } from "../parts/mark.js";
import { Opener, WhatHappened } from "../parts/opened.js";
import { countText, Figures, Panel, Refused } from "../parts/panel.js";
import { RunLength } from "../parts/run-length.js";
import { useHeld, useSteady } from "../parts/steady.js";
import { type Column, Line, Table, WideLine } from "../parts/table.js";
import { LaneTable, Load, Timeline } from "../parts/timeline.js";
import type { ForecastAnswer, JobRow, Now as NowData } from "../shapes.js";
import { distanceText, instantOf, momentText, nowMs } from "../time.js";

const EVERY_MS = 2_000;

export function Now() {
  const asked = useAsked<NowData>("/now");
  useChanges(() => true, asked.again, EVERY_MS);
  const now = asked.it;
  return (
    <>
      <h1 tabIndex={-1}>Now</h1>
      <Refused text={asked.refusal} />
      {now === null ? <p class="soft">…</p> : <Loaded now={now} />}
    </>
  );
}

function Loaded({ now }: { readonly now: NowData }) {
  if (now.counts.jobs === 0) return <NoJobs />;
  return (
    <>
      <p class="soft">{sentenceOf(now)}</p>
      <Figures figures={figuresOf(now)} />
      {now.problems.length > 0 && <Problems rows={now.problems} total={now.counts.failing} />}
      <Ahead now={now} />
      <div class="two">
        <Running rows={now.running} />
        <Ended rows={now.ended} />
      </div>
      <Legend />
    </>
  );
}

function NoJobs() {
  return (
    <p class="soft">
      No jobs yet: <code>kron init</code> writes a first one, and <code>krond reload</code> puts it in force.
    </p>
  );
}

function sentenceOf({ counts, problems }: NowData): string {
  const started = startedText(problems);
  if (counts.failing === 0) return `${started} Nothing needs a look.`;
  return `${started} ${counts.failing === 1 ? "1 job needs" : `${countText(counts.failing)} jobs need`} a look.`;
}

function figuresOf({ counts, outcomes }: NowData) {
  const told = daemon.value;
  const next = told?.nextDueAt ?? null;
  return [
    { name: "Jobs", value: countText(told?.jobs ?? counts.jobs) },
    { name: "Running", value: countText(told?.active ?? counts.running) },
    { name: "Made ready", value: told === null ? "–" : countText(told.armed) },
    { name: "Held", value: countText(counts.held) },
    { name: "Next start", value: next === null ? "–" : distanceText(Math.max(instantOf(next), nowMs.value)) },
    ...(told === null ? [] : pulseFigures(told.pulse)),
    ...(outcomes === undefined ? [] : [{ name: "Outcomes, 1 h", ...shareOf(outcomes) }]),
  ];
}

/** Never all of them where one is missing. */
function shareOf(outcomes: NonNullable<NowData["outcomes"]>) {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  if (all === 0) return { value: "–" };
  return { value: `${Math.floor((outcomes.executed / all) * 10_000) / 100}`, unit: "% executed" };
}

function pulseFigures({ started, latenessMs }: DaemonNow["pulse"]) {
  const lateness = latenessMs === null ? { value: "–" } : { value: `${Math.round(latenessMs)}`, unit: "ms, p99" };
  return [
    { name: "Starts, 1 min", value: countText(started) },
    { name: "Start lateness", ...lateness },
  ];
}

const TROUBLES: readonly Column[] = [
  ["Outcome", "mark-cell"],
  ["Job", "who"],
  ["Why", "why"],
  ["When", "number when soft"],
];

/** More of them would hide what runs and what comes: the others are in the list of jobs. */
const MOST_PROBLEMS = 10;

function Problems({ rows: told, total }: { readonly rows: NowData["problems"]; readonly total: number }) {
  const rows = useSteady(told.slice(0, MOST_PROBLEMS));
  return (
    <section>
      <h2>Needs a look</h2>
      <Panel name="Jobs that need a look">
        <Table columns={TROUBLES} isPlain>
          {rows.map((row) => (
            <Line
              key={row.identity}
              columns={TROUBLES}
              cells={[
                <Mark key="mark" outcome={outcomeOfJob(row) ?? "unknown"} />,
                <JobName key="name" row={row} />,
                troubleText(row),
                momentText(row.lastRun?.endedAt ?? row.lastPeriodId ?? nowMs.value),
              ]}
            />
          ))}
        </Table>
        {total > rows.length && (
          <p class="soft small">
            and {countText(total - rows.length)} more: <a href="/jobs?q=is:failing&sort=failures">all of them</a>
          </p>
        )}
      </Panel>
    </section>
  );
}

function Ahead({ now }: { readonly now: NowData }) {
  // To the hour, so that many who look are told the same.
  const forecast = useAsked<ForecastAnswer>("/system/forecast?bucketMs=300000");
  return (
    <section>
      <h2>Next 24 hours</h2>
      <Panel name="Next 24 hours">
        {forecast.it !== null && <Load forecast={forecast.it} />}
        {now.lanes.length === 0 ? <p class="soft">Nothing starts.</p> : <Timeline {...now} />}
        <ul class="legend">
          <li>
            <svg class="mark" viewBox="0 0 14 14" aria-hidden="true">
              <rect class="window" y={2} width={14} height={10} rx={2} />
              <path class="chosen" d="M9 1v12" />
            </svg>
            window and chosen second
          </li>
          <li>
            <svg class="mark" viewBox="0 0 14 14" aria-hidden="true">
              <path class="nominal" d="M7 0v14" />
            </svg>
            what cron would do
          </li>
          <li>
            <svg class="mark" viewBox="0 0 14 14" aria-hidden="true">
              <rect class="held" x={1} y={2} width={12} height={10} rx={2} />
            </svg>
            held
          </li>
          <li>
            <svg class="mark" viewBox="0 0 14 14" aria-hidden="true">
              <rect class="running" y={4} width={14} height={6} rx={2} />
            </svg>
            running
          </li>
        </ul>
        <LaneTable lanes={now.lanes} />
      </Panel>
    </section>
  );
}

const RUNS: readonly Column[] = [
  ["Outcome", "mark-cell"],
  ["Job", "who"],
  ["For how long", "why number wraps"],
];

function Running({ rows: told }: { readonly rows: readonly JobRow[] }) {
  const rows = useSteady(told);
  return (
    <section>
      <h2>Running</h2>
      <Panel name="Running">
        {rows.length === 0 && <p class="soft">Nothing runs.</p>}
        <Table columns={RUNS} isPlain>
          {rows.flatMap((row) =>
            row.active.map((run) => (
              <Line
                key={run.attemptId}
                columns={RUNS}
                cells={[
                  <Mark key="mark" outcome="running" />,
                  <JobName key="name" row={row} />,
                  <RunLength key="length" job={row} startedAt={run.startedAt} />,
                ]}
              />
            )),
          )}
        </Table>
      </Panel>
    </section>
  );
}

function Ended({ rows: told }: { readonly rows: NowData["ended"] }) {
  const { value: rows, holder } = useHeld(told);
  const opened = useSignal<string | null>(null);
  return (
    <section {...holder}>
      <h2>Just ended</h2>
      <Panel name="Just ended">
        {rows.length === 0 && <p class="soft">Nothing since the daemon has started.</p>}
        <Table columns={ENDS} isPlain>
          {rows.slice(0, 20).map((row) => (
            <EndedRow key={keyOf(row)} row={row} opened={opened} />
          ))}
        </Table>
      </Panel>
    </section>
  );
}

const ENDS: readonly Column[] = [
  ["Outcome", "mark-cell"],
  ["Job", "who"],
  ["Why", "why soft"],
  ["When", "number when"],
];

type EndedTold = NowData["ended"][number];

function keyOf({ identity, periodId, at, outcome }: EndedTold): string {
  return `${identity} ${periodId} ${at} ${outcome}`;
}

/** `opened`: the row that is open, of all of them. */
function EndedRow({ row, opened }: { readonly row: EndedTold; readonly opened: Signal<string | null> }) {
  const key = keyOf(row);
  const isOpen = opened.value === key;
  return (
    <>
      <Line
        columns={ENDS}
        cells={[
          <Mark key="mark" outcome={outcomeOf(row.outcome)} />,
          <JobName key="name" row={row} />,
          row.reason === null ? null : reasonText(row.reason),
          row.periodId === null ? (
            momentText(row.at)
          ) : (
            <Opener
              key="when"
              isOpen={isOpen}
              label={`What happened to ${nameOf(row)} at ${momentText(row.at)}`}
              onTurn={() => {
                opened.value = isOpen ? null : key;
              }}
            >
              {momentText(row.at)}
            </Opener>
          ),
        ]}
      />
      {isOpen && row.periodId !== null && (
        <WideLine columns={ENDS} looks="opened">
          <WhatHappened identity={row.identity} periodId={row.periodId} />
        </WideLine>
      )}
    </>
  );
}
