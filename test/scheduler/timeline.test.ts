import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Timeline } from "../../src/scheduler/timeline.js";

const SLOTS = 40;
const NEVER = Number.POSITIVE_INFINITY;

type Command = { readonly slot: number; readonly at: number | null };

/** The obvious timeline: a map, searched from end to end. */
function play(commands: readonly Command[]): { timeline: Timeline; model: Map<number, number> } {
  const timeline = new Timeline(SLOTS);
  const model = new Map<number, number>();
  for (const { slot, at } of commands) {
    if (at === null) timeline.delete(slot);
    else timeline.set(slot, at);
    if (at === null || at === NEVER) model.delete(slot);
    else model.set(slot, at);
  }
  return { timeline, model };
}

const command = fc.record({
  slot: fc.nat(SLOTS - 1),
  at: fc.oneof(fc.nat(20), fc.constant(null), fc.constant(NEVER), fc.constant(Number.NEGATIVE_INFINITY)),
});

describe("Timeline", () => {
  it("behaves like a sorted list under any sequence of plans and deletions", () => {
    const run = fc.property(fc.array(command, { maxLength: 200 }), fc.nat(21), (commands, now) => {
      const { timeline, model } = play(commands);
      expect(timeline.size).toBe(model.size);
      expect(timeline.earliestAt()).toBe(Math.min(NEVER, ...model.values()));
      const due = [...model].filter(([, at]) => at <= now).map(([slot]) => slot);
      expect([...timeline.due(now)]).toEqual(due.sort((a, b) => a - b));
    });
    fc.assert(run, { seed: 5, numRuns: 500 });
  });

  it("is empty without slots, and what is due stays planned", () => {
    expect([new Timeline(0).earliestAt(), [...new Timeline(0).due(5)]]).toEqual([NEVER, []]);
    const timeline = new Timeline(1);
    timeline.set(0, 3);
    expect([3, 3, 2].map((now) => [...timeline.due(now)])).toEqual([[0], [0], []]);
  });
});
