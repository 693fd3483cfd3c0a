/**
 * When a period may still start (S20, S25) and when to try again (S18, S24). Lateness is judged in whole seconds: a
 * wake-up anywhere within the last second is on time.
 */
import { type DeadlineMs, WINDOW_DEADLINE } from "../job/definition.js";
import { type EpochMs, floorToSecond, MINUTE_MS, SECOND_MS } from "../time/instant.js";

/** S20: true from the second after `limitAt` on. */
export function isPast(limitAt: EpochMs, now: EpochMs): boolean {
  return floorToSecond(now) > limitAt;
}

/** S19: a restart takes less. */
const LEAST_WINDOW_DEADLINE_MS = MINUTE_MS;

/** S19: how late a period may start. `window` is what is left of its window, and a minute at least. */
export function deadlineMsOf(deadlineMs: DeadlineMs, chosen: ChosenInWindow | null): number {
  if (deadlineMs !== WINDOW_DEADLINE) return deadlineMs;
  const { chosenAt = null, windowEndAt = 0 } = chosen ?? {};
  return Math.max(chosenAt === null ? 0 : windowEndAt - chosenAt, LEAST_WINDOW_DEADLINE_MS);
}

/** The longest that any period of a rule may be late. */
export function longestDeadlineMs(deadlineMs: DeadlineMs, windowMs: number): number {
  return deadlineMs === WINDOW_DEADLINE ? Math.max(windowMs, LEAST_WINDOW_DEADLINE_MS) : deadlineMs;
}

interface ChosenInWindow {
  readonly chosenAt: EpochMs | null;
  readonly windowEndAt: EpochMs;
}

/**
 * The last second at which the trigger is on time. `heldUntilAt` is set when an older period had to be handled first
 * (S11): the wait is not the period's fault, so its deadline counts from then.
 */
export function deadlineAt(chosenAt: EpochMs, deadlineMs: number, heldUntilAt: EpochMs | null): EpochMs {
  const fromAt = heldUntilAt === null ? chosenAt : Math.max(chosenAt, floorToSecond(heldUntilAt));
  return fromAt + deadlineMs;
}

/** S20: the last second at which the claim may be written and GO may be obeyed. */
export function startLimitAt(triggerLimitAt: EpochMs, startGraceMs: number): EpochMs {
  return triggerLimitAt + startGraceMs;
}

/** S25: once the victims are gone the start grace counts anew. */
export function startLimitAfterReplace(startByAt: EpochMs, goneAt: EpochMs, startGraceMs: number): EpochMs {
  return Math.max(startByAt, floorToSecond(goneAt) + startGraceMs);
}

const RETRY_FIRST_MS = SECOND_MS;
const RETRY_LONGEST_MS = 60 * SECOND_MS;

/** 1 s doubling to 60 s. `failures` counts what has failed so far, the latest included. */
export function retryDelayMs(failures: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** Math.min(Math.max(failures, 1) - 1, 6), RETRY_LONGEST_MS);
}

/**
 * S24: when to look at the period again after a failed start. Never later than the first second past the deadline, so
 * that a period that nothing can save is closed as soon as that is certain (with a deadline of zero: a second later).
 */
export function retryAt(failures: number, limitAt: EpochMs, now: EpochMs): EpochMs {
  const closesAt = Math.max(limitAt + SECOND_MS, now);
  return Math.min(now + retryDelayMs(failures), closesAt);
}

/** S18, S24: what is further away than any delay was planned by a clock that was ahead of this one: it is due. */
export function isRetryDue(retryAt: EpochMs, now: EpochMs): boolean {
  return now >= retryAt || retryAt > now + RETRY_LONGEST_MS;
}
