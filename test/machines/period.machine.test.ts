import { describe, expect, test } from "vitest";
import { cronOccasion } from "../../src/core/period/occasion.js";
import type { Verdict } from "../../src/core/period/policy.js";
import { advance, begin } from "../../src/machines/advance.js";
import { type PeriodSnapshot, periodMachine } from "../../src/machines/period.machine.js";
import type { PeriodEvent } from "../../src/machines/period-logic.js";
import { at, decisionOf, runOf } from "../support/scheduling.js";

const DECISION = decisionOf("2026-03-01T00:00:00Z", "2026-03-01T02:00:00Z");
const DARK = decisionOf("2026-03-01T00:00:00Z", null);
const CHOSEN = at("2026-03-01T02:00:00Z");
const START: Verdict = { kind: "start", startByAt: CHOSEN + 60_000 };
const REPLACE: Verdict = { kind: "replace", startByAt: CHOSEN + 60_000, victims: [runOf("2026-02-28T00:00:00Z")] };
const MISSED: Verdict = { kind: "missed", reason: "deadline" };
const SKIPPED: Verdict = { kind: "skipped", reason: "concurrency_forbid" };
const UNSCHEDULABLE: Verdict = { kind: "unschedulable", reason: "x" };
const SUSPENDED: Verdict = { kind: "nothing", reason: "suspended" };
const NOT_DUE: Verdict = { kind: "nothing", reason: "not_due" };
const ENDING = { kind: "exited", code: 3, signal: null, reason: null } as const;

const judged = (verdict: Verdict, now = CHOSEN): PeriodEvent => ({ type: "JUDGED", verdict, now });
const CLAIMED: PeriodEvent = { type: "CLAIMED" };
const COMPLETED: PeriodEvent = { type: "COMPLETED", ending: ENDING };
const FAILED: PeriodEvent = { type: "START_FAILED", code: "fork-failed", retryAt: CHOSEN + 1000 };
const CLEARED: PeriodEvent = { type: "CLEARED", startByAt: CHOSEN + 90_000 };

/** As `eligible.starting`, and the effects on the way. */
function follow(events: readonly PeriodEvent[], decision = DECISION): { state: string; effects: readonly string[] } {
  let { snapshot }: { snapshot: PeriodSnapshot } = begin(periodMachine, {
    occasion: cronOccasion(decision),
    heldUntilAt: null,
  });
  const effects: string[] = [];
  for (const event of events) {
    const next = advance(periodMachine, snapshot, event);
    snapshot = next.snapshot;
    effects.push(...next.effects.map((effect) => effect.type));
  }
  return { state: pathOf(snapshot.value), effects };
}

function pathOf(value: unknown): string {
  return typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([key, inner]) => `${key}.${pathOf(inner)}`)
        .join()
    : String(value);
}

describe("period", () => {
  test.each<[title: string, events: readonly PeriodEvent[], state: string, effects: readonly string[]]>([
    ["SPEC: planned: decision computed, chosen time known", [], "planned", []],
    ["SPEC: not eligible before the chosen time", [judged(NOT_DUE, CHOSEN - 1)], "planned", []],
    ["S6: nothing triggers early, whatever is said", [judged(START, CHOSEN - 1)], "planned", []],
    ["SPEC: eligible when now >= chosen", [judged(SUSPENDED)], "eligible.judging", []],
    ["S17: resumed: judged again", [judged(SUSPENDED), judged(START)], "eligible.starting", ["startAttempt"]],
    ["SPEC: missed", [judged(MISSED)], "terminal.missed", ["settle"]],
    ["SPEC: skipped", [judged(SKIPPED)], "terminal.skipped", ["settle"]],
    ["SPEC: executed from the start", [judged(START), CLAIMED], "terminal.executed.running", ["startAttempt"]],
    ["SPEC: completed", [judged(START), CLAIMED, COMPLETED], "terminal.executed.completed", ["startAttempt"]],
    ["S24: not created: open, retried", [judged(START), FAILED], "eligible.retrying", ["startAttempt"]],
    ["S24: retried", [judged(START), FAILED, judged(START)], "eligible.starting", ["startAttempt", "startAttempt"]],
    ["S24: until the deadline", [judged(START), FAILED, judged(MISSED)], "terminal.missed", ["startAttempt", "settle"]],
    ["S25: replace: first the victims", [judged(REPLACE)], "eligible.clearing", ["endVictims"]],
    ["S25: then the start", [judged(REPLACE), CLEARED], "eligible.starting", ["endVictims", "startAttempt"]],
    ["S25: not gone: nothing is started", [judged(REPLACE), FAILED], "eligible.retrying", ["endVictims"]],
    ["S20: late at the claim", [judged(START), judged(MISSED)], "terminal.missed", ["startAttempt", "settle"]],
  ])("%s", (_title, events, state, effects) => {
    expect(follow(events)).toEqual({ state, effects });
  });

  test("S15: unschedulable when the window opens", () => {
    expect(follow([judged(UNSCHEDULABLE, DARK.windowStartAt - 1)], DARK).state).toBe("planned");
    expect(follow([judged(UNSCHEDULABLE, DARK.windowStartAt)], DARK)).toEqual({
      state: "terminal.unschedulable",
      effects: ["settle"],
    });
  });

  test.each([
    ["missed", [judged(MISSED)]],
    ["skipped", [judged(SKIPPED)]],
    ["executed", [judged(START), CLAIMED]],
    ["completed", [judged(START), CLAIMED, COMPLETED]],
  ])("SPEC invariant 5: %s is permanent: no event leads out of it, or does anything", (_title, events) => {
    const reached = follow(events);
    const nudges = [judged(START), judged(MISSED), judged(SKIPPED), judged(REPLACE), FAILED, CLEARED, CLAIMED];
    expect(nudges.map((event) => follow([...events, event]))).toEqual(nudges.map(() => reached));
  });
});
