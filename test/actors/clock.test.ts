import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Clock, systemClock } from "../../src/actors/clock.js";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";

const START_AT = Date.UTC(2026, 10, 18, 12);
const BEYOND_NODE_MS = 2 ** 31 + 5_000;

/** One clock, and the hand that moves it. */
interface Subject {
  readonly name: string;
  make(): { readonly clock: Clock; pass(ms: number): void; jump(ms: number): void };
}

const subjects: readonly Subject[] = [
  {
    name: "the system clock",
    make: () => ({
      clock: systemClock,
      pass: (ms) => void vi.advanceTimersByTime(ms),
      jump: (ms) => void vi.setSystemTime(Date.now() + ms),
    }),
  },
  {
    name: "the simulated clock",
    make: () => {
      const clock = new SimulatedClock({ startAt: START_AT });
      return { clock, pass: (ms) => clock.advance(ms), jump: (ms) => clock.jump(ms) };
    },
  },
];

describe.each(subjects)("$name keeps the contract of a clock", ({ make }) => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START_AT, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("S1: tells whole milliseconds", () => {
    const { clock, pass } = make();
    expect(clock.now()).toBe(START_AT);
    pass(1_234.75);
    expect(Number.isInteger(clock.now())).toBe(true);
  });

  test("S6: a jump moves the wall clock, never the monotonic one", () => {
    const { clock, pass, jump } = make();
    const before = clock.monotonicMs();
    jump(-3_600_000);
    expect([clock.now(), clock.monotonicMs()]).toEqual([START_AT - 3_600_000, before]);
    pass(250);
    expect([clock.now(), clock.monotonicMs()]).toEqual([START_AT - 3_600_000 + 250, before + 250]);
  });

  test.each<[name: string, delayMs: number]>([
    ["at once", 0],
    ["a negative delay: at once", -5],
    ["a second", 1_000],
    ["a fraction", 10.4],
    ["S6: beyond 2^31-1 ms", BEYOND_NODE_MS],
    ["a year", 366 * 86_400_000],
  ])("calls back once, never early: %s", (_, delayMs) => {
    const { clock, pass } = make();
    const calls: number[] = [];
    const startMs = clock.monotonicMs();
    clock.after(delayMs, () => calls.push(clock.monotonicMs() - startMs));
    expect(calls).toEqual([]);
    pass(Math.max(delayMs - 1, 0));
    expect(calls.filter((passedMs) => passedMs < delayMs)).toEqual([]);
    pass(2);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toBeGreaterThanOrEqual(delayMs);
    pass(BEYOND_NODE_MS);
    expect(calls).toHaveLength(1);
  });

  test("calls back in the order in which timers are due", () => {
    const { clock, pass } = make();
    const calls: string[] = [];
    for (const [name, delayMs] of [
      ["c", 30],
      ["a", 10],
      ["b", 20],
      ["a2", 10],
    ] as const) {
      clock.after(delayMs, () => calls.push(name));
    }
    pass(40);
    expect(calls).toEqual(["a", "a2", "b", "c"]);
  });

  test("calls nobody back who cancelled, also in the middle of a long wait", () => {
    const { clock, pass } = make();
    const calls: string[] = [];
    const timer = clock.after(BEYOND_NODE_MS, () => calls.push("late"));
    pass(2 ** 31);
    timer.cancel();
    timer.cancel();
    pass(BEYOND_NODE_MS);
    expect(calls).toEqual([]);
  });

  test("a timer set by a timer waits from then", () => {
    const { clock, pass } = make();
    const calls: number[] = [];
    clock.after(10, () => clock.after(10, () => calls.push(clock.now() - START_AT)));
    pass(19);
    expect(calls).toEqual([]);
    pass(1);
    expect(calls).toEqual([20]);
  });
});

describe("the system clock", () => {
  test("S6: sleeps again when a timer fires early", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    // A timer that fires at 9.6 ms of 10, as Node's do.
    const early = vi.spyOn(performance, "now");
    early.mockReturnValue(0);
    const calls: string[] = [];
    systemClock.after(10, () => calls.push("called"));
    early.mockReturnValue(9.6);
    vi.advanceTimersByTime(10);
    expect(calls).toEqual([]);
    early.mockReturnValue(10);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(["called"]);
    early.mockRestore();
    vi.useRealTimers();
  });
});

describe("the simulated clock", () => {
  test("lets timers fire late by what its seed says, the same every time", () => {
    const firings = (seed: string) => {
      const clock = new SimulatedClock({ startAt: START_AT, seed, latestMs: 1_000 });
      const times: number[] = [];
      for (let i = 0; i < 5; i++) clock.after(100, () => times.push(clock.monotonicMs()));
      clock.advance(2_000);
      return times;
    };
    expect(firings("0123456789abcdef")).toEqual(firings("0123456789abcdef"));
    expect(firings("0123456789abcdef")).not.toEqual(firings("fedcba9876543210"));
    expect(firings("0123456789abcdef").every((ms) => ms >= 100 && ms <= 1_100)).toBe(true);
  });

  test("drifts: the wall clock gains on the monotonic one", () => {
    const clock = new SimulatedClock({ startAt: START_AT, driftPpm: 100 });
    clock.advance(1_000_000);
    expect([clock.now() - START_AT, clock.monotonicMs()]).toEqual([1_000_100, 1_000_000]);
  });

  test("a frozen process sees all that came due together, at the end", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const seen: number[] = [];
    for (const delayMs of [10, 20]) clock.after(delayMs, () => seen.push(clock.monotonicMs()));
    clock.freeze(60_000);
    expect(seen).toEqual([60_000, 60_000]);
  });

  test("fires the first timer alone, at its time, and says when the next one is due", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const seen: string[] = [];
    clock.after(30, () => seen.push(`b at ${clock.monotonicMs()}`));
    clock.after(10, () => seen.push(`a at ${clock.monotonicMs()}`)).cancel();
    clock.after(30, () => seen.push(`c at ${clock.monotonicMs()}`));
    expect([clock.nextDueMs(), clock.fireFirst(), seen]).toEqual([30, true, ["b at 30"]]);
    expect([clock.nextDueMs(), clock.fireFirst(), seen]).toEqual([30, true, ["b at 30", "c at 30"]]);
    expect([clock.nextDueMs(), clock.fireFirst(), clock.monotonicMs()]).toEqual([null, false, 30]);
  });

  test("keeps the order of thousands of timers, most of them cancelled", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const seen: number[] = [];
    const timers = Array.from({ length: 10_000 }, (_, i) => {
      const dueMs = (i * 7_919) % 10_007;
      return clock.after(dueMs, () => seen.push(dueMs));
    });
    for (const [i, timer] of timers.entries()) if (i % 8 !== 0) timer.cancel();
    expect(clock.pendingTimers).toBe(1_250);
    clock.advance(20_000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect([seen.length, clock.pendingTimers]).toEqual([1_250, 0]);
  });

  test("breaks on timers that never come to rest", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const again = () => void clock.after(0, again);
    again();
    expect(() => clock.advance(1)).toThrow("invariant broken");
  });

  test("lets promises answer between timers", async () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const seen: string[] = [];
    clock.after(10, () => void Promise.resolve().then(() => clock.after(5, () => seen.push("second"))));
    await clock.advanceAsync(20);
    expect(seen).toEqual(["second"]);
    expect(clock.pendingTimers).toBe(0);
  });
});
