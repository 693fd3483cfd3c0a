/**
 * What a period was missed for (S20, S24). That its deadline has passed is judged elsewhere; here it is said why nobody
 * started it in time: a start that failed, or time in which nobody could look.
 */
import type { ErrorCode } from "../base/errors/registry.js";
import { type EpochMs, SECOND_MS } from "../time/instant.js";
import type { PeriodGap } from "./periods.js";
import { type GapReason, type MissedReason, notStarted } from "./reasons.js";

/** A stretch of time in which nothing was evaluated, and why. */
export interface LostTime {
  readonly cause: "down" | "stalled" | "clock_jump" | "paused";
  readonly fromAt: EpochMs;
  readonly untilAt: EpochMs;
}

/** What goes on record of a period that was missed. */
export interface MissedCause {
  readonly reason: MissedReason;
  /** Of time that was lost. */
  readonly lost?: LostTime;
}

interface MissedFacts {
  /** S20: the last second at which it was on time. */
  readonly limitAt: EpochMs;
  /** What stood in the way when a start was last tried; null: none failed. */
  readonly failure: ErrorCode | null;
  /** Oldest first. */
  readonly lost: readonly LostTime[];
}

/**
 * `judged`: as the policy sees it, which knows of no failure and of no time that was lost. S24: a start that took too long
 * comes first, for it was the last one; then what stood in the way of a start that was tried, whatever ended the trying; then
 * time that was lost.
 */
export function missedCause(judged: MissedReason, { limitAt, failure, lost }: MissedFacts): MissedCause {
  if (failure !== null && judged !== "late_start") return { reason: notStarted(failure) };
  if (judged !== "deadline") return { reason: judged };
  const over = lostOver(lost, limitAt);
  return over === null ? { reason: judged } : { reason: over.cause, lost: over };
}

/** The stretch in which the last second of being on time went by. */
function lostOver(lost: readonly LostTime[], limitAt: EpochMs): LostTime | null {
  return lost.findLast(({ fromAt, untilAt }) => fromAt < limitAt + SECOND_MS && untilAt > limitAt) ?? null;
}

/** What goes on record of periods that were passed over. */
interface GapCause {
  readonly reason: GapReason;
  /** Of time that was lost. */
  readonly lost?: LostTime;
}

/** S13: why these were passed over; null: nobody knows. */
export function gapCause({ firstAt, lastAt }: PeriodGap, lost: readonly LostTime[]): GapCause | null {
  const over = lost.findLast(({ fromAt, untilAt }) => fromAt <= lastAt && firstAt < untilAt);
  return over === undefined ? null : { reason: over.cause, lost: over };
}
