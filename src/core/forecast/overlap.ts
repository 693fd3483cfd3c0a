/**
 * How many runs will be at work at once, if runs take as long as they are said to. Counted to the second: a run counts
 * from the second of its start for its duration, rounded up. Concurrency policies are applied as the daemon applies them
 * to runs of exactly that length.
 */
import type { Policy } from "../job/definition.js";
import { type EpochMs, SECOND_MS } from "../time/instant.js";
import type { Horizon } from "./horizon.js";

export interface Overlap {
  readonly running: Float64Array;
  readonly most: Uint32Array;
  readonly peak: { readonly at: EpochMs; readonly runs: number };
  /** Starts in the horizon that the concurrency policy would turn into `skipped`. */
  readonly skipped: number;
}

/** Runs of all jobs over one horizon. */
export class RunningLoad {
  readonly #horizon: Horizon;
  readonly #seconds: number;
  /** At each second how many more runs are at work than a second before. */
  readonly #changes: Int32Array;
  skipped = 0;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
    this.#seconds = Math.ceil((horizon.toAt - horizon.fromAt) / SECOND_MS);
    this.#changes = new Int32Array(this.#seconds + 1);
  }

  add(startAt: EpochMs, endAt: EpochMs): void {
    const first = Math.max(0, this.#secondOf(startAt));
    const end = Math.min(this.#seconds, this.#secondOf(endAt));
    if (first >= end) return;
    this.#changes[first] = (this.#changes[first] as number) + 1;
    this.#changes[end] = (this.#changes[end] as number) - 1;
  }

  skip(at: EpochMs): void {
    if (at >= this.#horizon.fromAt && at < this.#horizon.toAt) this.skipped++;
  }

  result(): Overlap {
    const { buckets, bucketMs, fromAt } = this.#horizon;
    const running = new Float64Array(buckets);
    const most = new Uint32Array(buckets);
    const bucketSeconds = bucketMs / SECOND_MS;
    let peak = { at: fromAt, runs: 0 };
    let runs = 0;
    for (let second = 0; second < this.#seconds; second++) {
      runs += this.#changes[second] as number;
      const bucket = Math.floor(second / bucketSeconds);
      running[bucket] = (running[bucket] as number) + runs;
      if (runs > (most[bucket] as number)) most[bucket] = runs;
      if (runs > peak.runs) peak = { at: fromAt + second * SECOND_MS, runs };
    }
    for (let bucket = 0; bucket < buckets; bucket++) {
      const seconds = Math.min(bucketSeconds, this.#seconds - bucket * bucketSeconds);
      running[bucket] = (running[bucket] as number) / seconds;
    }
    return { running, most, peak, skipped: this.skipped };
  }

  #secondOf(at: EpochMs): number {
    return Math.floor((at - this.#horizon.fromAt) / SECOND_MS);
  }
}

/** The runs of one job, in the order of their starts. */
export class JobRuns {
  readonly #load: RunningLoad;
  readonly #policy: Policy;
  readonly #durationMs: number;
  /** Ends of the runs at work, oldest first; all runs take the same time. */
  #ends: EpochMs[] = [];
  /** With `replace`: the run that the next start will end. */
  #openAt: EpochMs | null = null;

  constructor(load: RunningLoad, policy: Policy, durationMs: number) {
    this.#load = load;
    this.#policy = policy;
    this.#durationMs = Math.max(1, Math.ceil(durationMs / SECOND_MS)) * SECOND_MS;
  }

  start(at: EpochMs): void {
    if (this.#policy.concurrency === "replace") {
      this.#endOpen(at);
      this.#openAt = at;
      return;
    }
    while ((this.#ends[0] ?? Number.POSITIVE_INFINITY) <= at) this.#ends.shift();
    const most = this.#policy.concurrency === "forbid" ? 1 : (this.#policy.maxActive ?? Number.POSITIVE_INFINITY);
    if (this.#ends.length >= most) {
      this.#load.skip(at);
      return;
    }
    // Only bounded policies ask who is still at work.
    if (most !== Number.POSITIVE_INFINITY) this.#ends.push(at + this.#durationMs);
    this.#load.add(at, at + this.#durationMs);
  }

  close(): void {
    this.#endOpen(Number.POSITIVE_INFINITY);
    this.#ends = [];
  }

  #endOpen(nextAt: EpochMs): void {
    if (this.#openAt === null) return;
    this.#load.add(this.#openAt, Math.min(this.#openAt + this.#durationMs, nextAt));
    this.#openAt = null;
  }
}
