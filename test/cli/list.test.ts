import { describe, expect, test } from "vitest";
import type { EndedRunStatus, JobStatus } from "../../src/actors/supervisor/port.js";
import { listColumns } from "../../src/cli/list/columns.js";
import { outcomeText } from "../../src/cli/outcome-text.js";
import { FittedTable } from "../../src/cli/table.js";
import { compareNames } from "../../src/core/base/identity.js";
import { type Ending, readEnding, resultOf } from "../../src/core/state/ending.js";
import { inOrder, type Sort } from "../../src/operations/jobs/order.js";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const PERIOD = "2026-03-01T11:00:00Z";
const PLAIN = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

function same(text: string): string {
  return text;
}

function run(fields: Readonly<Record<string, unknown>>, endedAt = "2026-03-01T11:00:05Z"): EndedRunStatus {
  const ending = readEnding(fields);
  return {
    periodId: PERIOD,
    source: null,
    startedAt: "2026-03-01T11:00:00Z",
    endedAt,
    durationMs: Date.parse(endedAt) - Date.parse("2026-03-01T11:00:00Z"),
    lateMs: 0,
    result: resultOf(ending),
    ending,
  };
}

function status(identity: string, more: Partial<JobStatus> = {}): JobStatus {
  return {
    identity,
    schedule: "30 3 * * MON-FRI",
    timezone: "Europe/Berlin",
    standing: "enabled",
    pausedUntil: null,
    pauseReason: null,
    pausedBy: null,
    nextPeriodId: null,
    nextChosenTime: "2026-03-02T02:30:00Z",
    nextSource: "cron",
    once: null,
    lastPeriodId: PERIOD,
    lastOutcome: "executed",
    lastReason: null,
    startFailure: null,
    lastRun: null,
    lastPeriodRun: null,
    failures: 0,
    usual: null,
    lastRunAt: null,
    hints: { interval: null, oneshot: null },
    active: [],
    ...more,
  };
}

const FAILED = run({ exit_code: 7, signal: null });
const JOBS: readonly JobStatus[] = [
  status("prod/database/backup-of-everything-that-matters", { lastRun: FAILED, lastPeriodRun: FAILED, failures: 2 }),
  status("a", { lastRun: run({ exit_code: 0 }, "2026-03-01T11:30:00Z"), nextSource: "hint-interval" }),
  status("b", { standing: "paused", pausedUntil: "2026-03-03T00:00:00Z", lastOutcome: null, nextChosenTime: null }),
];

function table(width: number | null): string {
  return new FittedTable(listColumns(NOW, null), width, PLAIN).text(JOBS);
}

describe("kron list on a terminal", () => {
  test.each([40, 60, 80, 100, 132, 200])("%i columns: no row is wider, and the last exit is always told", (width) => {
    const lines = table(width).trimEnd().split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(lines).toHaveLength(JOBS.length + 1);
    expect(lines[1]).toMatch(/ 7 +executed, exit 7|^\S+ +7 /);
  });

  test("80 columns show what failed, what is next and why then", () => {
    const [head, failed, hinted, paused] = table(80).split("\n");
    expect(head).toMatch(/^JOB +SCHEDULE +NEXT +BY +RUN +EXIT +LAST OUTCOME$/);
    expect(failed).toMatch(/^prod\/data\S*… +30 3 \* \S*… +in 14h30m +cron +- +7 +executed, exit 7$/);
    expect(hinted).toMatch(/ hint +- +0 +executed$/);
    expect(paused).toMatch(/ paused 36h /);
  });

  test.each([
    ["that is due", null, "due now"],
    ["that cannot be started", "2026-03-01T11:30:01Z", "tried again"],
  ])("NEXT of a job %s never lies in the past", (_, since, word) => {
    const reason = "not_started:command-not-found";
    const [slot, source] = ["2026-03-01T11:30:00Z", "cron"];
    const startFailure = since === null ? null : { source, slot, reason, since };
    const row = status("a", { nextPeriodId: slot, nextChosenTime: slot, startFailure });
    const texts = [null, 80].map((width) => new FittedTable(listColumns(NOW, null), width, PLAIN).text([row]));
    expect(texts[0]).toContain(`${word} (${slot})`);
    expect(texts[1]).toContain(` ${word} `);
    expect(texts.join("")).not.toContain(" ago");
  });

  test("without a terminal nothing is left out", () => {
    expect(table(null)).toContain(
      "prod/database/backup-of-everything-that-matters  30 3 * * MON-FRI Europe/Berlin  2026-03-02T02:30:00Z (in 14h30m)",
    );
    expect(table(null)).toContain(`7     executed, exit 7 ${PERIOD}\n`);
  });
});

describe("what became of a period, for people", () => {
  test.each<[string, Readonly<Record<string, unknown>> | null]>([
    ["executed", { exit_code: 0 }],
    ["executed", null],
    ["executed, exit 7", { exit_code: 7 }],
    ["executed, SIGKILL", { exit_code: null, signal: "SIGKILL" }],
    ["executed, timed out", { exit_code: null, signal: "SIGTERM", reason: "timeout" }],
    ["executed, cancelled", { exit_code: 143, reason: "cancelled" }],
    ["executed, HTTP 503", { status: 503, success: false }],
    ["executed", { status: 204, success: true }],
    ["executed, no answer", { sent: true, reason: "http-connection-reset" }],
    ["executed, end not seen", { reason: "exit_unseen" }],
    ["executed, its node was lost", { reason: "node_lost" }],
    ["executed, end unknown", { exit_code: null, signal: null }],
  ])("%s: %j", (expected, fields) => {
    const ending: Ending | null = fields === null ? null : readEnding(fields);
    expect(outcomeText("executed", ending)).toBe(expected);
  });
});

describe("the order of a list", () => {
  const rows = [
    status("c", {
      nextChosenTime: "2026-03-01T13:00:00Z",
      lastRun: { ...run({ exit_code: 1 }, "2026-03-01T11:00:09Z"), lateMs: 3_000 },
      failures: 3,
    }),
    status("d", { nextChosenTime: null, lastRun: { ...run({ exit_code: 0 }, "2026-03-01T11:00:02Z"), lateMs: 4_000 } }),
    status("e", { nextChosenTime: "2026-03-01T12:30:00Z", failures: 1 }),
  ];

  test.each<[Sort, readonly string[]]>([
    ["name", ["c", "d", "e"]],
    ["next", ["e", "c", "d"]],
    ["last", ["c", "d", "e"]],
    ["duration", ["c", "d", "e"]],
    ["lateness", ["d", "c", "e"]],
    ["failures", ["c", "e", "d"]],
  ])("%s", async (sort, expected) => {
    const pages = (async function* () {
      yield [...rows].reverse();
    })();
    const { rows: found, total } = await inOrder(pages, sort, 2);
    expect([found.map(({ identity }) => identity), total]).toEqual([expected.slice(0, 2), 3]);
  });

  test("whoever lists them: by the second, and then by the bytes of the name", async () => {
    const [first, second] = ["2026-03-01T13:00:00.750Z", "2026-03-01T13:00:00Z"];
    const names = ["\u{1f600}", "b", "\uff21", "a"];
    const equal = names.map((name, at) => status(name, { nextChosenTime: at % 2 === 0 ? first : second }));
    for (const isReversed of [false, true]) {
      const pages = (async function* () {
        yield [...equal];
      })();
      const { rows: found } = await inOrder(pages, "next", 4, isReversed);
      expect(found.map(({ identity }) => identity)).toEqual(["a", "b", "\uff21", "\u{1f600}"]);
    }
    expect([...names].sort(compareNames)).toEqual(
      [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
    );
  });
});
