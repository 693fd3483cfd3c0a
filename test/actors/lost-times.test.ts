/** S13: what was lost, by what a wake finds; and that it is known to whoever looks before the wake comes. */
import { expect, test } from "vitest";
import { LostTimes, lostBy } from "../../src/actors/lost-times.js";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { Waker } from "../../src/actors/waker.js";

const NOW = Date.UTC(2026, 2, 1);
const MINUTE = 60_000;

test.each([
  ["in time", null, 200, null],
  ["late", null, MINUTE + 1, { cause: "stalled", fromAt: NOW - MINUTE - 1, untilAt: NOW }],
  ["after a jump", 5_000, 0, { cause: "clock_jump", fromAt: NOW - 5_000, untilAt: NOW }],
] as const)("a wake that comes %s", (_name, jumpMs, lateMs, lost) => {
  expect(lostBy({ now: NOW, jumpMs, lateMs }, MINUTE)).toEqual(lost);
});

test("a clock that was set back has gone over nothing", () => {
  const lost = new LostTimes();
  const back = lostBy({ now: NOW, jumpMs: -5_000, lateMs: 0 }, MINUTE);
  if (back !== null) lost.add(back);
  expect(lost.until(NOW)).toEqual([]);
});

test("what the next wake will find is found before it comes, and changes nothing about that", () => {
  const clock = new SimulatedClock({ startAt: NOW });
  const jumps: (number | null)[] = [];
  const waker = new Waker(
    clock,
    () => null,
    ({ jumpMs }) => void jumps.push(jumpMs),
  );
  waker.arm();
  clock.jump(7_000);
  expect(waker.peek()).toMatchObject({ now: NOW + 7_000, jumpMs: 7_000 });
  clock.advance(30_000);
  expect(jumps).toEqual([7_000]);
  expect(waker.peek().jumpMs).toBeNull();
});
