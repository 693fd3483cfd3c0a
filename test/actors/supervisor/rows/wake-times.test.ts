import { describe, expect, test } from "vitest";
import { WakeTimes } from "../../../../src/actors/supervisor/rows/wake-times.js";
import { FAR } from "../../../../src/core/base/coarse.js";
import { SECOND_MS } from "../../../../src/core/time/instant.js";

const NOW = Date.UTC(2026, 0, 5);
/** The first day of 1970 is where a machine without a clock begins. */
const INSTANTS = [null, 0, 999, 1_000, NOW - 1, NOW, NOW + 250, NOW + SECOND_MS, (FAR + 5) * SECOND_MS];
const SECONDS = [0, 1, Math.floor(NOW / SECOND_MS), Math.floor(NOW / SECOND_MS) + 1, FAR];

describe("wake times", () => {
  test("keep the instant and the second of every job, whatever is set in which order", () => {
    const times = new WakeTimes(2);
    const wanted: { wakeAt: number | null; second: number }[] = [];
    for (const wakeAt of INSTANTS) {
      for (const second of SECONDS) {
        const handle = wanted.length;
        if (handle >= 2) times.growTo(handle + 1);
        wanted.push({ wakeAt, second });
      }
    }
    const found = () => wanted.map((_, handle) => ({ wakeAt: times.wakeAt(handle), second: times.secondOf(handle) }));
    expect(found()).toEqual(wanted.map(() => ({ wakeAt: null, second: 0 })));
    for (const [handle, { wakeAt, second }] of wanted.entries()) {
      times.setWakeAt(handle, wakeAt);
      times.setSecond(handle, second);
    }
    expect(found()).toEqual(wanted);
    // Each becomes each of the others, whichever of the two is set first.
    for (const isInstantFirst of [true, false]) {
      for (let step = 1; step < wanted.length; step++) {
        wanted.push(...wanted.splice(0, step));
        for (const [handle, { wakeAt, second }] of wanted.entries()) {
          if (isInstantFirst) times.setWakeAt(handle, wakeAt);
          times.setSecond(handle, second);
          if (!isInstantFirst) times.setWakeAt(handle, wakeAt);
        }
        expect(found()).toEqual(wanted);
      }
    }
    // Nothing is left beside of what is gone.
    for (const handle of wanted.keys()) times.clear(handle);
    expect(times.byteLength).toBe(8 * wanted.length);
  });

  test("find the earliest instant, and no second among them", () => {
    const times = new WakeTimes(4);
    expect(times.firstWakeAt(4)).toBeNull();
    times.setSecond(0, 5);
    expect(times.firstWakeAt(4)).toBeNull();
    times.setWakeAt(1, NOW + 7);
    times.setSecond(2, 9);
    times.setWakeAt(2, NOW);
    expect(times.firstWakeAt(4)).toBe(NOW);
    expect(times.firstWakeAt(2)).toBe(NOW + 7);
    times.clear(2);
    expect([times.firstWakeAt(4), times.secondOf(2)]).toEqual([NOW + 7, 0]);
  });

  test("take what is no instant for none, and what was before 1970 for as late as that", () => {
    const times = new WakeTimes(2);
    times.setSecond(0, 5);
    times.setWakeAt(0, -5);
    expect([times.wakeAt(0), times.secondOf(0), times.firstWakeAt(1)]).toEqual([0, 5, 0]);
    times.setWakeAt(0, Number.NaN);
    expect([times.wakeAt(0), times.secondOf(0), times.byteLength]).toEqual([null, 5, 16]);
  });
});
