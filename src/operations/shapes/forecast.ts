import { z } from "zod";
import { ENDPOINT_TOLD } from "./job.js";
import { count, identity, listOf, time } from "./words.js";

const WHO = z.strictObject({
  named: listOf(z.strictObject({ name: identity, endpoint: ENDPOINT_TOLD.optional(), starts: count })),
  others: count,
});

const PEAK = z.strictObject({ at: time, starts: count, who: WHO });

const SERIES = z.strictObject({
  total: count,
  /** Starts of each bucket. */
  counts: listOf(count),
  /** The fullest buckets first. */
  peaks: listOf(PEAK),
});

export const FORECAST_ANSWER = z.strictObject({
  from: time,
  to: time,
  bucketMs: count,
  jobs: count,
  suspended: count,
  unschedulable: count,
  chosen: SERIES,
  /** What cron would do. */
  nominal: SERIES,
});
export type ForecastAnswer = z.output<typeof FORECAST_ANSWER>;

export const FORECAST_WHO_ANSWER = z.strictObject({ at: time, chosen: WHO, nominal: WHO });
export type ForecastWhoAnswer = z.output<typeof FORECAST_WHO_ANSWER>;
