/**
 * The clock port. Schedules follow the wall clock, timers the monotonic one (S6); nothing below this layer reads either.
 * `systemClock` is the real one; `SimulatedClock` is virtual and passes the same contract suite.
 */
import type { EpochMs } from "../core/time/instant.js";

export interface Clock {
  /** The wall clock, whole milliseconds. It may jump, in both directions. */
  now(): EpochMs;
  /** Milliseconds since some fixed moment. It never goes back. */
  monotonicMs(): number;
  /** Calls back once, never before `delayMs` of monotonic time have passed. Any length; the callback never runs inside this call. */
  after(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  /** Afterwards the callback is not called any more. Harmless when it already was. */
  cancel(): void;
}

/** What Node's timers can hold: above it they fire at once. */
const LONGEST_NODE_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback) => new SystemTimer(performance.now() + delayMs, callback),
};

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;
  readonly #dueMs: number;
  readonly #callback: () => void;

  constructor(dueMs: number, callback: () => void) {
    this.#dueMs = dueMs;
    this.#callback = callback;
    this.#handle = this.#sleep();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  /** Long waits go in pieces; and Node rounds, so that a timer may fire a fraction of a millisecond early. */
  #sleep(): NodeJS.Timeout {
    const waitMs = Math.ceil(this.#dueMs - performance.now());
    return setTimeout(() => this.#fired(), Math.min(Math.max(waitMs, 0), LONGEST_NODE_TIMER_MS));
  }

  #fired(): void {
    if (performance.now() < this.#dueMs) {
      this.#handle = this.#sleep();
    } else {
      this.#callback();
    }
  }
}
