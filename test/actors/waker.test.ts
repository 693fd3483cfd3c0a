import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { sleepMs, type Wake, Waker } from "../../src/actors/waker.js";

const START_AT = Date.UTC(2026, 10, 18, 12);
const SECOND = 1_000;
const DAY = 86_400_000;

describe("S6: how long to sleep", () => {
  test.each<[name: string, untilDueMs: number | null, sleep: number]>([
    ["nothing is due at all", null, 30 * SECOND],
    ["due tomorrow", DAY, 30 * SECOND],
    ["due in 91 s", 91 * SECOND, 30 * SECOND],
    ["due in 75 s: awake when its minute begins", 75 * SECOND, 15 * SECOND],
    ["due in just over a minute", 60 * SECOND + 1, 1],
    ["due in a minute: every second", 60 * SECOND, SECOND],
    ["due in 1.5 s", 1_500, SECOND],
    ["due in half a second: exactly then", 500, 500],
    ["due now", 0, 0],
    ["due long ago", -5_000, 0],
  ])("%s", (_, untilDueMs, sleep) => {
    expect(sleepMs(START_AT, untilDueMs === null ? null : START_AT + untilDueMs)).toBe(sleep);
  });
});

/** A waker over a virtual clock, and what it told. */
function woken(clock: SimulatedClock, due: { at: number | null }) {
  const wakes: Wake[] = [];
  const triggered: number[] = [];
  const waker = new Waker(
    clock,
    () => due.at,
    (wake) => {
      wakes.push(wake);
      if (due.at !== null && due.at <= wake.now) {
        triggered.push(wake.now);
        due.at = null;
      }
    },
  );
  waker.arm();
  return { waker, wakes, triggered };
}

describe("Waker", () => {
  test("S6: wakes every 30 s when nothing is due, and never thinks the clock jumped", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const { wakes } = woken(clock, { at: null });
    clock.advance(3_600 * SECOND);
    expect(wakes).toHaveLength(120);
    expect(wakes.filter((wake) => wake.jumpMs !== null || wake.lateMs > 0)).toEqual([]);
  });

  test("S6: wakes every second in the last minute, and at the instant itself", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const { wakes, triggered } = woken(clock, { at: START_AT + 90_250 });
    clock.advance(90_250);
    expect(triggered).toEqual([START_AT + 90_250]);
    const lastMinute = wakes.map((wake) => wake.now - START_AT).filter((at) => at >= 30_250);
    expect(lastMinute.slice(1).every((at, i) => at - (lastMinute[i] ?? 0) <= SECOND)).toBe(true);
  });

  test.each<[name: string, jumpMs: number, told: number | null]>([
    ["10 years forward", 10 * 365 * DAY, 10 * 365 * DAY],
    ["10 years back", -10 * 365 * DAY, -10 * 365 * DAY],
    ["just over a second forward", 1_001, 1_001],
    ["just over a second back", -1_001, -1_001],
    ["a second: no jump", 1_000, null],
    ["a slew of half a second: no jump", -500, null],
  ])("S6: tells of a jump with its amount: %s", (_, jumpMs, told) => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const { wakes } = woken(clock, { at: null });
    clock.advance(10 * SECOND);
    clock.jump(jumpMs);
    clock.advance(50 * SECOND);
    expect(wakes.map((wake) => wake.jumpMs)).toEqual([told, null]);
  });

  test("S6: a clock that drifts as clocks do has not jumped", () => {
    const clock = new SimulatedClock({ startAt: START_AT, driftPpm: 500 });
    const { wakes } = woken(clock, { at: null });
    clock.advance(DAY);
    expect(wakes.filter((wake) => wake.jumpMs !== null)).toEqual([]);
  });

  test("S6: after a backward step what was near is far, and still comes at its instant", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const { triggered } = woken(clock, { at: START_AT + 10 * SECOND });
    clock.advance(9_500);
    clock.jump(-7_200 * SECOND);
    clock.advance(7_200 * SECOND + 499);
    expect(triggered).toEqual([]);
    clock.advance(1);
    expect(triggered).toEqual([START_AT + 10 * SECOND]);
  });

  test("S13: says how late a wake is after a stop of the process", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const { wakes } = woken(clock, { at: null });
    clock.freeze(600 * SECOND);
    expect(wakes).toEqual([{ now: START_AT + 600 * SECOND, jumpMs: null, lateMs: 570 * SECOND }]);
  });

  test("armed again when something earlier became due", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const due: { at: number | null } = { at: null };
    const { waker, triggered } = woken(clock, due);
    due.at = START_AT + 700;
    waker.arm();
    clock.advance(700);
    expect(triggered).toEqual([START_AT + 700]);
    expect(clock.pendingTimers).toBe(1);
  });

  test("stays asleep once stopped, also when stopped while awake", () => {
    const clock = new SimulatedClock({ startAt: START_AT });
    const wakes: number[] = [];
    const waker: Waker = new Waker(
      clock,
      () => null,
      (wake) => {
        wakes.push(wake.now);
        waker.stop();
      },
    );
    waker.arm();
    clock.advance(DAY);
    expect([wakes.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  test("S6: nothing ever triggers early, and never more than a second late, however the clock behaves", () => {
    const step = fc.record({ passMs: fc.nat({ max: 120_000 }), jumpMs: fc.integer({ min: -90_000, max: 90_000 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.nat({ max: 300_000 }), (steps, inMs) => {
        const clock = new SimulatedClock({ startAt: START_AT });
        const due: { at: number | null } = { at: START_AT + inMs };
        const { triggered } = woken(clock, due);
        for (const { passMs, jumpMs } of steps) {
          clock.advance(passMs);
          clock.jump(jumpMs);
        }
        expect(triggered.filter((at) => at < START_AT + inMs)).toEqual([]);
        // Undisturbed from here on, it comes on time: at once when it is overdue, once the next wake saw so.
        clock.advance(30 * SECOND);
        expect(due.at !== null && due.at <= clock.now() - 30 * SECOND).toBe(false);
      }),
      { seed: 20_261_118, numRuns: 300 },
    );
  });
});
