import type { Clock, Timer } from "../../../src/actors/clock.js";
import { systemClock } from "../../../src/actors/clock.js";

/** A clock that runs so many times as fast: minutes of a schedule in seconds of a test, over real sockets. */
export class ScaledClock implements Clock {
  readonly #factor: number;
  readonly #startAt: number;
  readonly #startMs = systemClock.monotonicMs();
  #shiftMs = 0;

  constructor(factor: number, startAt: number) {
    this.#factor = factor;
    this.#startAt = startAt;
  }

  now(): number {
    return Math.floor(this.#startAt + this.monotonicMs()) + this.#shiftMs;
  }

  monotonicMs(): number {
    return (systemClock.monotonicMs() - this.#startMs) * this.#factor;
  }

  after(delayMs: number, callback: () => void): Timer {
    return systemClock.after(delayMs / this.#factor, callback);
  }

  jump(byMs: number): void {
    this.#shiftMs += byMs;
  }
}
