import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Timeline } from "../../src/actors/timeline.js";

interface Entry {
  readonly handle: number;
  readonly at: number;
  readonly order: number;
}

function filled(entries: readonly Entry[]): Timeline {
  const timeline = new Timeline();
  for (const { handle, at, order } of entries) timeline.set(handle, at, order);
  return timeline;
}

describe("Timeline", () => {
  test.each<[name: string, entries: readonly Entry[], now: number, due: readonly number[], nextAt: number | null]>([
    ["nothing at all", [], 5, [], null],
    ["nothing yet", [{ handle: 0, at: 6, order: 0 }], 5, [], 6],
    ["what is due now", [{ handle: 0, at: 5, order: 0 }], 5, [0], null],
    [
      "the earlier first, whatever came first",
      [
        { handle: 0, at: 4, order: 0 },
        { handle: 1, at: 3, order: 9 },
      ],
      5,
      [1, 0],
      null,
    ],
    [
      "S13: equal instants in nominal order",
      [
        { handle: 0, at: 3, order: 2 },
        { handle: 1, at: 3, order: 1 },
      ],
      3,
      [1, 0],
      null,
    ],
    [
      "equal in everything: by handle",
      [
        { handle: 7, at: 3, order: 1 },
        { handle: 2, at: 3, order: 1 },
      ],
      3,
      [2, 7],
      null,
    ],
    [
      "the last set counts",
      [
        { handle: 0, at: 1, order: 0 },
        { handle: 0, at: 9, order: 0 },
      ],
      5,
      [],
      9,
    ],
    [
      "instants before 1970",
      [
        { handle: 0, at: -2, order: 0 },
        { handle: 1, at: -1, order: 0 },
      ],
      -2,
      [0],
      -1,
    ],
  ])("gives out %s", (_, entries, now, due, nextAt) => {
    const timeline = filled(entries);
    expect(timeline.popDue(now)).toEqual(due);
    expect(timeline.peekAt()).toBe(nextAt);
  });

  test("gives out no more than it is asked for, and the rest next time", () => {
    const timeline = filled([5, 4, 3, 2, 1].map((at, handle) => ({ handle, at, order: 0 })));
    expect(timeline.popDue(9, 2)).toEqual([4, 3]);
    expect(timeline.popDue(9, 2)).toEqual([2, 1]);
    expect(timeline.popDue(9, 2)).toEqual([0]);
    expect(timeline.size).toBe(0);
  });

  test("forgets what is removed, and says whether it knew it", () => {
    const timeline = filled([{ handle: 3, at: 1, order: 0 }]);
    expect([timeline.remove(3), timeline.remove(3), timeline.remove(1_000_000)]).toEqual([true, false, false]);
    expect([timeline.has(3), timeline.atOf(3), timeline.peekAt()]).toEqual([false, null, null]);
  });

  test.each<[name: string, handle: number, at: number, order: number]>([
    ["a negative handle", -1, 0, 0],
    ["a fractional handle", 0.5, 0, 0],
    ["a handle beyond its numbers", 2 ** 31, 0, 0],
    ["an instant that is none", 0, Number.NaN, 0],
    ["never", 0, Number.POSITIVE_INFINITY, 0],
    ["an order that is none", 0, 0, Number.NaN],
  ])("breaks on %s", (_, handle, at, order) => {
    expect(() => new Timeline().set(handle, at, order)).toThrow("invariant broken");
  });

  test("holds a million entries at 24 bytes each and gives them out in order", () => {
    const count = 1_000_000;
    const timeline = new Timeline(count);
    // A full-period generator: every instant once, in a scrambled order.
    for (let handle = 0, at = 1; handle < count; handle++) {
      at = (at * 48_271) % 2_147_483_647;
      timeline.set(handle, at, handle);
    }
    expect(timeline.byteLength / count).toBeLessThanOrEqual(24);
    let last = Number.NEGATIVE_INFINITY;
    let disorder = 0;
    while (timeline.size > 0) {
      const at = timeline.peekAt() ?? Number.NaN;
      if (!(at >= last)) disorder += 1;
      last = at;
      timeline.popDue(at, 1);
    }
    expect(disorder).toBe(0);
  });

  test("behaves like a sorted array, whatever is done to it", () => {
    // Few enough to meet again, many enough for a heap of several levels.
    const handle = fc.nat({ max: 100 });
    const at = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -1_000, max: 1_000 }));
    const step = fc.oneof(
      fc.record({ do: fc.constant("set" as const), handle, at, order: fc.integer({ min: 0, max: 2 }) }),
      fc.record({ do: fc.constant("remove" as const), handle }),
      fc.record({ do: fc.constant("pop" as const), now: at, limit: fc.nat({ max: 2 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
        const timeline = new Timeline();
        const model = new Map<number, Entry>();
        for (const it of steps) {
          if (it.do === "set") {
            timeline.set(it.handle, it.at, it.order);
            model.set(it.handle, it);
          } else if (it.do === "remove") {
            expect(timeline.remove(it.handle)).toBe(model.delete(it.handle));
          } else {
            const due = sorted(model)
              .filter((entry) => entry.at <= it.now)
              .slice(0, it.limit)
              .map((entry) => entry.handle);
            expect(timeline.popDue(it.now, it.limit)).toEqual(due);
            for (const gone of due) model.delete(gone);
          }
          expect(timeline.peekAt()).toBe(sorted(model)[0]?.at ?? null);
          const isDue = (entry: Entry): boolean => entry.at <= 0;
          const due = [...model.values()].filter(isDue).map((entry) => entry.handle);
          expect(timeline.due(0).sort((a, b) => a - b)).toEqual(due.sort((a, b) => a - b));
          expect(timeline.size).toBe(model.size);
        }
        for (const entry of model.values()) expect(timeline.atOf(entry.handle)).toBe(entry.at);
      }),
      { seed: 20_261_118, numRuns: 200 },
    );
  });
});

function sorted(model: ReadonlyMap<number, Entry>): readonly Entry[] {
  return [...model.values()].sort((a, b) => a.at - b.at || a.order - b.order || a.handle - b.handle);
}
