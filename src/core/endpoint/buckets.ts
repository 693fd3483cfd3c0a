/**
 * Runs counted by when they ended, in stretches of equal length that begin where the clock says so (UTC). Of each length as
 * many stretches are kept as the longest question about it needs; a value, so that counting makes a new one.
 */
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS } from "../time/units.js";
import type { EndedResult, EndedRun } from "./ended-run.js";
import { EMPTY_HISTOGRAM, type Histogram, withDuration } from "./histogram.js";

export interface Grain {
  readonly lengthMs: number;
  /** Stretches that are kept, the newest included. */
  readonly keep: number;
}

/** Finest first. */
export const GRAINS = [
  { lengthMs: 5 * MINUTE_MS, keep: 15 },
  { lengthMs: HOUR_MS, keep: 25 },
  { lengthMs: DAY_MS, keep: 31 },
] as const satisfies readonly Grain[];

export interface Bucket {
  /** Which stretch since the beginning of 1970. */
  readonly index: number;
  readonly counts: Readonly<Record<EndedResult, number>>;
  /** Of these, those that said there was nothing to do. */
  readonly idle: number;
  readonly durations: Histogram;
}

/** Ascending by index, empty stretches left out. */
export type Ring = readonly Bucket[];

const NO_COUNTS: Bucket["counts"] = Object.freeze({
  success: 0,
  failure: 0,
  timeout: 0,
  cancelled: 0,
  unknown: 0,
});

export function indexAt(at: EpochMs, { lengthMs }: Grain): number {
  return Math.floor(at / lengthMs);
}

/**
 * A run that lies outside of everything that is kept says that the clock has been set: what is too far from it, before or
 * behind, is forgotten, so that one run in a wrong year does not keep out those of the right one.
 */
export function withRun(ring: Ring, grain: Grain, run: EndedRun): Ring {
  const index = indexAt(run.endedAt, grain);
  const kept = ring.filter((bucket) => Math.abs(bucket.index - index) < grain.keep);
  const at = kept.findIndex((bucket) => bucket.index >= index);
  const present = at < 0 ? undefined : kept[at];
  if (present?.index === index) return kept.with(at, counted(present, run));
  const empty = { index, counts: NO_COUNTS, idle: 0, durations: EMPTY_HISTOGRAM };
  kept.splice(at < 0 ? kept.length : at, 0, counted(empty, run));
  return kept;
}

/** How long a run took that somebody ended is nobody's speed but theirs. */
function counted({ index, counts, idle, durations }: Bucket, { result, durationMs, isIdle }: EndedRun): Bucket {
  const isTold = durationMs !== null && result !== "cancelled";
  return {
    index,
    counts: { ...counts, [result]: counts[result] + 1 },
    idle: idle + (isIdle === true && result === "success" ? 1 : 0),
    durations: isTold ? withDuration(durations, durationMs) : durations,
  };
}
