/**
 * The other kind of schedule: `@every 1m30s`, a fixed interval from the start of one run to the next (S40). It names no
 * times of its own, so that its `Schedule` has no occurrences: whoever walks nominal times finds none.
 */
import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { err, type Result } from "../base/result.js";
import { formatDuration, parseDuration } from "../time/duration.js";
import type { Schedule } from "./schedule.js";

const EVERY = "@every";
/** `@every_minute` is no interval, but a macro that nobody knows. */
const IS_EVERY = /^[ \t]*@every(?![A-Za-z_])/i;

const EXAMPLE = "write it like @every 90s";

/** The canonical text of an interval, as robfig/cron writes it. */
export function everyText(everyMs: number): string {
  return `${EVERY} ${formatDuration(everyMs)}`;
}

/** Whether a schedule is meant as an interval; what is wrong with it says `parseEvery`. */
export function isEvery(schedule: string): boolean {
  return IS_EVERY.test(schedule);
}

/** The interval of a schedule that `isEvery`. */
export function parseEvery(schedule: string): Result<number, Problem> {
  const whole = { start: 0, end: schedule.length };
  if (schedule.length > LIMITS.expressionChars) {
    const message = `a schedule has at most ${LIMITS.expressionChars} characters, this one has ${schedule.length}`;
    return err({ code: "limit-exceeded", message, path: [], span: whole, hint: EXAMPLE });
  }
  const after = IS_EVERY.exec(schedule)?.[0].length ?? 0;
  const duration = schedule.slice(after).trim();
  if (duration === "") {
    return err({ code: "duration-syntax", message: `${EVERY} needs a duration`, path: [], span: whole, hint: EXAMPLE });
  }
  const start = schedule.indexOf(duration, after);
  const read = parseInterval(duration);
  return read.ok ? read : err({ ...read.error, span: { start, end: start + duration.length } });
}

/** A duration that can stand between two runs: an interval, or a bound of one. */
export function parseInterval(text: string): Result<number, Problem> {
  const duration = parseDuration(text);
  const { min, max } = LIMITS.intervalMs;
  if (!duration.ok || (duration.value >= min && duration.value <= max)) return duration;
  const message = `an interval is from ${formatDuration(min)} to ${formatDuration(max)}`;
  return err({ code: "duration-range", message, path: [], span: { start: 0, end: text.length } });
}

export const NO_OCCURRENCES: Schedule = Object.freeze({
  next: () => null,
  previous: () => null,
  between: () => [],
  matches: () => false,
  smallestGapMs: Number.POSITIVE_INFINITY,
});
