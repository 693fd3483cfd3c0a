import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { advance, begin } from "../../src/machines/advance.js";
import { executionMachine } from "../../src/machines/execution.machine.js";
import type { ExecutionEvent } from "../../src/machines/execution-logic.js";

const INPUT = {
  attempt: { attemptId: "a", source: null, periodId: "2026-03-01T00:00:00Z", slotAt: 0, chosenAt: 0 },
  startByAt: 60_000,
  killGraceMs: 5000,
  timeoutMs: 10_000,
};
const EVENTS: readonly ExecutionEvent[] = [
  { type: "READY", holder: { kind: "process", pid: 7, startTicks: 1, bootId: "b" } },
  { type: "CLAIM" },
  { type: "DURABLE", now: 1000 },
  { type: "STARTED" },
  { type: "TICK", now: 11_000 },
  { type: "EXITED", ending: { kind: "exited", code: null, signal: "SIGTERM", reason: null } },
  { type: "TERMINATED", isGone: true },
];

describe("advance", () => {
  test("gives what the library's pure transition gives, step by step", () => {
    const [firstSnapshot, firstActions] = initialTransition(executionMachine, INPUT);
    let theirs = firstSnapshot;
    let ours = begin(executionMachine, INPUT);
    expect(ours.effects).toEqual(firstActions.map(({ type, params }) => ({ type, params })));
    for (const event of EVENTS) {
      const [next, actions] = transition(executionMachine, theirs, event);
      theirs = next;
      ours = advance(executionMachine, ours.snapshot, event);
      expect([ours.snapshot.value, ours.snapshot.context]).toEqual([theirs.value, theirs.context]);
      expect(ours.effects).toEqual(actions.map(({ type, params }) => ({ type, params })));
    }
    expect(ours.snapshot.matches("ended")).toBe(true);
  });

  test("does nothing to the snapshot it is given", () => {
    const { snapshot } = begin(executionMachine, INPUT);
    const before = JSON.stringify(snapshot);
    advance(executionMachine, snapshot, { type: "FAILED", code: "fork-failed" });
    expect(JSON.stringify(snapshot)).toBe(before);
  });
});
