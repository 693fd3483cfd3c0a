/**
 * Decides when the supervisor looks at the time again (S6). It sleeps on the monotonic clock towards an instant of the
 * wall clock, so it never trusts a sleep: it wakes often enough to notice that the wall clock was moved, and whoever is
 * woken compares `now` with what is due; an early wake triggers nothing and simply sleeps again.
 */
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import type { Clock, Timer } from "./clock.js";

/** While anything is due within the minute. */
export const WAKE_NEAR_MS = SECOND_MS;
const WAKE_FAR_MS = 30 * SECOND_MS;
const NEAR_MS = MINUTE_MS;
/** Wall and monotonic clock may differ by this much between two wakes. */
export const CLOCK_JUMP_MS = SECOND_MS;

export interface Wake {
  /** The one `now` of this tick (S2). */
  readonly now: EpochMs;
  /** How far the wall clock was moved since the last wake; null when it was not (S6). */
  readonly jumpMs: number | null;
  /** How much later than planned the wake came: a stopped or starved process (S13). */
  readonly lateMs: number;
}

/** How long to sleep when the next thing is due at `dueAt`. */
export function sleepMs(now: EpochMs, dueAt: EpochMs | null): number {
  const untilDueMs = dueAt === null ? Number.POSITIVE_INFINITY : Math.max(dueAt - now, 0);
  if (untilDueMs <= NEAR_MS) return Math.min(untilDueMs, WAKE_NEAR_MS);
  // Awake again when the last minute begins.
  return Math.min(untilDueMs - NEAR_MS, WAKE_FAR_MS);
}

export class Waker {
  #timer: Timer | null = null;
  #isRunning = false;
  #plannedMs = 0;
  #last: { readonly wallAt: EpochMs; readonly monotonicMs: number };
  readonly #clock: Clock;
  readonly #nextDueAt: () => EpochMs | null;
  readonly #onWake: (wake: Wake) => void;

  /** `nextDueAt` is asked before every sleep; `onWake` should take out what is due. */
  constructor(clock: Clock, nextDueAt: () => EpochMs | null, onWake: (wake: Wake) => void) {
    this.#clock = clock;
    this.#nextDueAt = nextDueAt;
    this.#onWake = onWake;
    this.#last = { wallAt: clock.now(), monotonicMs: clock.monotonicMs() };
  }

  /** Begins to sleep; call it again whenever something earlier may have become due. */
  arm(): void {
    this.#isRunning = true;
    this.#timer?.cancel();
    const monotonicMs = this.#clock.monotonicMs();
    // A wake that is overdue stays so: sleeping anew does not make up for the time that was lost.
    const isOverdue = this.#timer !== null && this.#plannedMs < monotonicMs;
    const delayMs = isOverdue ? 0 : sleepMs(this.#clock.now(), this.#nextDueAt());
    this.#plannedMs = isOverdue ? this.#plannedMs : monotonicMs + delayMs;
    this.#timer = this.#clock.after(delayMs, () => this.#wake());
  }

  /** What a wake would find now: whoever looks before it comes has lost the same time. */
  peek(): Wake {
    return this.#found(this.#clock.now(), this.#clock.monotonicMs());
  }

  /** Whether the next wake will find that the clock was moved, or that it comes later than this. */
  isBehind(lateMs: number): boolean {
    if (!this.#isRunning) return false;
    const found = this.peek();
    return found.lateMs > lateMs || found.jumpMs !== null;
  }

  stop(): void {
    this.#isRunning = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #wake(): void {
    const [wallAt, monotonicMs] = [this.#clock.now(), this.#clock.monotonicMs()];
    const found = this.#found(wallAt, monotonicMs);
    this.#last = { wallAt, monotonicMs };
    this.#timer = null;
    this.#onWake(found);
    if (this.#isRunning && this.#timer === null) this.arm();
  }

  #found(wallAt: EpochMs, monotonicMs: number): Wake {
    const driftMs = Math.round(wallAt - this.#last.wallAt - (monotonicMs - this.#last.monotonicMs));
    const lateMs = this.#isRunning ? Math.max(0, Math.round(monotonicMs - this.#plannedMs)) : 0;
    return { now: wallAt, jumpMs: Math.abs(driftMs) > CLOCK_JUMP_MS ? driftMs : null, lateMs };
  }
}
