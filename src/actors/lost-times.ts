/**
 * When this daemon could not look at anything, as far as it knows: while it was not there, while it was starting, while it
 * stood still, and what the clock went over. What was missed then was missed for that (S13, S20).
 */
import type { LostTime } from "../core/period/cause.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Wake } from "./waker.js";

/** What a wake has lost, if it comes later than it may (S13). */
export function lostBy({ now, jumpMs, lateMs }: Wake, mayBeLateMs: number): LostTime | null {
  if (jumpMs !== null) return { cause: "clock_jump", fromAt: now - jumpMs, untilAt: now };
  return lateMs > mayBeLateMs ? { cause: "stalled", fromAt: now - lateMs, untilAt: now } : null;
}

/** Older ones explain nothing that is still open. */
const KEPT = 8;

export class LostTimes {
  #known: readonly LostTime[] = [];
  #startingFromAt: EpochMs | null = null;

  add(lost: LostTime): void {
    if (lost.fromAt < lost.untilAt) this.#known = [...this.#known, lost].slice(-KEPT);
  }

  /** `lastSignAt`: of the daemon before; null: there was none. */
  starting(lastSignAt: EpochMs | null, now: EpochMs): void {
    if (lastSignAt !== null) this.add({ cause: "down", fromAt: lastSignAt, untilAt: now });
    this.#startingFromAt = now;
  }

  started(): void {
    this.#startingFromAt = null;
  }

  /** Oldest first. */
  until(now: EpochMs): readonly LostTime[] {
    if (this.#startingFromAt === null || this.#startingFromAt >= now) return this.#known;
    return [...this.#known, { cause: "stalled", fromAt: this.#startingFromAt, untilAt: now }];
  }
}
