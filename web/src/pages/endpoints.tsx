import { type Signal, useSignal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import type { EndpointAnswer, RunAnswer } from "../../../src/operations/endpoints/shapes.js";
import { useAsked, useChanges } from "../asked.js";
import { send, speakFor, tenant } from "../data.js";
import type { Outcome } from "../outcome.js";
import { Mark } from "../parts/mark.js";
import { Panel, Refused } from "../parts/panel.js";
import { PlannerSessions } from "../parts/planner-sessions.js";
import { useShortcuts } from "../parts/shortcuts.js";
import { type Column, Line, Table } from "../parts/table.js";
import { query } from "../router.js";
import { mayOperate, session } from "../session.js";
import type { Health, Page } from "../shapes.js";
import { clockText, distanceText, instantOf, momentText, nowMs, spanText } from "../time.js";

const MOST = 200;
const TYPING_MS = 200;

type Interval = NonNullable<EndpointAnswer["hints"]["interval"]>;

export function Endpoints() {
  const [named] = useState(namedByAddress);
  const search = useSignal("");
  /** Behind which it goes on; empty: from the first one. */
  const cursor = useSignal("");
  const asked = useAsked<Page<EndpointAnswer>>(addressOf(search.value, cursor.value));
  const next = asked.it?.next ?? null;
  useChanges(() => true, asked.again, 2_000);
  const open = useSignal<string | null>(named);
  const rows = asked.it?.rows ?? [];
  const listed = rows.find(({ id }) => id === open.value);
  // One of so many that it is not in the list.
  const isElsewhere = open.value !== null && asked.it !== null && listed === undefined;
  const alone = useAsked<EndpointAnswer>(isElsewhere ? `/endpoints/${open.value}` : null);
  const opened = listed ?? (isElsewhere ? (alone.it ?? undefined) : undefined);
  function turnTo(place: string): void {
    cursor.value = place;
  }
  return (
    <>
      <h1 tabIndex={-1}>Endpoints</h1>
      <div class="bar">
        <TenantForm onChange={asked.again} />
        <SearchField
          onSearch={(text) => {
            cursor.value = "";
            search.value = text;
          }}
        />
      </div>
      <Refused text={asked.refusal ?? alone.refusal} />
      {asked.it !== null && rows.length === 0 && next === null && cursor.value === "" && (
        <p class="soft">
          {search.value === "" ? (
            <>
              No endpoints yet: <code>POST /api/v1/jobs/ID/endpoints</code> makes one.
            </>
          ) : (
            "None is called so."
          )}
        </p>
      )}
      {rows.length > 0 && <List rows={rows} open={open} onDone={asked.again} />}
      {(next !== null || cursor.value !== "") && (
        <div class="bar">
          <button type="button" disabled={cursor.value === ""} onClick={() => turnTo("")}>
            From the first
          </button>
          <button type="button" disabled={next === null} onClick={() => turnTo(next ?? "")}>
            The next ones
          </button>
        </div>
      )}
      {opened !== undefined && <Runs key={opened.id} endpoint={opened} />}
      {opened !== undefined && <PlannerSessions key={`planner-${opened.id}`} id={opened.id} name={opened.name} />}
    </>
  );
}

const COLUMNS: readonly Column[] = [
  ["Outcome", "mark-cell"],
  ["Endpoint", "who"],
  ["Success, 24 h", "number"],
  ["p50 / p95", "number"],
  ["Streak", "tight"],
  ["Next", "tight"],
  ["Hint in force", "why"],
];

interface ListProps {
  readonly rows: readonly EndpointAnswer[];
  /** The id of the one whose runs are shown. */
  readonly open: Signal<string | null>;
  onDone(): void;
}

function List({ rows, open, onDone }: ListProps) {
  return (
    <Panel name="Endpoints">
      <Table columns={COLUMNS}>
        {rows.map((row) => (
          <Row
            key={row.id}
            row={row}
            isOpen={row.id === open.value}
            onOpen={() => {
              open.value = row.id === open.value ? null : row.id;
            }}
            onDone={onDone}
          />
        ))}
      </Table>
    </Panel>
  );
}

function addressOf(search: string, cursor: string): string {
  const wanted = Object.entries({ search, cursor }).filter(([, text]) => text !== "");
  const asked = new URLSearchParams([["limit", `${MOST}`], ...wanted]);
  return `/endpoints?${asked.toString()}`;
}

function SearchField({ onSearch }: { onSearch(text: string): void }) {
  const typing = useRef<ReturnType<typeof setTimeout> | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useShortcuts((key) => {
    if (key === "/") field.current?.focus();
    return key === "/";
  });
  return (
    <input
      ref={field}
      type="search"
      aria-label="Search endpoints"
      placeholder="a part of the name"
      maxLength={200}
      onInput={({ currentTarget }) => {
        if (typing.current !== null) clearTimeout(typing.current);
        const text = currentTarget.value.trim();
        typing.current = setTimeout(() => onSearch(text), TYPING_MS);
      }}
    />
  );
}

/** A link from a list names a tenant and its endpoint. */
function namedByAddress(): string | null {
  const of = query.value.get("tenant");
  if (of !== null && session.value?.tenant == null) speakFor(of);
  return query.value.get("endpoint");
}

/** Whoever runs the daemon speaks for any tenant, one at a time. */
function TenantForm({ onChange }: { onChange(): void }) {
  const name = useSignal(tenant.value);
  if (session.value?.tenant != null) return <p class="soft">of {session.value.tenant}</p>;
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        speakFor(name.value.trim());
        onChange();
      }}
    >
      <label>
        Tenant{" "}
        <input
          value={name}
          placeholder="default"
          maxLength={64}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

interface RowProps {
  readonly row: EndpointAnswer;
  readonly isOpen: boolean;
  onOpen(): void;
  onDone(): void;
}

function outcomeOf({ running, lastStatus }: EndpointAnswer): Outcome | null {
  if (running > 0) return "running";
  if (lastStatus === null) return null;
  return lastStatus === "success" ? "executed" : "failed";
}

function Row({ row, isOpen, onOpen, onDone }: RowProps) {
  const health = useAsked<Health>(`/endpoints/${row.id}/health`);
  useChanges(
    (identities) => identities === null || identities.some((it) => it.includes(row.id.slice(3))),
    health.again,
    5_000,
  );
  const day = health.it?.windows["24h"] ?? null;
  const outcome = outcomeOf(row);
  return (
    <Line
      columns={COLUMNS}
      cells={[
        outcome !== null && <Mark outcome={outcome} />,
        <>
          <button type="button" class="link" aria-expanded={isOpen} onClick={onOpen}>
            {row.name}
          </button>
          {row.status !== "active" && <span class="soft"> {row.status}</span>}
        </>,
        day?.successRate == null ? "–" : `${(day.successRate * 100).toFixed(1)} %`,
        day?.p50Ms == null ? "–" : `${Math.round(day.p50Ms)} / ${Math.round(day.p95Ms ?? 0)} ms`,
        streakText(health.it),
        <>
          {row.nextRunAt === null ? "–" : distanceText(row.nextRunAt)} <span class="soft">{row.nextSource}</span>
        </>,
        hasHints(row) && <Hints row={row} onDone={onDone} />,
      ]}
    />
  );
}

function streakText(health: Health | null): string {
  if (health === null) return "";
  const { failures, successes } = health.streak;
  if (failures > 0) return `${failures} failed`;
  return successes > 0 ? `${successes} succeeded` : "–";
}

function hasHints({ hints }: EndpointAnswer): boolean {
  return hints.interval !== null || hints.oneshot !== null;
}

function Hints({ row, onDone }: { readonly row: EndpointAnswer; onDone(): void }) {
  const { interval, oneshot } = row.hints;
  const refusal = useSignal<string | null>(null);
  const clear = (): void => {
    send("DELETE", `/endpoints/${row.id}/hints`).then(onDone, (error: Error) => {
      refusal.value = error.message;
    });
  };
  return (
    <>
      {interval !== null && intervalText(interval, row)}
      {oneshot !== null &&
        `once at ${clockText(oneshot.nextRunAt)}, ${authorOf(oneshot.by)} ${reasonOf(oneshot.reason)}`}
      {mayOperate() && (
        <button type="button" class="plain" onClick={clear}>
          Clear
        </button>
      )}
      <Refused text={refusal.value} />
    </>
  );
}

function intervalText({ intervalMs, expiresAt, reason, by }: Interval, row: EndpointAnswer): string {
  const clamped = row.nextSource === "clamped-min" || row.nextSource === "clamped-max" ? ", clamped" : "";
  const left = spanText(instantOf(expiresAt) - nowMs.value);
  return `every ${spanText(intervalMs)}, ${left} left${clamped}, ${authorOf(by)} ${reasonOf(reason)}`;
}

/** A key, a planner, or whoever runs the daemon. */
function authorOf(by: string | null): string {
  if (by === null) return "by the host";
  return by.startsWith("planner:") ? `by ${by}` : `by key ${by}`;
}

function reasonOf(reason: string): string {
  return reason === "" ? "" : `“${reason}”`;
}

const RUN_OUTCOMES: Readonly<Record<string, Outcome>> = { success: "executed", running: "running" };

const RUNS: readonly Column[] = [
  ["Outcome", "mark-cell"],
  ["Started", "who"],
  ["By", "soft"],
  ["Took", "number"],
  ["Status"],
  ["Why", "why soft breaks"],
];

function Runs({ endpoint }: { readonly endpoint: EndpointAnswer }) {
  const runs = useAsked<Page<RunAnswer>>(`/endpoints/${endpoint.id}/runs?limit=50`);
  useChanges(() => true, runs.again, 2_000);
  return (
    <section>
      <h2>Runs of {endpoint.name}</h2>
      <Panel name={`Runs of ${endpoint.name}`}>
        <Refused text={runs.refusal} />
        {runs.it?.rows.length === 0 && <p class="soft">None yet.</p>}
        <Table columns={RUNS} isPlain>
          {(runs.it?.rows ?? []).map((run) => (
            <Line
              key={run.id}
              columns={RUNS}
              cells={[
                <Mark key="mark" outcome={RUN_OUTCOMES[run.status] ?? "failed"} />,
                momentText(run.startedAt ?? run.scheduledFor),
                run.source,
                run.durationMs === null ? null : spanText(run.durationMs),
                run.httpStatus,
                run.error?.message,
              ]}
            />
          ))}
        </Table>
      </Panel>
    </section>
  );
}
