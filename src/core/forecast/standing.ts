/** What of a job's state has a say in when it starts next: a pause, hints, and the run that intervals count from. */
import { type HintsInForce, isHeld } from "../governor/governor.js";
import type { EpochMs } from "../time/instant.js";

export interface ForecastStanding {
  /** When this was so. What was due earlier has happened, or is due then. */
  readonly asOfAt: EpochMs;
  readonly pausedUntilAt: EpochMs | null;
  readonly hints: HintsInForce;
}

export const NO_HINTS: HintsInForce = { interval: null, oneshot: null };

export function isHinted({ hints, asOfAt }: ForecastStanding): boolean {
  const { interval, oneshot } = hints;
  return (interval !== null && interval.expiresAt > asOfAt) || (oneshot !== null && oneshot.expiresAt > asOfAt);
}

export function isPausedNow({ pausedUntilAt, asOfAt }: ForecastStanding): boolean {
  return isHeld(pausedUntilAt, asOfAt);
}

/** Nothing starts before; null: nothing holds it. */
export function heldUntil(standing: ForecastStanding | null): EpochMs | null {
  return standing !== null && isPausedNow(standing) ? standing.pausedUntilAt : null;
}

/** Until when hints that are in force stand in for the schedule, at an instant; null: none is. */
export function hintedUntil({ interval, oneshot }: HintsInForce, at: EpochMs): EpochMs | null {
  const ends = [interval, oneshot].flatMap((hint) => (hint !== null && hint.expiresAt > at ? [hint.expiresAt] : []));
  return ends.length === 0 ? null : Math.max(...ends);
}
