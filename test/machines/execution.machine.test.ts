import { describe, expect, test } from "vitest";
import { endingText } from "../../src/core/state/ending.js";
import { advance, begin } from "../../src/machines/advance.js";
import { executionMachine } from "../../src/machines/execution.machine.js";
import type { ExecutionEvent } from "../../src/machines/execution-logic.js";

const INPUT = {
  attempt: { attemptId: "a", source: null, periodId: "2026-03-01T00:00:00Z", slotAt: 0, chosenAt: 0 },
  startByAt: 60_000,
  killGraceMs: 5000,
  timeoutMs: 10_000,
};
const READY: ExecutionEvent = { type: "READY", holder: { kind: "process", pid: 7, startTicks: 1, bootId: "b" } };
const FAILED: ExecutionEvent = { type: "FAILED", code: "fork-failed" };
const CLAIM: ExecutionEvent = { type: "CLAIM" };
const DURABLE: ExecutionEvent = { type: "DURABLE", now: 1000 };
const REFUSED: ExecutionEvent = { type: "REFUSED" };
const STARTED: ExecutionEvent = { type: "STARTED" };
const CLOSE: ExecutionEvent = { type: "CLOSE" };
const LOST: ExecutionEvent = { type: "LOST" };
const END: ExecutionEvent = { type: "END", reason: "replaced" };
const EXITED: ExecutionEvent = { type: "EXITED", ending: { kind: "exited", code: 0, signal: null, reason: null } };
const LATE: ExecutionEvent = { type: "NOT_RUN", reason: "late" };
const UNCONFIRMED: ExecutionEvent = { type: "NOT_RUN", reason: "unconfirmed" };
const GONE: ExecutionEvent = { type: "TERMINATED", isGone: true };
const SURVIVED: ExecutionEvent = { type: "TERMINATED", isGone: false };
const tick = (now: number): ExecutionEvent => ({ type: "TICK", now });

const RUNNING = [READY, CLAIM, DURABLE];

function follow(events: readonly ExecutionEvent[]): readonly [state: string, effects: string, reason: string | null] {
  const first = begin(executionMachine, INPUT);
  let { snapshot } = first;
  const effects = first.effects.map((effect) => effect.type);
  for (const event of events) {
    const next = advance(executionMachine, snapshot, event);
    snapshot = next.snapshot;
    effects.push(...next.effects.map((effect) => effect.type));
  }
  const { ending } = snapshot.context;
  return [stateOf(snapshot.value), effects.join(" "), ending && (ending.reason ?? `exit ${endingText(ending)}`)];
}

function stateOf(value: unknown): string {
  return typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([key, inner]) => `${key}.${stateOf(inner)}`)
        .join()
    : String(value);
}

describe("execution", () => {
  test.each<[title: string, events: readonly ExecutionEvent[], state: string, effects: string, reason: string | null]>([
    ["S23: the gate is made first", [], "arming", "arm", null],
    ["S23: ready is not yet claimed", [READY], "gated.waiting", "arm", null],
    ["S23: claimed is not yet released", [READY, CLAIM], "gated.claiming", "arm", null],
    ["S23: GO follows the durable claim", RUNNING, "running.released", "arm go", null],
    ["S23: the command took the gate's place", [...RUNNING, STARTED], "running.confirmed", "arm go recordStart", null],
    [
      "SPEC: completed with an exit result",
      [...RUNNING, STARTED, EXITED],
      "ended.recorded",
      "arm go recordStart recordEnd",
      "exit 0",
    ],
    [
      "an exit may be faster than its confirmation",
      [...RUNNING, EXITED],
      "ended.recorded",
      "arm go recordEnd",
      "exit 0",
    ],
    ["S24: not created, not executed", [FAILED], "ended.silent", "arm refuse", null],
    ["S24: the gate ended before the claim", [READY, FAILED], "ended.silent", "arm refuse", null],
    ["S17: given up while it is made", [CLOSE], "ended.silent", "arm closeGate", null],
    ["S17: given up while it waits", [READY, CLOSE], "ended.silent", "arm closeGate", null],
    ["S23: a claim under way cannot be withdrawn", [READY, CLAIM, CLOSE], "gated.claiming", "arm", null],
    [
      "S23: the gate ended during the claim: no GO, and the claim gets its ending",
      [READY, CLAIM, FAILED, DURABLE],
      "ended.recorded",
      "arm recordEnd",
      "start_unconfirmed",
    ],
    [
      "S25: replaced during the claim: no GO",
      [READY, CLAIM, END, DURABLE],
      "ended.recorded",
      "arm closeGate recordEnd",
      "replaced",
    ],
    ["S23: somebody else has the claim: nothing runs", [READY, CLAIM, REFUSED], "ended.refused", "arm closeGate", null],
    [
      "S23: somebody else has the claim, and the gate ended meanwhile",
      [READY, CLAIM, FAILED, REFUSED],
      "ended.refused",
      "arm closeGate",
      null,
    ],
    ["S23: what is durable is not refused any more", [...RUNNING, REFUSED], "running.released", "arm go", null],
    ["S20: the gate found it too late", [...RUNNING, LATE], "ended.recorded", "arm go recordEnd", "aborted_late"],
    ["S23: no trace of a run", [...RUNNING, UNCONFIRMED], "ended.recorded", "arm go recordEnd", "start_unconfirmed"],
    [
      "S27: adopted, gone, never seen to begin",
      [...RUNNING, LOST],
      "ended.recorded",
      "arm go recordEnd",
      "start_unconfirmed",
    ],
    [
      "S29: adopted, gone, seen to begin",
      [...RUNNING, STARTED, LOST],
      "ended.recorded",
      "arm go recordStart recordEnd",
      "exit_unseen",
    ],
    [
      "S28: ended on request, exit first",
      [...RUNNING, STARTED, END, EXITED, GONE],
      "ended.silent",
      "arm go recordStart terminate recordEnd",
      "replaced",
    ],
    [
      "S28: ended on request, tree first",
      [...RUNNING, STARTED, END, GONE, EXITED],
      "ended.recorded",
      "arm go recordStart terminate recordEnd",
      "replaced",
    ],
    [
      "S28: not over while the tree lives",
      [...RUNNING, END, EXITED],
      "terminating.asked",
      "arm go terminate recordEnd",
      "replaced",
    ],
    [
      "S25: survivors: not over",
      [...RUNNING, END, EXITED, SURVIVED],
      "terminating.stubborn",
      "arm go terminate recordEnd",
      "replaced",
    ],
    [
      "S25: asked once more",
      [...RUNNING, END, EXITED, SURVIVED, END],
      "terminating.asked",
      "arm go terminate recordEnd terminate",
      "replaced",
    ],
    [
      "S25: gone at last",
      [...RUNNING, END, EXITED, SURVIVED, END, GONE],
      "ended.silent",
      "arm go terminate recordEnd terminate",
      "replaced",
    ],
    ["timeout: not before its instant", [...RUNNING, tick(10_999)], "running.released", "arm go", null],
    ["timeout: from the claim on", [...RUNNING, tick(11_000)], "terminating.asked", "arm go terminate", null],
    [
      "timeout: the first reason stands",
      [...RUNNING, tick(11_000), END, EXITED, GONE],
      "ended.silent",
      "arm go terminate recordEnd",
      "timeout",
    ],
    [
      "a report after the end changes nothing",
      [...RUNNING, EXITED, EXITED, GONE, LOST, FAILED],
      "ended.recorded",
      "arm go recordEnd",
      "exit 0",
    ],
  ])("%s", (_title, events, state, effects, reason) => {
    expect(follow(events)).toEqual([state, effects, reason]);
  });

  test("S20: GO carries the latest instant; ending carries the grace", () => {
    const { snapshot } = RUNNING.slice(0, 2).reduce(
      (before, event) => advance(executionMachine, before.snapshot, event),
      begin(executionMachine, INPUT),
    );
    const gone = advance(executionMachine, snapshot, DURABLE);
    expect(gone.effects).toEqual([{ type: "go", params: { attemptId: "a", latestAt: 60_000 } }]);
    expect(advance(executionMachine, gone.snapshot, END).effects).toEqual([
      { type: "terminate", params: { attemptId: "a", graceMs: 5000, reason: "replaced" } },
    ]);
  });

  test("S23: over all sequences of four events GO never comes before the durable claim", () => {
    const alphabet = [READY, CLAIM, DURABLE, FAILED, CLOSE, END, EXITED];
    const goesWithoutClaim = (events: readonly ExecutionEvent[]): boolean => {
      const [, effects] = follow(events);
      return (
        effects.includes("go") && !(events.indexOf(CLAIM) >= 0 && events.indexOf(CLAIM) < events.lastIndexOf(DURABLE))
      );
    };
    const sequences = (length: number): readonly (readonly ExecutionEvent[])[] =>
      length === 0 ? [[]] : sequences(length - 1).flatMap((head) => alphabet.map((event) => [...head, event]));
    expect(sequences(4).filter(goesWithoutClaim)).toEqual([]);
  });
});
