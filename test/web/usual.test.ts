/** What is said of a run that goes on, beside what is usual of its job. */
import { expect, test } from "vitest";
import { nowMs } from "../../web/src/time.js";
import { runTold, usualText } from "../../web/src/usual.js";

const STARTED = "2026-03-01T11:00:00Z";
const USUAL = { medianMs: 60_000, longestMs: 100_000, runs: 5 };

function after(seconds: number, usual: typeof USUAL | null) {
  nowMs.value = Date.parse(STARTED) + 1_000 * seconds;
  return runTold({ usual, lastRun: null }, STARTED);
}

test.each([
  [30, USUAL, /^for 30 s, usually 1 min, until about /, false],
  [70, USUAL, /^for 1 min 10 s, usually 1 min$/, false],
  [100, USUAL, /^for 1 min 40 s, usually 1 min$/, false],
  [101, USUAL, /^for 1 min 41 s, usually 1 min$/, true],
  // Of runs that take ever the same, a little more says nothing.
  [80, { ...USUAL, longestMs: 60_000 }, /usually 1 min$/, false],
  [91, { ...USUAL, longestMs: 60_000 }, /usually 1 min$/, true],
  // A clock that is behind the daemon's.
  [-5, USUAL, /^just begun, usually/, false],
  [30, null, /^for 30 s$/, false],
] as const)("after %s s", (seconds, usual, text, isOverdue) => {
  const told = after(seconds, usual);
  expect(told.text).toMatch(text);
  expect(told.isOverdue).toBe(isOverdue);
});

test("a node of an earlier version tells nothing of it", () => {
  expect(runTold({ lastRun: null }, STARTED).isOverdue).toBe(false);
  expect(usualText({})).toBeNull();
});
