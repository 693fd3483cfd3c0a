import { describe, expect, test } from "vitest";
import type { NotifyOccasion, NotifyRule } from "../../../src/core/job/definition.js";
import {
  happeningOf,
  happeningsOf,
  lateAfterMs,
  occasionsOf,
  type Trouble,
  toldBy,
} from "../../../src/core/notify/trouble.js";
import { type Ending, EXIT_UNSEEN } from "../../../src/core/state/ending.js";
import type { LedgerFact } from "../../../src/core/state/facts.js";

const AT = Date.parse("2026-03-01T00:00:00Z");
const EARLIER = AT - 60_000;
const RUN = { attemptId: "a", source: null, periodId: "2026-03-01T00:00:00Z", pid: 7 };

function exited(code: number | null, signal: string | null = null): Ending {
  return { kind: "exited", code, signal, reason: null };
}

function ended(ending: Ending): LedgerFact {
  return { kind: "run_ended", identity: "j", at: AT, run: RUN, holder: "process", ending };
}

function outcome(word: "missed" | "skipped" | "unschedulable" | "executed", reason: string | null): LedgerFact {
  const { periodId } = RUN;
  return { kind: "outcome", identity: "j", at: AT, periodId, outcome: word, reason, nominalAt: AT, chosenAt: AT };
}

const GAP = { identity: "j", at: AT, firstAt: EARLIER, lastAt: AT, count: 2, isCountExact: true } as const;

describe("what is worth a word", () => {
  test.each<[name: string, fact: LedgerFact, kind: string | null, result: string | null]>([
    ["a run that ends well", ended(exited(0)), "succeeded", "exit 0"],
    ["one that fails", ended(exited(7)), "failed", "exit 7"],
    ["one that a signal ended", ended(exited(null, "SIGKILL")), "failed", "SIGKILL"],
    ["one whose end nobody saw: success is never assumed", ended(EXIT_UNSEEN), "failed", "unknown"],
    ["a period that was missed", outcome("missed", "deadline"), "missed", "deadline"],
    ["one that could not be", outcome("unschedulable", null), "missed", "unschedulable"],
    ["one that was skipped as its policy says", outcome("skipped", "concurrency"), null, null],
    ["one that was executed: its run is told of", outcome("executed", null), null, null],
    ["periods that nobody was there for", { kind: "periods_not_evaluated", ...GAP }, "missed", "down"],
    [
      "periods that a jump of the clock left out",
      { kind: "periods_not_evaluated", ...GAP, reason: "clock_jump" },
      "missed",
      "clock_jump",
    ],
    ["periods that passed in a pause", { kind: "periods_not_evaluated", ...GAP, reason: "paused" }, null, null],
    ["a run that its policy has replaced", ended({ ...exited(null, "SIGTERM"), reason: "replaced" }), null, null],
    ["a run that somebody has cancelled", ended({ ...exited(null, "SIGTERM"), reason: "cancelled" }), null, null],
    ["a run that took too long", ended({ ...exited(null, "SIGTERM"), reason: "timeout" }), "failed", "SIGTERM"],
    ["periods that a hint stood in for", { kind: "periods_not_evaluated", ...GAP, reason: "hinted" }, null, null],
    ["a start", { kind: "run_started", identity: "j", at: AT, run: RUN, holder: "process" }, "started", null],
    ["a pause", { kind: "paused", identity: "j", at: AT, untilAt: AT, reason: "", catchesUp: false }, null, null],
  ])("%s", (_, fact, kind, result) => {
    const happening = happeningOf(fact);
    expect([happening?.kind ?? null, happening?.result ?? null]).toEqual([kind, result]);
  });
});

const FAILING: Trouble = { kind: "failure", sinceAt: EARLIER };
const LATE: Trouble = { kind: "late", sinceAt: EARLIER };

describe("a trouble is told when it begins and when it is over", () => {
  test.each<
    [
      name: string,
      kind: "started" | "succeeded" | "failed" | "missed",
      before: Trouble | null,
      told: string,
      after: Trouble | null,
    ]
  >([
    ["the first failure", "failed", null, "failure", { kind: "failure", sinceAt: AT }],
    ["the next one", "failed", FAILING, "", FAILING],
    ["a failure after a miss", "failed", { kind: "missed", sinceAt: EARLIER }, "failure", FAILING],
    ["a failure of a job that is late", "failed", LATE, "failure", FAILING],
    ["a miss after a failure", "missed", FAILING, "missed", { kind: "missed", sinceAt: EARLIER }],
    ["a success", "succeeded", null, "", null],
    ["a success after a failure", "succeeded", FAILING, "recovered", null],
    ["a success of a job that was late", "succeeded", LATE, "recovered", null],
    ["a start changes nothing", "started", FAILING, "", FAILING],
  ])("%s", (_, kind, before, told, after) => {
    const { trouble, ...what } = occasionsOf({ kind, at: AT }, before);
    const rule = ruleOn("failure", "missed", "recovered");
    expect(
      toldBy([rule], what)
        .map(({ occasion }) => occasion)
        .join(" "),
    ).toBe(told);
    expect(trouble).toEqual(after);
  });
});

function ruleOn(...on: readonly NotifyOccasion[]): NotifyRule {
  return { on, repeat: false, lateMs: null, target: { kind: "mail", to: ["ops"] } };
}

describe("who is told", () => {
  const repeated = occasionsOf({ kind: "failed", at: AT }, FAILING);

  test("with repeat, of every failure", () => {
    expect(toldBy([{ ...ruleOn("failure"), repeat: true }], repeated)).toHaveLength(1);
    expect(toldBy([ruleOn("failure")], repeated)).toEqual([]);
  });

  test("of the output of every run, whatever became of it", () => {
    expect(toldBy([ruleOn("output")], repeated).map(({ occasion }) => occasion)).toEqual(["output"]);
  });

  test("each rule by itself", () => {
    const over = occasionsOf({ kind: "succeeded", at: AT }, FAILING);
    const told = toldBy([ruleOn("success"), ruleOn("recovered", "success"), ruleOn("late")], over);
    expect(told.map(({ occasion }) => occasion)).toEqual(["success", "recovered", "success"]);
  });

  test("each time of being late is asked for by itself", () => {
    expect(lateAfterMs([ruleOn("failure")])).toEqual([]);
    const rules = [5, 3, 5].map((lateMs) => ({ ...ruleOn("late"), lateMs }));
    expect(lateAfterMs([...rules, ruleOn("late")])).toEqual([3, 5]);
  });

  test("S43: a run that is tried again has not failed yet; one that is given up after all has", () => {
    const retry = { PeriodID: RUN.periodId, Attempt: 2, At: "2026-03-01T00:01:00Z" } as const;
    const planned = { kind: "retry_planned", identity: "j", at: AT, retry, of: 3 } as unknown as LedgerFact;
    const dropped = { kind: "retry_dropped", identity: "j", at: AT, retry } as unknown as LedgerFact;
    expect(happeningsOf([ended(exited(7)), planned])).toEqual([]);
    expect(happeningsOf([dropped])).toMatchObject([
      { kind: "failed", result: "not tried again", periodId: RUN.periodId },
    ]);
    expect(happeningsOf([ended(exited(7))])).toHaveLength(1);
  });
});
