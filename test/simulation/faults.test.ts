/**
 * Each kind of trouble on its own: one job every minute, ten minutes from half past a minute on, and what the rules
 * prescribe for it. In every row nothing runs twice and every period is accounted for.
 */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { Metric } from "../../src/simulation/metrics.js";
import type { Act, CrashStep } from "../../src/simulation/scenario.js";
import { job, play, type Script } from "./support.js";

type Acts = Readonly<Record<number, Act>>;

function every(policy: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return [job({ policy: { concurrency: "allow", deadline: "30s", ...policy }, ...more })];
}

function crashAt(step: CrashStep | null, second = 100): Acts {
  return { [second]: { do: "crash", forMs: 5_000, step } };
}

function at(second: number, act: Act): Acts {
  return { [second]: act };
}

/** Starts some seconds after the minute, where nothing else is written: the period after 150 s five seconds later. */
const APART = { window: { mode: "after", duration: "20s" } };

type Row = [
  name: string,
  script: Script,
  figures: Partial<Record<Metric, number>>,
  exits: Readonly<Record<string, number>>,
  reasons?: Readonly<Record<string, number>>,
];

const ALL_WELL = { executed: 10, started: 10, missed: 0, unknown_exits: 0, fatal: 0 };
const PAUSE = { do: "pause", job: "j*", forMs: 180_000, reason: "maintenance" } as const;

const ROWS: readonly Row[] = [
  ["nothing happens", { jobs: every() }, ALL_WELL, { "0": 10 }],

  // --- the daemon dies (S22, S23, S29) ---
  [
    "S23: a crash before the claim is durable: nothing ran, and the period runs after the restart",
    { jobs: every(), acts: crashAt("before-claim") },
    { ...ALL_WELL, max_lateness: 5_000 },
    { "0": 10 },
  ],
  [
    "S22: a crash after the claim: the period is handled, and nothing is started for it again",
    { jobs: every(), acts: crashAt("after-claim") },
    { executed: 10, started: 9, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
    { "run: start_unconfirmed": 1 },
  ],
  [
    "S23: a crash before GO closes the gate",
    { jobs: every(), acts: crashAt("before-start") },
    { executed: 10, started: 9, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
    { "run: start_unconfirmed": 1 },
  ],
  [
    "S29: a crash after GO: the run goes on and is watched by the next daemon; its exit code is nobody's to tell",
    { jobs: every(), acts: crashAt("after-start") },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
    { "run: exit_unseen": 1 },
  ],
  [
    "S22: a crash before the end is on record: the run is not repeated",
    { jobs: every(), acts: crashAt("before-end") },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
  ],
  ["S22: a crash after the end is on record", { jobs: every(), acts: crashAt("after-end") }, ALL_WELL, { "0": 10 }],
  [
    "S29: a crash while a run is going",
    { jobs: every(), acts: crashAt(null, 92) },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
    { "run: exit_unseen": 1 },
  ],
  [
    "S13: down for five minutes: the current period is started late, the ones before it are passed over",
    { jobs: every(), acts: at(120, { do: "down", forMs: 300_000 }) },
    { executed: 6, not_evaluated: 4, missed: 0, max_lateness: 30_000 },
    { "0": 6 },
  ],
  [
    "S27: a reboot: the run that was going is closed with an unknown end",
    { jobs: every(), acts: at(95, { do: "reboot", forMs: 10_000 }) },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
  ],

  // --- the launcher dies (S23) ---
  [
    "S23: the launcher dies while a run is going: it goes on, its exit code is lost",
    { jobs: every(), acts: at(95, { do: "lose-launcher" }) },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
  ],
  [
    "S23: the launcher dies with a gate made ahead: another gate is made in time",
    { jobs: every(), acts: at(88, { do: "lose-launcher" }) },
    { ...ALL_WELL, max_lateness: 0 },
    { "0": 10 },
  ],

  // --- clocks (S6, S12, S13) ---
  [
    "S6, S13: the clock jumps an hour ahead: one evaluation, the rest is passed over",
    { jobs: every(), acts: at(120, { do: "jump", byMs: 3_600_000 }) },
    { periods: 71, executed: 11, not_evaluated: 59, before_definition: 1 },
    { "0": 11 },
  ],
  [
    "S12: the clock goes back three minutes: what was handled stays handled",
    { jobs: every(), acts: at(300, { do: "jump", byMs: -180_000 }) },
    { executed: 7, started: 7, missed: 0 },
    { "0": 7 },
  ],
  [
    "S13, S20: everything stands still for three minutes: the current period is too late by then",
    { jobs: every(), acts: at(120, { do: "freeze", forMs: 190_000 }) },
    { executed: 7, missed: 1, not_evaluated: 2 },
    { "0": 7 },
    { "missed: stalled": 1 },
  ],

  // --- the store fails (S31) ---
  [
    "S31: the write of an end fails: the daemon ends, the run is not repeated",
    { jobs: every(), acts: at(100, { do: "store-failure", errno: "EIO", isDurable: false, forMs: 5_000 }) },
    { executed: 10, started: 10, unknown_exits: 1, fatal: 1 },
    { "0": 9, unknown: 1 },
  ],
  [
    "S31: the write of a claim fails and is lost: nothing ran, the period runs after the restart",
    { jobs: every({}, APART), acts: at(152, { do: "store-failure", errno: "ENOSPC", isDurable: false, forMs: 5_000 }) },
    { executed: 10, started: 10, fatal: 1, max_lateness: 5_000 },
    { "0": 10 },
  ],
  [
    "S31: the write of a claim fails and is there all the same: nothing is started for it",
    { jobs: every({}, APART), acts: at(152, { do: "store-failure", errno: "ENOSPC", isDurable: true, forMs: 5_000 }) },
    { executed: 10, started: 9, fatal: 1, unknown_exits: 1 },
    { "0": 9, unknown: 1 },
  ],

  // --- processes that cannot be made, or do not begin (S23, S24) ---
  [
    "S24: no such command, no deadline: missed after the first failure",
    { jobs: every({ deadline: "0s" }), run: { refusal: "command-not-found" } },
    { executed: 0, started: 0, missed: 10 },
    {},
    { "missed: not_started:command-not-found": 10 },
  ],
  [
    "S24: no such command, half a minute of deadline: tried again until it has passed",
    { jobs: every(), run: { refusal: "command-not-found" }, minutes: 11 },
    { executed: 0, started: 0, missed: 10, open: 1, refused: 66 },
    {},
  ],
  [
    "S24: every second fork fails: retries save all of them",
    { jobs: every(), run: { refusal: "fork-failed", refuseChance: 0.5 } },
    { executed: 10, started: 10, missed: 0 },
    { "0": 10 },
  ],
  [
    "S23: contact is lost at the start: handled, nothing ran, nobody can tell",
    { jobs: every(), run: { lostStartChance: 1 } },
    { executed: 10, started: 0, unknown_exits: 10 },
    { unknown: 10 },
    { "run: start_unconfirmed": 10 },
  ],
  [
    "S20: a process that takes longer than its lead to prepare is late by the rest",
    { jobs: every(), run: { armMs: 7_000 } },
    { executed: 10, max_lateness: 2_000 },
    { "0": 10 },
  ],

  // --- how runs end (S28) ---
  ["an exit code above zero", { jobs: every(), run: { exitCode: 75 } }, { executed: 10, failed: 10 }, { "75": 10 }],
  ["a run that crashes", { jobs: every(), run: { signal: "SIGSEGV" } }, { executed: 10, failed: 10 }, { SIGSEGV: 10 }],
  [
    "S28: a run that never ends meets its timeout",
    { jobs: every({}, { timeout: "20s" }), run: { duration: { kind: "never" } } },
    { executed: 10, failed: 10 },
    { SIGTERM: 10 },
    { "run: timeout": 10 },
  ],
  [
    "S28: one that ignores TERM is killed after the grace",
    { jobs: every({}, { timeout: "20s" }), run: { duration: { kind: "never" }, ignoresTerm: true } },
    { executed: 10, failed: 9, still_running: 1 },
    { SIGKILL: 9 },
    { "run: timeout": 9 },
  ],

  // --- concurrency (S25, S26) ---
  [
    "S21: forbid skips what meets an earlier run",
    { jobs: every({ concurrency: "forbid" }), run: { duration: { kind: "fixed", ms: 90_000 } } },
    { executed: 5, skipped: 5, overlaps: 0 },
    { "0": 4 },
    { "skipped: concurrency_forbid": 5 },
  ],
  [
    "S25: replace ends a stubborn run with KILL and starts ten seconds late",
    { jobs: every({ concurrency: "replace" }), run: { duration: { kind: "fixed", ms: 90_000 }, ignoresTerm: true } },
    { executed: 10, failed: 0, overlaps: 0, max_lateness: 10_000 },
    { "SIGKILL: replaced": 9 },
  ],
  [
    "S25: what cannot be ended is not run beside: missed when the deadline has passed",
    { jobs: every({ concurrency: "replace" }), run: { duration: { kind: "fixed", ms: 150_000 }, isUnkillable: true } },
    { executed: 4, missed: 5, overlaps: 0 },
    { "0: replaced": 3 },
  ],
  [
    "S26: allow, two at most: the rest is skipped",
    { jobs: every({ max_active: 2 }), run: { duration: { kind: "never" } } },
    { executed: 2, skipped: 8, peak: 2, still_running: 2 },
    {},
    { "skipped: too_many_active": 8 },
  ],

  // --- operators (S16, S17, S40) ---
  [
    "S17: a pause for three minutes: what is due in it is passed over",
    { jobs: every(), acts: at(100, PAUSE) },
    { executed: 7, not_evaluated: 3, missed: 0 },
    { "0": 7 },
  ],
  [
    "S17: a pause that catches up: the current period runs when it ends, the ones before it are passed over",
    { jobs: every(), acts: at(100, { ...PAUSE, catchesUp: true }) },
    { executed: 8, not_evaluated: 2, missed: 0 },
    { "0": 8 },
  ],
  [
    "S17: resumed before its end",
    { jobs: every(), acts: { 100: PAUSE, 160: { do: "resume", job: "*" } } },
    { executed: 9, not_evaluated: 1, missed: 0 },
    { "0": 9 },
  ],
  [
    "S40: a run by hand disturbs no period",
    { jobs: every(), acts: at(100, { do: "run", job: "job" }) },
    { executed: 10, started: 11, manual: 1 },
    { "0": 11 },
  ],
  [
    "S28: a run that is cancelled",
    { jobs: every(), run: { duration: { kind: "fixed", ms: 50_000 } }, acts: at(100, { do: "cancel", job: "job" }) },
    { executed: 10, failed: 0 },
    { "0": 8, "SIGTERM: cancelled": 1 },
  ],
  [
    "S16: a reload that exchanges one job for another",
    {
      jobs: every(),
      acts: at(115, {
        do: "reload",
        config: { definitions: [job({ identity: "other" })], settings: SETTINGS_DEFAULTS },
      }),
    },
    { executed: 10, started: 10, before_definition: 2, missed: 0 },
    { "0": 10 },
  ],
  [
    "S14, S16: a reload that changes the schedule never fires the past",
    {
      jobs: every(),
      acts: at(115, {
        do: "reload",
        config: { definitions: every({}, { schedule: "*/2 * * * *" }), settings: SETTINGS_DEFAULTS },
      }),
    },
    { executed: 6, started: 6, missed: 0 },
    { "0": 6 },
  ],
  ["S17: suspended", { jobs: every({ suspend: true }) }, { periods: 10, suspended: 10, started: 0 }, {}],
  [
    "S15: no instant is allowed",
    { jobs: every({}, { constraints: { only: "dates=2001-01-01..2001-01-02" } }) },
    { unschedulable: 10, started: 0 },
    {},
  ],
];

const REQUEST = { command: undefined, http: { url: "https://example.org/", timeout: "20s" } };

/** What a server does, and a daemon that dies around it: a request is never sent again. */
const REQUEST_ROWS: readonly Row[] = [
  ["it answers", { jobs: every({}, REQUEST) }, ALL_WELL, { "HTTP 200": 10 }],
  [
    "it answers badly",
    { jobs: every({}, REQUEST), run: { status: 503 } },
    { ...ALL_WELL, failed: 10 },
    { "HTTP 503": 10 },
  ],
  [
    "it answers with what nobody expects",
    { jobs: every({}, REQUEST), run: { failChance: 1 } },
    { ...ALL_WELL, failed: 10 },
    { "HTTP 500": 10 },
  ],
  [
    "it loses the connection",
    { jobs: every({}, REQUEST), run: { failure: "connection-lost" } },
    { ...ALL_WELL, failed: 10 },
    { "no answer": 10 },
    { "run: connection-lost": 10 },
  ],
  [
    "it is not there: nothing is sent, and the period is executed",
    { jobs: every({}, REQUEST), run: { failure: "connect-failed" } },
    { executed: 10, started: 0, failed: 10 },
    { "no answer": 10 },
    { "run: connect-failed": 10 },
  ],
  [
    "it never answers: the request's own clock ends it",
    { jobs: every({}, REQUEST), run: { duration: { kind: "never" } } },
    { ...ALL_WELL, failed: 10 },
    { "no answer": 10 },
    { "run: timeout": 10 },
  ],
  [
    "S24: its name is not found: nothing is claimed, and the period is missed",
    { jobs: every({}, REQUEST), run: { refusal: "dns-failed" } },
    { executed: 0, started: 0, missed: 9 },
    {},
  ],
  [
    "a crash after the claim: handled, never sent, and nobody knows",
    { jobs: every({}, REQUEST), acts: crashAt("after-claim") },
    { executed: 10, started: 9, unknown_exits: 1 },
    { "HTTP 200": 9, unknown: 1 },
    { "run: exit_unseen": 1 },
  ],
  [
    "a crash right after it was sent: it is not sent again",
    { jobs: every({}, REQUEST), acts: crashAt("after-start") },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "HTTP 200": 9, unknown: 1 },
    { "run: exit_unseen": 1 },
  ],
  [
    "a crash before its answer is on record",
    { jobs: every({}, REQUEST), acts: crashAt("before-end") },
    { executed: 10, started: 10, unknown_exits: 1 },
    { "HTTP 200": 9, unknown: 1 },
    { "run: exit_unseen": 1 },
  ],
  [
    "S25: replace ends it and sends the next",
    {
      jobs: every({ concurrency: "replace" }, { ...REQUEST, http: { url: "https://example.org/", timeout: "5m" } }),
      run: { duration: { kind: "fixed", ms: 90_000 } },
    },
    { executed: 10, started: 10, overlaps: 0 },
    { "no answer: replaced": 9 },
  ],
];

describe("a job that is a request, and what a server does", () => {
  test.each<Row>(REQUEST_ROWS)("%s", async (_, script, figures, exits, reasons = {}) => {
    const { findings } = await play(script);
    expect(findings.figures).toMatchObject({ duplicates: 0, violations: 0, ...figures });
    expect(findings.exits).toEqual(exits);
    expect(findings.reasons).toMatchObject(reasons);
  });
});

describe("each kind of trouble has the outcome that the rules prescribe", () => {
  test.each<Row>(ROWS)("%s", async (_, script, figures, exits, reasons = {}) => {
    const { findings } = await play(script);
    expect(findings.violations).toEqual([]);
    expect(findings.figures).toMatchObject({ ...figures, duplicates: 0, unaccounted: 0, violations: 0 });
    expect(findings.exits).toEqual(exits);
    expect(findings.reasons).toMatchObject(reasons);
  });
});

test("S29: three restarts in a row, with runs that outlive them all", async () => {
  const acts = { ...crashAt(null, 95), ...crashAt("after-start", 160), ...crashAt("before-claim", 230) };
  const { findings, timeline } = await play({ jobs: every(), run: { duration: { kind: "fixed", ms: 200_000 } }, acts });
  expect(findings.figures).toMatchObject({ executed: 10, started: 10, duplicates: 0, violations: 0 });
  expect(timeline.filter(({ event }) => event === "daemon_started")).toHaveLength(4);
});

test("a machine that is down at the end: what was due meanwhile is told as such", async () => {
  const { findings } = await play({ jobs: every(), acts: at(300, { do: "reboot", forMs: 3_600_000 }) });
  expect(findings.figures).toMatchObject({ executed: 5, down: 5, unaccounted: 0, violations: 0 });
});

test("nobody to ask, and nobody concerned, are told and change nothing", async () => {
  const acts = { ...at(90, { do: "reboot", forMs: 60_000 }), ...at(100, { do: "run", job: "job" }) };
  const asked = await play({ jobs: every(), acts });
  expect(asked.timeline.map(({ event }) => event)).toContain("nobody_to_ask");
  expect(asked.findings.figures.manual).toBe(0);
  const nobody = await play({ jobs: every(), acts: at(100, { do: "pause", job: "no*", forMs: 1_000, reason: "x" }) });
  expect(nobody.timeline.map(({ event }) => event)).toContain("nobody_concerned");
});
