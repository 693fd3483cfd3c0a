/**
 * A virtual clock, and a bad one on request: it jumps, drifts, and lets timers fire late, all reproducibly from a seed.
 * Time passes only when a test says so.
 */
import { SplitMix64 } from "../core/decision/prng.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Clock, Timer } from "./clock.js";

export interface SimulatedClockOptions {
  readonly startAt: EpochMs;
  /** 16 hexadecimal digits. */
  readonly seed?: string;
  /** Every timer fires up to this much late, drawn from the seed. */
  readonly latestMs?: number;
  /** How much faster the wall clock runs than the monotonic one, in millionths. */
  readonly driftPpm?: number;
}

interface Pending extends Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly callback: () => void;
}

/** Stops a timer that re-arms itself without end within one instant. */
const FIRINGS_PER_ADVANCE = 10_000_000;
const NO_SEED = "0000000000000000";

export class SimulatedClock implements Clock {
  private elapsedMs = 0;
  private shiftMs = 0;
  private sequence = 0;
  private readonly startAt: EpochMs;
  private readonly driftPpm: number;
  private readonly latestMs: number;
  private readonly random: SplitMix64;
  private readonly pending = new Set<Pending>();

  constructor(options: SimulatedClockOptions) {
    this.startAt = options.startAt;
    this.driftPpm = options.driftPpm ?? 0;
    this.latestMs = options.latestMs ?? 0;
    this.random = new SplitMix64(options.seed ?? NO_SEED);
  }

  now(): EpochMs {
    return Math.floor(this.startAt + this.elapsedMs * (1 + this.driftPpm / 1e6)) + this.shiftMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const lateMs = this.latestMs === 0 ? 0 : this.random.nextUnit() * this.latestMs;
    const timer: Pending = {
      dueMs: this.elapsedMs + Math.max(delayMs, 0) + lateMs,
      sequence: this.sequence++,
      callback,
      cancel: () => void this.pending.delete(timer),
    };
    this.pending.add(timer);
    return timer;
  }

  /** Timers that have not fired. */
  get pendingTimers(): number {
    return this.pending.size;
  }

  /** Shifts the wall clock alone, as a person or a time service does. No timer notices. */
  jump(byMs: number): void {
    this.shiftMs += byMs;
  }

  /** Lets monotonic time pass and fires what comes due, in order. */
  advance(byMs: number): void {
    const untilMs = this.elapsedMs + byMs;
    for (let fired = 0; this.fireNext(untilMs); fired++) assertProgress(fired);
    this.elapsedMs = untilMs;
  }

  /** The same, with a turn of the event loop after every timer, for what answers through promises. */
  async advanceAsync(byMs: number): Promise<void> {
    const untilMs = this.elapsedMs + byMs;
    await eventLoopTurn();
    for (let fired = 0; this.fireNext(untilMs); fired++) {
      assertProgress(fired);
      await eventLoopTurn();
    }
    this.elapsedMs = untilMs;
  }

  /** A process that was stopped: time passes, and what came due meanwhile fires together at the end. */
  freeze(forMs: number): void {
    this.elapsedMs += forMs;
    this.advance(0);
  }

  private fireNext(untilMs: number): boolean {
    let next: Pending | null = null;
    for (const timer of this.pending) {
      if (timer.dueMs <= untilMs && (next === null || isBefore(timer, next))) next = timer;
    }
    if (next === null) return false;
    this.pending.delete(next);
    this.elapsedMs = Math.max(this.elapsedMs, next.dueMs);
    next.callback();
    return true;
  }
}

function isBefore(a: Pending, b: Pending): boolean {
  return a.dueMs !== b.dueMs ? a.dueMs < b.dueMs : a.sequence < b.sequence;
}

function assertProgress(fired: number): void {
  if (fired >= FIRINGS_PER_ADVANCE) throw new Error("invariant broken: simulated timers never come to rest");
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
