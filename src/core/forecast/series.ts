/**
 * One series of a forecast: starts per bucket, and who contributes them. Nothing here grows with the number of starts.
 * Jobs come one after the other; what a single one contributes to a bucket is known when it is done.
 */
import type { Horizon } from "./horizon.js";
import { bucketOf, bucketStartAt, FORECAST_LIMITS } from "./horizon.js";
import { type Contributors, TopContributors } from "./top-contributors.js";

export interface Peak {
  readonly bucket: number;
  readonly starts: number;
}

/** What one group contributes to one series. */
interface GroupLoad {
  readonly starts: number;
  readonly peak: Peak;
}

export class Series {
  readonly counts: Uint32Array;
  total = 0;
  readonly #horizon: Horizon;
  readonly #top: TopContributors;
  /** By group. Three plain lists and no objects: there may be a million groups. */
  readonly #starts: number[] = [];
  readonly #peakBuckets: number[] = [];
  readonly #peakStarts: number[] = [];
  /** Counts of the groups that live on: null when every job is a group of its own. */
  readonly #kept: Map<number, Uint32Array> | null;
  /** Counts of the job at hand, and the buckets that are not zero in it. */
  readonly #scratch: Uint32Array;
  readonly #touched: number[] = [];

  constructor(horizon: Horizon, names: readonly string[], isByJob: boolean) {
    this.#horizon = horizon;
    this.counts = new Uint32Array(horizon.buckets);
    this.#scratch = new Uint32Array(isByJob ? horizon.buckets : 0);
    this.#top = new TopContributors(horizon.buckets, names);
    this.#kept = isByJob ? null : new Map();
  }

  /** One start of a job that belongs to these groups. */
  add(at: number, groups: readonly number[]): void {
    this.#add(bucketOf(this.#horizon, at), 1, groups);
  }

  /** So many, one step apart each, all within the horizon: as much work as there are buckets for them. */
  addEven(firstAt: number, stepMs: number, count: number, groups: readonly number[]): void {
    for (let at = firstAt, left = count; left > 0; ) {
      const bucket = bucketOf(this.#horizon, at);
      const within = Math.min(left, Math.ceil((bucketStartAt(this.#horizon, bucket + 1) - at) / stepMs));
      this.#add(bucket, within, groups);
      at += within * stepMs;
      left -= within;
    }
  }

  #add(bucket: number, starts: number, groups: readonly number[]): void {
    this.counts[bucket] = (this.counts[bucket] as number) + starts;
    this.total += starts;
    if (this.#kept === null) {
      const before = this.#scratch[bucket] as number;
      if (before === 0) this.#touched.push(bucket);
      this.#scratch[bucket] = before + starts;
      return;
    }
    for (const group of groups) {
      const counts = this.#countsOf(group, this.#kept);
      counts[bucket] = (counts[bucket] as number) + starts;
    }
  }

  /** After the last start of a job that is a group of its own. */
  closeJob(group: number): void {
    this.#open(group);
    for (const bucket of this.#touched) {
      this.#take(group, bucket, this.#scratch[bucket] as number);
      this.#scratch[bucket] = 0;
    }
    this.#touched.length = 0;
  }

  /** After the last job. */
  close(groups: number): void {
    if (this.#kept === null) return;
    for (let group = 0; group < groups; group++) {
      this.#open(group);
      const counts = this.#kept.get(group);
      for (let bucket = 0; bucket < (counts?.length ?? 0); bucket++) {
        const starts = counts?.[bucket] ?? 0;
        if (starts > 0) this.#take(group, bucket, starts);
      }
    }
    this.#kept.clear();
  }

  loadOf(group: number): GroupLoad {
    return {
      starts: this.#starts[group] ?? 0,
      peak: { bucket: this.#peakBuckets[group] ?? 0, starts: this.#peakStarts[group] ?? 0 },
    };
  }

  contributorsOf(bucket: number): Contributors {
    return this.#top.of(bucket);
  }

  /** The fullest buckets first; of equal ones the earlier. Empty buckets are no peaks. */
  peaks(most: number): readonly Peak[] {
    return peaksOf(this.counts, most);
  }

  #open(group: number): void {
    this.#starts[group] = 0;
    this.#peakBuckets[group] = 0;
    this.#peakStarts[group] = 0;
  }

  #take(group: number, bucket: number, starts: number): void {
    this.#top.offer(bucket, group, starts);
    this.#starts[group] = (this.#starts[group] ?? 0) + starts;
    const [peak = 0, at = 0] = [this.#peakStarts[group], this.#peakBuckets[group]];
    if (starts < peak || (starts === peak && bucket > at)) return;
    this.#peakStarts[group] = starts;
    this.#peakBuckets[group] = bucket;
  }

  #countsOf(group: number, kept: Map<number, Uint32Array>): Uint32Array {
    const known = kept.get(group);
    if (known !== undefined) return known;
    const counts = new Uint32Array(this.#horizon.buckets);
    kept.set(group, counts);
    return counts;
  }
}

/** Whether the load of so many groups can be kept apart over this horizon. */
export function isTooManyGroups(groups: number, { buckets }: Horizon): boolean {
  return groups * buckets * 2 > FORECAST_LIMITS.groupCells;
}

/** The fullest entries first, of equal ones the earlier; zeros never count. */
export function peaksOf(counts: ArrayLike<number>, most: number): readonly Peak[] {
  const found: Peak[] = [];
  for (let bucket = 0; bucket < counts.length; bucket++) {
    const starts = counts[bucket] as number;
    if (starts === 0 || (found.length === most && starts <= (found.at(-1)?.starts ?? 0))) continue;
    let place = found.length;
    while (place > 0 && (found[place - 1]?.starts ?? 0) < starts) place--;
    found.splice(place, 0, { bucket, starts });
    if (found.length > most) found.pop();
  }
  return found;
}
