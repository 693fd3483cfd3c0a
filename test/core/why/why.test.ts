import { describe, expect, test } from "vitest";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import type { WhyFacts, WhyKind, WhyVersion } from "../../../src/core/why/facts.js";
import { type LedgerEntry, readLedgerEntry } from "../../../src/core/why/records.js";
import { whyPeriod } from "../../../src/core/why/why.js";
import { requireOk } from "../../support/results.js";

const at = (text: string): number => Date.parse(`2026-03-01T${text}Z`);
const NOON = at("12:00:00");

function version(definedAt: number, more: Record<string, unknown> = {}): WhyVersion {
  const raw = { identity: "t/job", schedule: "0 * * * *", command: ["/bin/true"], ...more };
  return { definedAt, definition: requireOk(readJobDefinition(raw)) };
}

const removal = (definedAt: number): WhyVersion => ({ definedAt, definition: null });

function entry(kind: string, about: number, content: object): LedgerEntry {
  const read = readLedgerEntry({ at: about, kind, text: JSON.stringify(content) });
  if (read === null) throw new Error(`no entry: ${kind}`);
  return read;
}

const outcome = (name: string | null, reason: string | null = null): LedgerEntry =>
  entry("period", NOON, { outcome: name, reason, at: "2026-03-01T12:00:01Z", decision: null });

const run = (more: object): LedgerEntry =>
  entry("run", NOON, {
    period_id: "2026-03-01T12:00:00Z",
    source: null,
    pid: 7,
    started_at: "2026-03-01T12:00:00Z",
    ...more,
  });

const ended = run({ ended_at: "2026-03-01T12:00:09Z", exit_code: 0, signal: null, reason: null });
const pausedFrom = (from: string, until: string): LedgerEntry =>
  entry("paused", at(from), { at: `2026-03-01T${from}Z`, until: `2026-03-01T${until}Z`, reason: "an upgrade" });
const gap = (first: string, last: string): LedgerEntry =>
  entry("gap", at(first), {
    at: "2026-03-01T14:30:00Z",
    first: `2026-03-01T${first}Z`,
    last: `2026-03-01T${last}Z`,
    count: 3,
    is_count_exact: true,
  });

const hint = (from: string, until: string): LedgerEntry =>
  entry("hint", at(from), {
    hint: "interval",
    interval_ms: 30_000,
    expires_at: `2026-03-01T${until}Z`,
    reason: "load",
  });
const HINT_END = { hint: "interval", how: "cleared" };
const HINTED_GAP = {
  at: "2026-03-01T13:00:00Z",
  first: "2026-03-01T12:00:00Z",
  last: "2026-03-01T12:00:00Z",
  count: 1,
};

const ALWAYS = { bootedAt: at("00:00:00"), at: at("23:00:00") };
const handledTo = (text: string): StateDocument => ({
  ...newDocument("t/job"),
  LastHandledPeriodID: `2026-03-01T${text}Z`,
  LastOutcome: "executed",
});
const running: StateDocument = {
  ...handledTo("12:00:00"),
  ActiveExecution: {
    PeriodID: "2026-03-01T12:00:00Z",
    PID: 7,
    StartedAt: "2026-03-01T12:00:00Z",
    ChosenTime: "2026-03-01T12:00:00Z",
  },
};

/** Asked at half past two about noon, with a daemon alive all day and the job known since the morning. */
const USUAL: WhyFacts = {
  identity: "t/job",
  daemon: "running",
  nominalAt: NOON,
  now: at("14:30:00"),
  versions: [version(at("06:00:00"))],
  document: null,
  entries: [],
  spans: [ALWAYS],
  keptFromAt: at("00:00:00"),
};

/** Noon is due, and the hour before it was the last that was handled. */
const AT_NOON: Partial<WhyFacts> = { now: at("12:00:30"), document: handledTo("11:00:00") };
/** Killed right after the mark that it was alive at noon; the next one came an hour later. */
const KILLED_AT_NOON: WhyFacts["spans"] = [
  { bootedAt: at("06:00:00"), at: NOON },
  { bootedAt: at("13:00:30"), at: at("14:30:00") },
];

type Row = readonly [name: string, facts: Partial<WhyFacts>, kind: WhyKind, text: string];

const ROWS: readonly Row[] = [
  // An outcome on record.
  ["executed and ended", { entries: [outcome("executed"), ended] }, "executed", "exit code 0"],
  [
    "executed, ended by a signal",
    { entries: [outcome("executed"), run({ ended_at: "x", exit_code: null, signal: "SIGKILL", reason: "timeout" })] },
    "executed",
    "ended by SIGKILL (timeout)",
  ],
  [
    "S29: executed, and nobody saw the end",
    { entries: [outcome("executed"), run({ ended_at: "x", exit_code: null, signal: null, reason: "exit_unseen" })] },
    "executed",
    "exit code unknown (exit_unseen)",
  ],
  ["running", { entries: [outcome("executed"), run({ ended_at: null })], document: running }, "running", "PID 7"],
  ["S20: missed", { entries: [outcome("missed", "deadline")] }, "missed", "deadline"],
  [
    "S24: missed for want of the command",
    { entries: [outcome("missed", "not_started:command-not-found")] },
    "missed",
    "it could not be started: the command does not exist (command-not-found)",
  ],
  ["a reason of a later version", { entries: [outcome("missed", "eclipse")] }, "missed", "missed: eclipse (recorded"],
  ["S13: superseded", { entries: [outcome("missed", "superseded")] }, "missed", "next period came"],
  ["skipped", { entries: [outcome("skipped", "concurrency_forbid")] }, "skipped", "forbids concurrent runs"],
  ["S26: too many", { entries: [outcome("skipped", "too_many_active")] }, "skipped", "max_active"],
  ["S32: fenced", { entries: [outcome("skipped", "state_recovered")] }, "skipped", "state was lost"],
  [
    "S15: unschedulable",
    { entries: [outcome("unschedulable", "no candidate")] },
    "unschedulable",
    "unschedulable: no candidate",
  ],
  [
    "S14: before the definition, on record",
    { entries: [outcome(null, "before_definition")] },
    "before_definition",
    "never fires the past",
  ],
  // No outcome yet.
  ["not yet", { now: at("11:59:00") }, "not_yet", "chosen at 2026-03-01T12:00:00Z"],
  [
    "not yet, and suspended",
    { now: at("11:59:00"), versions: [version(at("06:00:00"), { policy: { suspend: true } })] },
    "not_yet",
    "but the job is suspended",
  ],
  [
    "not yet, and paused beyond it",
    { now: at("11:59:00"), entries: [pausedFrom("11:00:00", "13:00:00")] },
    "not_yet",
    "but the job is paused until 2026-03-01T13:00:00Z (an upgrade)",
  ],
  ["S24: due and still open", { now: at("12:00:30"), document: handledTo("11:00:00") }, "waiting", "being started"],
  [
    "S29: due while the daemon drains: nothing starts it now, and a start may come in time",
    { ...AT_NOON, daemon: "stopping", versions: [version(at("06:00:00"), { policy: { deadline: "5m" } })] },
    "waiting",
    "the daemon is stopping and starts nothing any more; the next start judges it, if the job is still configured: " +
      "it is in time until 2026-03-01T12:05:00Z; from 2026-03-01T13:00:00Z on the next period takes its place",
  ],
  [
    "S20: due while the daemon drains, and too late already",
    { ...AT_NOON, daemon: "stopping" },
    "waiting",
    "its deadline passed at 2026-03-01T12:00:00Z",
  ],
  [
    "due, and killed before it was handled: no daemon runs",
    { ...AT_NOON, daemon: "none", spans: [{ bootedAt: at("06:00:00"), at: at("12:00:10") }] },
    "waiting",
    "no daemon runs (last sign of life: 2026-03-01T12:00:10Z); the next start judges it",
  ],
  [
    "due, and no daemon was there",
    { ...AT_NOON, daemon: "none", spans: [{ bootedAt: at("06:00:00"), at: at("11:30:00") }] },
    "down",
    "it has not been started again; the next start judges it, if the job is still configured: its deadline passed",
  ],
  [
    "S15: open, unschedulable, and no daemon runs",
    { ...AT_NOON, daemon: "none", versions: [version(at("06:00:00"), { constraints: { only: "hours=3,4" } })] },
    "waiting",
    "no instant in its window is allowed",
  ],
  [
    "S16: due and open, but under another definition by now",
    { ...AT_NOON, versions: [version(at("06:00:00")), version(at("12:00:20"), { schedule: "0 5 * * *" })] },
    "redefined",
    "the definition was changed at 2026-03-01T12:00:20Z, before it was handled",
  ],
  [
    "S16: decided anew under the next definition, which has the period too",
    { ...AT_NOON, versions: [version(at("06:00:00")), version(at("12:00:20"), { schedule: "0 */2 * * *" })] },
    "waiting",
    "being started",
  ],
  [
    "S17: due and open, and suspended since",
    { ...AT_NOON, versions: [version(at("06:00:00")), version(at("12:00:20"), { policy: { suspend: true } })] },
    "suspended",
    "suspended by its configuration",
  ],
  [
    "S17: due and open, and paused since",
    { ...AT_NOON, entries: [pausedFrom("12:00:20", "12:10:00")] },
    "paused",
    "paused from 2026-03-01T12:00:20Z",
  ],
  [
    "S16: due and open, and removed since",
    { ...AT_NOON, versions: [version(at("06:00:00")), removal(at("12:00:20"))] },
    "removed",
    "removed at 2026-03-01T12:00:20Z, before it was handled",
  ],
  // None, and none will come.
  [
    "S14: before the definition",
    { versions: [version(at("13:00:00"))] },
    "before_definition",
    "before the definition came into force at 2026-03-01T13:00:00Z",
  ],
  [
    "S17: suspended",
    { versions: [version(at("06:00:00"), { policy: { suspend: true } })] },
    "suspended",
    "suspended by its configuration",
  ],
  [
    "S17: suspended then, not any more",
    { versions: [version(at("06:00:00"), { policy: { suspend: true } }), version(at("13:00:00"))] },
    "suspended",
    "suspended",
  ],
  [
    "S17: paused",
    { entries: [pausedFrom("11:00:00", "13:00:00")] },
    "paused",
    "until 2026-03-01T13:00:00Z (an upgrade)",
  ],
  [
    "S17: paused, and resumed before it",
    { entries: [pausedFrom("11:00:00", "13:00:00"), entry("resumed", at("11:30:00"), {})] },
    "unknown",
    "nothing is on record",
  ],
  [
    "S13: down in between",
    {
      spans: [
        { bootedAt: at("06:00:00"), at: at("11:30:00") },
        { bootedAt: at("14:00:00"), at: at("14:30:00") },
      ],
    },
    "down",
    "down from 2026-03-01T11:30:00Z (its last sign of life) to 2026-03-01T14:00:00Z",
  ],
  [
    "down since then",
    { spans: [{ bootedAt: at("06:00:00"), at: at("11:30:00") }] },
    "down",
    "it has not been started again",
  ],
  [
    "S13: passed over",
    { document: handledTo("14:00:00"), entries: [gap("11:00:00", "13:00:00")] },
    "not_evaluated",
    "one of 3 periods",
  ],
  [
    "S53: passed over when another server took over, which knows of no daemon at that time",
    {
      document: handledTo("13:00:00"),
      entries: [entry("gap", NOON, { ...HINTED_GAP, reason: "failover_fenced" })],
      spans: [
        { bootedAt: at("06:00:00"), at: at("11:30:00") },
        { bootedAt: at("13:00:30"), at: at("14:30:00") },
      ],
    },
    "not_evaluated",
    "another database server had taken over, which may have forgotten that they ran",
  ],
  [
    "a gap elsewhere says nothing",
    { document: handledTo("14:00:00"), entries: [gap("09:00:00", "11:00:00")] },
    "unknown",
    "nothing",
  ],
  // A hint stood in for the schedule.
  [
    "S41: a hint is in force",
    { ...AT_NOON, entries: [hint("11:50:00", "13:00:00")] },
    "not_evaluated",
    "a hint stood in for the schedule: the hint every 30s, until 2026-03-01T13:00:00Z: load",
  ],
  [
    "S41: a hint was in force, and which one it was",
    {
      document: handledTo("11:00:00"),
      entries: [hint("11:50:00", "13:00:00"), entry("gap", NOON, { ...HINTED_GAP, reason: "hinted" })],
    },
    "not_evaluated",
    "a hint stood in for the schedule: the hint every 30s, until 2026-03-01T13:00:00Z: load",
  ],
  [
    "S41: a hint that had been cleared by then says nothing",
    { ...AT_NOON, entries: [hint("11:50:00", "13:00:00"), entry("hint_end:interval", at("11:55:00"), HINT_END)] },
    "waiting",
    "it is due",
  ],
  ["S41: nor does one that was over", { ...AT_NOON, entries: [hint("11:50:00", "12:00:00")] }, "waiting", "it is due"],
  // Marks of being alive cover it, and nothing is on record.
  [
    "S16: out of the configuration while nobody was there; killed between its first mark and the removal",
    {
      ...AT_NOON,
      daemon: "none",
      spans: [
        { bootedAt: at("06:00:00"), at: at("11:30:00") },
        { bootedAt: NOON, at: NOON },
      ],
    },
    "waiting",
    "no daemon runs (last sign of life: 2026-03-01T12:00:00Z); the next start judges it, if the job is still configured",
  ],
  [
    "S16: the same, after the start that removed it",
    {
      now: at("12:30:00"),
      document: handledTo("11:00:00"),
      versions: [version(at("06:00:00")), removal(at("12:20:00"))],
      spans: [
        { bootedAt: NOON, at: NOON },
        { bootedAt: at("12:20:00"), at: at("12:30:00") },
      ],
    },
    "removed",
    "removed at 2026-03-01T12:20:00Z, before it was handled",
  ],
  [
    "S13: the daemon stood still, said that it was alive, and was killed; the next definition knows no gap",
    {
      versions: [version(at("06:00:00")), version(at("13:00:30"), { schedule: "5 * * * *" })],
      document: handledTo("11:00:00"),
      spans: KILLED_AT_NOON,
    },
    "not_evaluated",
    "the daemon that was there ended before it judged it (last sign of life: 2026-03-01T12:00:00Z)",
  ],
  [
    "killed as it was due, and nobody came since",
    { daemon: "none", spans: KILLED_AT_NOON.slice(0, 1) },
    "not_evaluated",
    "ended before it judged it",
  ],
  [
    "S13: a daemon that handled a later period has no such excuse",
    {
      spans: [{ bootedAt: at("06:00:00"), at: at("13:00:10") }, ...KILLED_AT_NOON.slice(1)],
      entries: [entry("period", at("13:00:00"), { outcome: "executed", reason: null, at: "2026-03-01T13:00:01Z" })],
    },
    "unknown",
    "nothing is on record",
  ],
  ["nor has one that is still there", { document: handledTo("14:00:00") }, "unknown", "nothing is on record"],
  // Not a period, or no such job.
  [
    "not a period",
    { nominalAt: at("12:30:00") },
    "not_a_period",
    "the nearest are 2026-03-01T12:00:00Z and 2026-03-01T13:00:00Z",
  ],
  [
    "S16: not a period of the schedule that was in force, though of an earlier one",
    { versions: [version(at("06:00:00")), version(at("11:30:00"), { schedule: "5 * * * *" })] },
    "not_a_period",
    "are 2026-03-01T11:05:00Z and 2026-03-01T12:05:00Z",
  ],
  [
    "S16: the job was removed",
    { versions: [version(at("06:00:00")), removal(at("11:30:00"))] },
    "removed",
    "removed at 2026-03-01T11:30:00Z",
  ],
  ["older than the ledger", { keptFromAt: at("13:00:00") }, "older_than_ledger", "since 2026-03-01T13:00:00Z"],
  ["no definition on record", { versions: [], document: handledTo("11:00:00") }, "unknown", "no definition"],
];

describe("why: one answer for every period (S36)", () => {
  test.each(ROWS)("%s", (_name, facts, kind, text) => {
    const answer = whyPeriod({ ...USUAL, ...facts });
    expect([answer.kind, answer.text]).toEqual([kind, expect.stringContaining(text)]);
  });

  test.each<[name: string, daemon: WhyFacts["daemon"], reason: string | null]>([
    ["a daemon is at it", "running", null],
    ["a daemon drains", "stopping", "stopping"],
    ["no daemon runs", "none", "no_daemon"],
  ])("programs are told who could still start what is open: %s", (_name, daemon, reason) => {
    const { kind, reason: told } = whyPeriod({ ...USUAL, ...AT_NOON, daemon });
    expect([kind, told]).toEqual(["waiting", reason]);
  });

  test("names window and chosen time of every period, recorded or not", () => {
    const versions = [version(at("06:00:00"), { window: { mode: "around", duration: "20m" } })];
    const answer = whyPeriod({ ...USUAL, versions, now: at("11:00:00") });
    expect(answer.window_start).toBe("2026-03-01T11:50:00Z");
    expect(answer.window_end).toBe("2026-03-01T12:10:00Z");
    expect(answer.chosen_time).toMatch(/^2026-03-01T1[12]:/);
  });

  test("S1: whatever it goes by was read to the millisecond; what it says is whole seconds", () => {
    const lastSignAt = at("11:30:00.250");
    const spans = [
      { bootedAt: at("06:00:00.125"), at: lastSignAt },
      { bootedAt: at("13:00:00.375"), at: at("23:00:00") },
    ];
    const answer = whyPeriod({ ...USUAL, spans });
    expect([answer.kind, answer.from, answer.until]).toEqual(["down", "2026-03-01T11:30:00Z", "2026-03-01T13:00:00Z"]);
    expect(answer.text).not.toMatch(/\.\d{3}Z/);
  });

  test("S5: what is on record wins over what would be computed today", () => {
    const decision = { chosen_time: "2026-03-01T12:00:42Z", window_start: "x", window_end: "y" };
    const entries = [entry("period", NOON, { outcome: "executed", reason: null, at: "", decision })];
    expect(whyPeriod({ ...USUAL, entries }).chosen_time).toBe("2026-03-01T12:00:42Z");
  });

  test("reads definitions as the ledger keeps them", () => {
    const { definition } = version(0);
    if (definition === null) throw new Error("no definition");
    expect(requireOk(readJobDefinition(JSON.parse(canonicalDefinitionText(definition))))).toEqual(definition);
  });
});

describe("records that cannot be read say nothing", () => {
  test.each([
    ["no JSON", "period", "{"],
    ["no object", "period", "[]"],
    ["a kind of a later version", "weather", "{}"],
    ["a hint that does not say what it is", "hint", "{}"],
  ])("%s", (_name, kind, text) => {
    expect(readLedgerEntry({ at: 0, kind, text })).toBeNull();
  });
});

describe("among several nodes", () => {
  const every = { identity: "t/job", schedule: "@every 5m", command: ["/bin/true"] };
  const interval: WhyVersion = { definedAt: at("00:00:00"), definition: requireOk(readJobDefinition(every)) };
  const served = [{ bootedAt: at("00:00:00"), at: at("11:00:00") }];
  const back = [...served, { bootedAt: at("14:00:00"), at: at("15:00:00") }];
  const told = (more: Partial<WhyFacts>): string =>
    whyPeriod({
      ...{ identity: "t/job", daemon: "running", nominalAt: NOON, now: at("15:00:00"), versions: [version(0)] },
      ...{ document: handledTo("11:00:00"), entries: [], spans: back, keptFromAt: 0, unserved: null },
      ...more,
    }).text;
  const THEN = "no node looked after the job from 2026-03-01T11:00:00Z (the last sign of life)";

  test.each<readonly [string, Partial<WhyFacts>, string]>([
    ["that nobody had the job then", {}, `${THEN} to 2026-03-01T14:00:00Z`],
    [
      "that nobody has had it since",
      { spans: served, daemon: "none", unserved: "node/db1" },
      `${THEN}; no node looks after it now (pool node/db1)`,
    ],
    [
      "that nobody has ever had it",
      { spans: [], daemon: "none", document: null, unserved: "gpu" },
      "no node looked after the job; no node looks after it now (pool gpu)",
    ],
    ["the same of an interval", { versions: [interval] }, `${THEN} to 2026-03-01T14:00:00Z`],
    [
      "of an interval now",
      { versions: [interval], spans: served, daemon: "none", unserved: "node/db1" },
      `is on record at that instant: ${THEN}; no node looks after it now (pool node/db1)`,
    ],
    [
      "that nobody is there for what is to come",
      { nominalAt: at("16:00:00"), daemon: "none", unserved: "gpu" },
      "chosen at 2026-03-01T16:00:00Z; but no node looks after it now (pool gpu)",
    ],
  ])("it is told %s", (_, facts, text) => {
    expect(told(facts)).toContain(text);
  });
});
