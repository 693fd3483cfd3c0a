/**
 * A virtual clock, and a bad one on request: it jumps, drifts, and lets timers fire late, all reproducibly from a seed.
 * Time passes only when whoever holds it says so.
 */

import { SplitMix64 } from "../core/decision/prng.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Clock, Timer } from "./clock.js";
import { turnOfLoop } from "./turns.js";

interface SimulatedClockOptions {
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
  isPending: boolean;
}

/** Stops a timer that re-arms itself without end within one instant. */
const FIRINGS_PER_ADVANCE = 10_000_000;
const NO_SEED = "0000000000000000";
/** Cancelled timers stay in the heap until they come to its top; beyond this share it is swept. */
const SWEPT_ABOVE = 1_024;

export class SimulatedClock implements Clock {
  #elapsedMs = 0;
  #shiftMs = 0;
  #sequence = 0;
  #pendingCount = 0;
  readonly #startAt: EpochMs;
  readonly #driftPpm: number;
  readonly #latestMs: number;
  readonly #random: SplitMix64;
  /** A binary heap: the timer that is due first is at its top. */
  #heap: Pending[] = [];

  constructor(options: SimulatedClockOptions) {
    this.#startAt = options.startAt;
    this.#driftPpm = options.driftPpm ?? 0;
    this.#latestMs = options.latestMs ?? 0;
    this.#random = new SplitMix64(options.seed ?? NO_SEED);
  }

  now(): EpochMs {
    return Math.floor(this.#startAt + this.#elapsedMs * (1 + this.#driftPpm / 1e6)) + this.#shiftMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const lateMs = this.#latestMs === 0 ? 0 : this.#random.nextUnit() * this.#latestMs;
    const timer: Pending = {
      dueMs: this.#elapsedMs + Math.max(delayMs, 0) + lateMs,
      sequence: this.#sequence++,
      callback,
      isPending: true,
      cancel: () => this.#forget(timer),
    };
    this.#pendingCount += 1;
    this.#push(timer);
    return timer;
  }

  /** Timers that have not fired. */
  get pendingTimers(): number {
    return this.#pendingCount;
  }

  /** When the next timer is due, on the monotonic clock; null when nothing waits. */
  nextDueMs(): number | null {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (first.isPending) return first.dueMs;
      this.#pop();
    }
    return null;
  }

  /** Lets time pass until the next timer is due, and fires it alone. False when nothing waits. */
  fireFirst(): boolean {
    return this.#fireNext(Number.POSITIVE_INFINITY);
  }

  /** Shifts the wall clock alone, as a person or a time service does. No timer notices. */
  jump(byMs: number): void {
    this.#shiftMs += byMs;
  }

  /** Lets monotonic time pass and fires what comes due, in order. */
  advance(byMs: number): void {
    const untilMs = this.#elapsedMs + byMs;
    for (let fired = 0; this.#fireNext(untilMs); fired++) assertProgress(fired);
    this.#elapsedMs = untilMs;
  }

  /** The same, with a turn of the event loop after every timer, for what answers through promises. */
  async advanceAsync(byMs: number): Promise<void> {
    const untilMs = this.#elapsedMs + byMs;
    await turnOfLoop();
    for (let fired = 0; this.#fireNext(untilMs); fired++) {
      assertProgress(fired);
      await turnOfLoop();
    }
    this.#elapsedMs = untilMs;
  }

  /** A process that was stopped: time passes, and what came due meanwhile fires together at the end. */
  freeze(forMs: number): void {
    this.#elapsedMs += forMs;
    this.advance(0);
  }

  #fireNext(untilMs: number): boolean {
    const dueMs = this.nextDueMs();
    if (dueMs === null || dueMs > untilMs) return false;
    const next = this.#pop();
    this.#forget(next);
    this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
    next.callback();
    return true;
  }

  #forget(timer: Pending): void {
    if (!timer.isPending) return;
    timer.isPending = false;
    this.#pendingCount -= 1;
    if (this.#heap.length > SWEPT_ABOVE && this.#heap.length > 4 * this.#pendingCount) this.#sweep();
  }

  /** A list in order is a heap. */
  #sweep(): void {
    this.#heap = this.#heap.filter(({ isPending }) => isPending).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  #push(timer: Pending): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Pending;
      if (!isBefore(timer, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = timer;
  }

  #pop(): Pending {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) throw new Error("invariant broken: no timer is left");
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  /** Puts a timer in at the top and lets it down to its place. */
  #sink(timer: Pending): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const isRight = right < heap.length && isBefore(heap[right] as Pending, heap[left] as Pending);
      const below = isRight ? right : left;
      const child = heap[below] as Pending;
      if (!isBefore(child, timer)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = timer;
  }
}

function isBefore(a: Pending, b: Pending): boolean {
  return a.dueMs !== b.dueMs ? a.dueMs < b.dueMs : a.sequence < b.sequence;
}

function assertProgress(fired: number): void {
  if (fired >= FIRINGS_PER_ADVANCE) throw new Error("invariant broken: simulated timers never come to rest");
}
