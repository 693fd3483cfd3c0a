import { describe, expect, test } from "vitest";
import type { NotifyOccasion, NotifyRule } from "../../../src/core/job/definition.js";
import {
  awaitedBy,
  type Happening,
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
  return { kind: "run_ended", identity: "j", at: AT, run: RUN, holder: "process", ending, endedAt: AT };
}

function outcome(word: "missed" | "skipped" | "unschedulable" | "executed", reason: string | null): LedgerFact {
  const { periodId } = RUN;
  return { kind: "outcome", identity: "j", at: AT, periodId, outcome: word, reason, nominalAt: AT, chosenAt: AT };
}

function stopped(stoppedFor: "failures" | "runs" | "end" | undefined): LedgerFact {
  const about = { kind: "paused", identity: "j", at: AT, untilAt: AT, reason: "5 runs in a row failed" } as const;
  return { ...about, catchesUp: false, ...(stoppedFor === undefined ? {} : { stoppedFor }) };
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
    [
      "a job that has stopped itself for its failures",
      stopped("failures"),
      "stopped",
      "paused: 5 runs in a row failed",
    ],
    ["one that has stopped as was agreed on", stopped("runs"), null, null],
    ["one that has come to its end", stopped("end"), null, null],
    ["one that somebody has paused", stopped(undefined), null, null],
    ["periods that a hint stood in for", { kind: "periods_not_evaluated", ...GAP, reason: "hinted" }, null, null],
    [
      "a slot that cannot be started",
      { kind: "start_failed", identity: "j", at: AT, source: "interval", slotAt: AT, code: "command-not-found" },
      "not_started",
      "not_started:command-not-found",
    ],
    [
      "a boot that was missed",
      {
        kind: "slot_closed",
        identity: "j",
        at: AT,
        source: "reboot",
        slotAt: AT,
        outcome: "missed",
        reason: "not_started:command-not-found",
      },
      "missed",
      "not_started:command-not-found",
    ],
    [
      "a boot that was skipped",
      { kind: "slot_closed", identity: "j", at: AT, source: "reboot", slotAt: AT, outcome: "skipped", reason: "x" },
      null,
      null,
    ],
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

describe("S46: a slot that cannot be started", () => {
  const about = { kind: "not_started", at: AT } as const;

  test("is a failure that prints nothing, told once until a run succeeds", () => {
    const first = occasionsOf(about, null);
    const trouble = { kind: "failure", sinceAt: AT, isUnstartable: true };
    expect(first).toEqual({ occasions: ["failure"], isRepeated: false, trouble });
    expect(occasionsOf({ ...about, at: AT + 1 }, first.trouble)).toMatchObject({ isRepeated: true });
    expect(occasionsOf({ kind: "succeeded", at: AT + 2 }, first.trouble).occasions).toContain("recovered");
  });
});

describe("S24: periods that cannot be started, one after the other", () => {
  /** What is told of each: an asterisk where it was told before. */
  function told(...kinds: readonly Happening["kind"][]): string {
    let trouble: Trouble | null = null;
    const words: string[] = [];
    for (const kind of kinds) {
      const after = occasionsOf({ kind, at: AT }, trouble);
      words.push(`${after.occasions.join("+")}${after.isRepeated ? "*" : ""}`);
      trouble = after.trouble;
    }
    return words.join(" ");
  }

  test("that it fails is told once, and once that it was missed", () => {
    expect(told("not_started", "missed", "not_started", "missed", "not_started")).toBe(
      "failure missed failure* missed* failure*",
    );
  });

  test("a run that begins ends it: from then on it is news again", () => {
    expect(told("not_started", "missed", "started", "not_started", "missed")).toBe(
      "failure missed start failure missed",
    );
  });

  test("after a run that failed it is more of the same", () => {
    expect(told("failed", "not_started").split(" ").at(-1)).toBe("failure*");
  });
});

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

test("S51: that a job is given up is told as a failure although it fails already, and ends with the same success", () => {
  const trouble: Trouble = { kind: "failure", sinceAt: EARLIER };
  const told = occasionsOf({ kind: "stopped", at: AT }, trouble);
  expect(told).toEqual({ occasions: ["failure"], isRepeated: false, trouble });
});

describe("whoever waits for several failures in a row", () => {
  const RULES = [
    { ...ruleOn("failure", "recovered", "missed"), after: 3 },
    ruleOn("failure", "recovered", "missed"),
  ] as const;
  type Kind = "succeeded" | "failed" | "missed" | "not_started" | "stopped";

  /** What each rule is told: those of the first, and those of the second. */
  function told(kinds: readonly Kind[], rules: readonly NotifyRule[] = RULES): readonly string[] {
    const words = rules.map((): string[] => []);
    let trouble: Trouble | null = null;
    for (const [index, kind] of kinds.entries()) {
      const { trouble: after, ...what } = occasionsOf({ kind, at: AT + index }, trouble, awaitedBy(rules));
      for (const { rule, occasion } of toldBy(rules, what)) words[rules.indexOf(rule)]?.push(`${occasion}${index}`);
      trouble = after;
    }
    return words.map((each) => each.join(" "));
  }

  test.each<[name: string, kinds: readonly Kind[], patient: string, other: string]>([
    ["is told with the last of them", ["failed", "failed", "failed", "failed"], "failure2", "failure0"],
    [
      "and of the end, once",
      ["failed", "failed", "failed", "succeeded", "succeeded"],
      "failure2 recovered3",
      "failure0 recovered3",
    ],
    [
      "hears neither of a shorter row",
      ["failed", "failed", "succeeded", "failed", "failed"],
      "",
      "failure0 recovered2 failure3",
    ],
    [
      "hears of a miss at once, and then of its end",
      ["failed", "missed", "succeeded"],
      "missed1 recovered2",
      "failure0 missed1 recovered2",
    ],
    [
      "hears at once that nothing can be started",
      ["failed", "not_started", "failed", "succeeded"],
      "failure1 recovered3",
      "failure0 recovered3",
    ],
    [
      "hears that it was given up",
      ["failed", "stopped", "succeeded"],
      "failure1 recovered2",
      "failure0 failure1 recovered2",
    ],
  ])("%s", (_, kinds, patient, other) => {
    expect(told(kinds)).toEqual([patient, other]);
  });

  test("is told of each from there on where each is told", () => {
    const rule = { ...ruleOn("failure"), after: 2, repeat: true };
    expect(told(["failed", "failed", "failed", "succeeded", "failed"], [rule])).toEqual(["failure1 failure2"]);
  });

  test("for fewer than before, by a changed rule, is told with the next", () => {
    const first = occasionsOf({ kind: "failed", at: AT }, null, awaitedBy([{ ...ruleOn("failure"), after: 3 }]));
    const next = occasionsOf({ kind: "failed", at: AT + 1 }, first.trouble, awaitedBy([ruleOn("failure")]));
    expect(toldBy([ruleOn("failure")], next)).toHaveLength(1);
    expect(next.trouble).toEqual({ kind: "failure", sinceAt: AT });
  });
});
