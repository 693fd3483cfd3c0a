/**
 * Decides when the supervisor looks at the time again (S6). It sleeps on the monotonic clock towards an instant of the
 * wall clock, so it never trusts a sleep: it wakes often enough to notice that the wall clock was moved, and whoever is
 * woken compares `now` with what is due; an early wake triggers nothing and simply sleeps again.
 */
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import type { Clock, Timer } from "./clock.js";

/** While anything is due within the minute. */
export const WAKE_NEAR_MS = SECOND_MS;
export const WAKE_FAR_MS = 30 * SECOND_MS;
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
  private timer: Timer | null = null;
  private isRunning = false;
  private plannedMs = 0;
  private last: { readonly wallAt: EpochMs; readonly monotonicMs: number };

  /** `nextDueAt` is asked before every sleep; `onWake` should take out what is due. */
  constructor(
    private readonly clock: Clock,
    private readonly nextDueAt: () => EpochMs | null,
    private readonly onWake: (wake: Wake) => void,
  ) {
    this.last = { wallAt: clock.now(), monotonicMs: clock.monotonicMs() };
  }

  /** Begins to sleep; call it again whenever something earlier may have become due. */
  arm(): void {
    this.isRunning = true;
    this.timer?.cancel();
    const monotonicMs = this.clock.monotonicMs();
    // A wake that is overdue stays so: sleeping anew does not make up for the time that was lost.
    const isOverdue = this.timer !== null && this.plannedMs < monotonicMs;
    const delayMs = isOverdue ? 0 : sleepMs(this.clock.now(), this.nextDueAt());
    this.plannedMs = isOverdue ? this.plannedMs : monotonicMs + delayMs;
    this.timer = this.clock.after(delayMs, () => this.wake());
  }

  /** Whether the next wake will find that the clock was moved, or that it comes later than this. */
  isBehind(lateMs: number): boolean {
    if (!this.isRunning) return false;
    const monotonicMs = this.clock.monotonicMs();
    return (
      monotonicMs - this.plannedMs > lateMs || Math.abs(this.driftMs(this.clock.now(), monotonicMs)) > CLOCK_JUMP_MS
    );
  }

  stop(): void {
    this.isRunning = false;
    this.timer?.cancel();
    this.timer = null;
  }

  private wake(): void {
    const wallAt = this.clock.now();
    const monotonicMs = this.clock.monotonicMs();
    const driftMs = this.driftMs(wallAt, monotonicMs);
    const lateMs = Math.max(0, Math.round(monotonicMs - this.plannedMs));
    this.last = { wallAt, monotonicMs };
    this.timer = null;
    this.onWake({ now: wallAt, jumpMs: Math.abs(driftMs) > CLOCK_JUMP_MS ? driftMs : null, lateMs });
    if (this.isRunning && this.timer === null) this.arm();
  }

  private driftMs(wallAt: EpochMs, monotonicMs: number): number {
    return Math.round(wallAt - this.last.wallAt - (monotonicMs - this.last.monotonicMs));
  }
}
