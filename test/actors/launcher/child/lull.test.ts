/** What a launcher puts off while what it has released is being started. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LAUNCHER_LIMITS } from "../../../../src/actors/launcher/child/limits.js";
import { Lull } from "../../../../src/actors/launcher/child/lull.js";

const { lullMs, resumedPerTurn, startMs } = LAUNCHER_LIMITS;

function releasing(count: number): Lull {
  const lull = new Lull();
  for (let index = 0; index < count; index++) lull.released();
  return lull;
}

describe("while what was released is being started", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("what can wait is done at once where nothing was released", () => {
    const done: string[] = [];
    const lull = new Lull();
    lull.whenOver(() => done.push("a"));
    expect(done).toEqual(["a"]);
  });

  test("it waits for as long as all of them need, and is done in the order in which it came", () => {
    const count = 40;
    const done: string[] = [];
    const lull = releasing(count);
    for (const name of ["a", "b", "c"]) lull.whenOver(() => done.push(name));
    vi.advanceTimersByTime(count * startMs - 1);
    expect(done).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(done).toEqual(["a", "b", "c"]);
    lull.whenOver(() => done.push("d"));
    expect(done).toEqual(["a", "b", "c", "d"]);
  });

  test("those that are released meanwhile are waited for too", () => {
    let isDone = false;
    const lull = releasing(40);
    lull.whenOver(() => {
      isDone = true;
    });
    vi.advanceTimersByTime(10 * startMs);
    for (let index = 0; index < 40; index++) lull.released();
    vi.advanceTimersByTime(69 * startMs);
    expect(isDone).toBe(false);
    vi.advanceTimersByTime(2);
    expect(isDone).toBe(true);
  });

  test("however many are released, and for however long, nothing waits longer than said", () => {
    const sincesMs: number[] = [];
    const lull = releasing(1);
    for (let round = 0; round < 40; round++) {
      const cameMs = performance.now();
      lull.whenOver(() => sincesMs.push(performance.now() - cameMs));
      for (let index = 0; index < 2 * (lullMs / startMs); index++) lull.released();
      vi.advanceTimersByTime(lullMs / 10);
    }
    vi.runAllTimers();
    expect(sincesMs).toHaveLength(40);
    expect(Math.max(...sincesMs)).toBeLessThanOrEqual(lullMs + 1);
    expect(Math.max(...sincesMs)).toBeGreaterThan(lullMs / 2);
  });

  test("what has waited long enough is done to its end, whatever is released meanwhile; nothing later overtakes it", () => {
    const done: number[] = [];
    const all = Array.from({ length: 3 * resumedPerTurn }, (_, index) => index);
    const lull = releasing(2);
    for (const index of all) lull.whenOver(() => done.push(index));
    vi.advanceTimersByTime(2 * startMs);
    expect(done).toHaveLength(resumedPerTurn);
    for (let index = 0; index < 100; index++) lull.released();
    lull.whenOver(() => done.push(all.length));
    expect(done).toHaveLength(resumedPerTurn);
    vi.advanceTimersByTime(10);
    expect(done).toEqual(all);
    vi.runAllTimers();
    expect(done).toEqual([...all, all.length]);
  });

  test("a launcher that leaves puts nothing off", () => {
    const done: string[] = [];
    const lull = releasing(100);
    for (const name of ["a", "b"]) lull.whenOver(() => done.push(name));
    expect(done).toEqual([]);
    lull.end();
    expect(done).toEqual(["a", "b"]);
    lull.released();
    lull.whenOver(() => done.push("c"));
    expect(done).toEqual(["a", "b", "c"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
