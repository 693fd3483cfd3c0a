/** What planners have looked at an endpoint for: what each has proposed, and what became of it. */
import { useSignal } from "@preact/signals";
import type { SessionDetail, SessionRow, TriedAnswer } from "../../../src/operations/planner/shapes.js";
import { useAsked, useChanges } from "../asked.js";
import { send } from "../data.js";
import { mayOperate } from "../session.js";
import type { Page } from "../shapes.js";
import { momentText, spanText } from "../time.js";
import { Opener } from "./opened.js";
import { Panel, Refused } from "./panel.js";
import { type Column, Line, Table, WideLine } from "./table.js";

type Session = SessionRow["session"];
type Proposal = Session["proposals"][number];

const MOST = 20;
const MINUTE_MS = 60_000;
const COLUMNS: readonly Column[] = [["When", "who tight"], ["Who", "soft"], ["Proposed"], ["What became of it"]];

interface Props {
  readonly id: string;
  readonly name: string;
}

export function PlannerSessions({ id, name }: Props) {
  const asked = useAsked<Page<SessionRow>>(`/planner/sessions?endpointId=${id}&limit=${MOST}`);
  useChanges(() => true, asked.again, 5_000);
  const open = useSignal<string | null>(null);
  const rows = asked.it?.rows ?? [];
  return (
    <section>
      <h2>Planner of {name}</h2>
      <Panel name={`Planner of ${name}`}>
        <Refused text={asked.refusal} />
        {asked.it !== null && rows.length === 0 && <p class="soft">Nothing was proposed yet.</p>}
        {rows.length > 0 && (
          <Table columns={COLUMNS}>
            {rows.map((row) => (
              <SessionLine
                key={row.id}
                row={row}
                isOpen={row.id === open.value}
                onOpen={() => {
                  open.value = row.id === open.value ? null : row.id;
                }}
              />
            ))}
          </Table>
        )}
        {mayOperate() && <Try id={id} />}
      </Panel>
    </section>
  );
}

interface LineProps {
  readonly row: SessionRow;
  readonly isOpen: boolean;
  onOpen(): void;
}

function SessionLine({ row: { id, by, session, fates }, isOpen, onOpen }: LineProps) {
  return (
    <>
      <Line
        columns={COLUMNS}
        cells={[
          <Opener key="when" isOpen={isOpen} onTurn={onOpen}>
            {momentText(session.startedAt)}
          </Opener>,
          by,
          <Proposals key="proposed" session={session} />,
          session.proposals.map((proposal, at) => (
            <div key={at} class={fates[at]?.result === "refused" ? "refusal" : undefined}>
              {fateText(fates[at], proposal)}
            </div>
          )),
        ]}
      />
      {isOpen && (
        <WideLine columns={COLUMNS} looks="opened">
          <Detail id={id} />
        </WideLine>
      )}
    </>
  );
}

function Proposals({ session: { proposals, outcome } }: { readonly session: Session }) {
  if (proposals.length === 0) return <span class="soft">nothing: {outcome.message || wordsOf(outcome.code)}</span>;
  return (
    <>
      {proposals.map((proposal, at) => (
        <div key={at}>
          {proposalText(proposal)} {proposal.reason !== "" && <span class="soft">“{proposal.reason}”</span>}
        </div>
      ))}
    </>
  );
}

function proposalText({ type, intervalMs, ttlMinutes, nextRunAt, until, kind }: Proposal): string {
  const span = ttlMinutes === undefined ? "" : `, for ${spanText(ttlMinutes * MINUTE_MS)}`;
  switch (type) {
    case "interval":
      return `every ${spanText(intervalMs ?? 0)}${span}`;
    case "oneshot":
      return `once at ${momentText(nextRunAt ?? "")}${span}`;
    case "pause_until":
      return `pause until ${momentText(until ?? "")}`;
    case "clear":
      return `clear: ${kind ?? "all"}`;
  }
}

function fateText(fate: SessionRow["fates"][number] | undefined, { type }: Proposal): string {
  if (fate === undefined) return "";
  const done = type === "clear" ? "cleared" : type === "pause_until" ? "paused" : "put in force";
  const texts = { applied: done, pending: "under way", refused: "refused", unknown: "not known" } as const;
  return `${texts[fate.result]}${fate.message === "" ? "" : `: ${fate.message}`}`;
}

function wordsOf(code: string): string {
  return code.replaceAll("_", " ").replaceAll("-", " ");
}

/** What it was made from, and what was called on the way. */
function Detail({ id }: { readonly id: string }) {
  const asked = useAsked<SessionDetail>(`/planner/sessions/${id}`);
  return (
    <>
      <Refused text={asked.refusal} />
      {asked.it !== null && <Account session={asked.it.session} inputs={asked.it.inputs} />}
    </>
  );
}

function Account({ session, inputs }: { readonly session: Session; readonly inputs: SessionDetail["inputs"] }) {
  const { calls, durationMs, nextAnalysisAt, tokens } = session;
  return (
    <>
      <dl class="pairs">
        <dt>Took</dt>
        <dd>
          {spanText(durationMs)}
          {tokens.used > 0 && `, ${tokens.used.toLocaleString("en")} tokens${tokens.isEstimated ? " by estimate" : ""}`}
        </dd>
        <dt>Looks again</dt>
        <dd>{momentText(nextAnalysisAt)}</dd>
        {calls.map((call, at) => (
          <>
            <dt key={`name-${at}`}>{call.name}</dt>
            <dd key={`call-${at}`}>
              <code>{call.arguments}</code> {call.result}
              {call.message !== "" && `: ${call.message}`}
            </dd>
          </>
        ))}
      </dl>
      <details>
        <summary>What it was told</summary>
        <pre>{JSON.stringify(inputs, null, 2)}</pre>
      </details>
    </>
  );
}

/** Asked now, and nothing of it put in force. */
function Try({ id }: { readonly id: string }) {
  const tried = useSignal<TriedAnswer | null>(null);
  const refusal = useSignal<string | null>(null);
  const isAsking = useSignal(false);
  function ask(): void {
    isAsking.value = true;
    send<TriedAnswer>("POST", `/endpoints/${id}/planner/try`, {})
      .then(
        (it) => {
          tried.value = it;
          refusal.value = null;
        },
        (error: Error) => {
          refusal.value = error.message;
        },
      )
      .finally(() => {
        isAsking.value = false;
      });
  }
  return (
    <>
      <div class="bar">
        <button type="button" disabled={isAsking.value} onClick={ask}>
          What would it propose now?
        </button>
        <span role="status" class="soft">
          {isAsking.value ? "It is being asked…" : tried.value !== null && `${tried.value.by}, and nothing is changed:`}
        </span>
      </div>
      <Refused text={refusal.value} />
      {tried.value !== null && (
        <>
          <Proposals session={tried.value.session} />
          <Account session={tried.value.session} inputs={tried.value.inputs} />
        </>
      )}
    </>
  );
}
