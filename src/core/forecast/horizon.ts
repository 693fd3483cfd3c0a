/** The stretch of time a forecast covers, cut into equal buckets; the last one may be shorter. */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { formatDuration } from "../time/duration.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import { SUPPORTED_INSTANTS } from "../time/zone.js";

export interface Horizon {
  readonly fromAt: EpochMs;
  /** Exclusive. */
  readonly toAt: EpochMs;
  readonly bucketMs: number;
  readonly buckets: number;
}

/** Every bound of a forecast. What is counted is kept per bucket, so that buckets are what memory depends on. */
export const FORECAST_LIMITS = {
  buckets: 1_000_000,
  /** Counters over all groups, buckets and both series, when the load is divided by tag, user or target. */
  groupCells: 50_000_000,
  /** Seconds of which the runs at once are counted: more than a year. */
  overlapSeconds: 40_000_000,
  /** Those who make a bucket, by name. */
  contributors: 5,
} as const;

export function readHorizon(fromAt: EpochMs, toAt: EpochMs, bucketMs: number): Result<Horizon, Problem> {
  if (bucketMs < SECOND_MS || bucketMs % SECOND_MS !== 0) {
    return refused("a bucket is a whole number of seconds, at least one", "write it like 1s, 1m or 1h");
  }
  if (fromAt % SECOND_MS !== 0 || toAt % SECOND_MS !== 0) return refused("a forecast is from and to a whole second");
  if (toAt <= fromAt) return refused("a forecast ends after it begins");
  if (fromAt < SUPPORTED_INSTANTS.fromAt || toAt > SUPPORTED_INSTANTS.untilAt) {
    const { fromAt: first, untilAt: last } = SUPPORTED_INSTANTS;
    return refused(`schedules are known from ${formatInstant(first)} to ${formatInstant(last)}`);
  }
  const buckets = Math.ceil((toAt - fromAt) / bucketMs);
  if (buckets > FORECAST_LIMITS.buckets) {
    const message = `${buckets} buckets of ${formatDuration(bucketMs)}, more than the limit of ${FORECAST_LIMITS.buckets}`;
    return err({ code: "limit-exceeded", message, path: [], hint: "take larger buckets or a shorter horizon" });
  }
  return ok({ fromAt, toAt, bucketMs, buckets });
}

export function bucketOf({ fromAt, bucketMs }: Horizon, at: EpochMs): number {
  return Math.floor((at - fromAt) / bucketMs);
}

export function bucketStartAt({ fromAt, bucketMs }: Horizon, bucket: number): EpochMs {
  return fromAt + bucket * bucketMs;
}

function refused(message: string, hint?: string): Result<Horizon, Problem> {
  const problem: Problem = { code: "field-range", message, path: [] };
  return err(hint === undefined ? problem : { ...problem, hint });
}
