/**
 * The time that all nodes of a store share (C11): the wall clock of its server, sampled again and again, and carried on by the
 * monotonic clock of this machine in between. The machine's own wall clock decides nothing.
 */
import type { EpochMs } from "../../core/time/instant.js";
import type { ClockSample } from "../../persist/cluster.js";
import type { Clock, Timer } from "../clock.js";

/** Larger differences are jumps, which the schedule is to see; smaller ones are made up for little by little. */
const JUMP_MS = 1_000;
/** Of the time that passes. */
const SLEW = 0.05;

export class ClusterClock implements Clock {
  readonly #inner: Pick<Clock, "monotonicMs" | "after">;
  /** At `#fromMs` of the monotonic clock it was `#at`; `#oweMs` is still to be made up for. */
  #at: number;
  #fromMs: number;
  #oweMs = 0;

  constructor(inner: Pick<Clock, "monotonicMs" | "after">, first: ClockSample) {
    this.#inner = inner;
    [this.#at, this.#fromMs] = [first.at, middleOf(first)];
  }

  now(): EpochMs {
    return Math.floor(this.#exactly(this.#inner.monotonicMs()));
  }

  monotonicMs(): number {
    return this.#inner.monotonicMs();
  }

  after(delayMs: number, callback: () => void): Timer {
    return this.#inner.after(delayMs, callback);
  }

  take(sample: ClockSample): void {
    const nowMs = this.#inner.monotonicMs();
    const ours = this.#exactly(nowMs);
    const theirs = sample.at + (nowMs - middleOf(sample));
    const offMs = theirs - ours;
    const halfTripMs = (sample.receivedMs - sample.sentMs) / 2;
    [this.#at, this.#fromMs] = [Math.abs(offMs) >= JUMP_MS + halfTripMs ? theirs : ours, nowMs];
    // What a slow answer leaves open is no difference.
    this.#oweMs = Math.abs(offMs) >= JUMP_MS + halfTripMs || Math.abs(offMs) <= halfTripMs ? 0 : offMs;
  }

  #exactly(nowMs: number): number {
    const passedMs = nowMs - this.#fromMs;
    const mostMs = passedMs * SLEW;
    return this.#at + passedMs + Math.max(-mostMs, Math.min(mostMs, this.#oweMs));
  }
}

function middleOf({ sentMs, receivedMs }: ClockSample): number {
  return (sentMs + receivedMs) / 2;
}
