/** What all jobs will start, counted ahead. */
import { z } from "zod";
import type { SeriesCounts, StoreForecast } from "../../actors/pool/types.js";
import { bucketOf, bucketStartAt, type Horizon, readHorizon } from "../../core/forecast/horizon.js";
import { peaksOf } from "../../core/forecast/series.js";
import type { Contributors } from "../../core/forecast/top-contributors.js";
import { formatInstant, HOUR_MS, MINUTE_MS } from "../../core/time/instant.js";
import { withEndpointNames } from "../endpoints/names.js";
import { daemonOperation, OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import {
  FORECAST_ANSWER,
  FORECAST_WHO_ANSWER,
  type ForecastAnswer,
  type ForecastWhoAnswer,
} from "../shapes/forecast.js";
import { instant } from "../shapes/words.js";

const MOST_HOURS = 168;
/** A week of minutes, and no more numbers than a page can draw. */
const MOST_BUCKETS = 10_080;
const PEAKS = 10;
/** As long as one of many jobs may take. */
const AGAIN_AFTER_MS = 2_000;
const NOBODY: Contributors = { named: [], others: 0 };

type Who = ForecastWhoAnswer["chosen"];

const STRETCH = {
  /** The hour that has begun, if it is left out. */
  fromAt: instant.optional(),
  hours: z.int().min(1).max(MOST_HOURS).default(24),
  bucketMs: z.int().min(1_000).max(HOUR_MS).default(MINUTE_MS),
};

const INPUT = z.strictObject(STRETCH);

export const FORECAST = daemonOperation({
  name: "forecast",
  summary: "what all jobs in force will start, by buckets, with their windows and without",
  http: { method: "GET", path: "/system/forecast" },
  access: "read",
  beginsSomething: false,
  input: INPUT,
  output: FORECAST_ANSWER,
  run: async (asked, ports): Promise<ForecastAnswer> => {
    const horizon = horizonOf(asked, ports);
    const { jobs, suspended, unschedulable, chosen, nominal } = await forecastOf(horizon, ports);
    return {
      from: formatInstant(horizon.fromAt),
      to: formatInstant(horizon.toAt),
      bucketMs: horizon.bucketMs,
      jobs,
      suspended,
      unschedulable,
      chosen: await seriesAnswer(chosen, horizon, ports),
      nominal: await seriesAnswer(nominal, horizon, ports),
    };
  },
});

export const FORECAST_WHO = daemonOperation({
  name: "forecast_who",
  summary: "who makes one bucket of a forecast",
  http: { method: "GET", path: "/system/forecast/who" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ ...STRETCH, at: instant }),
  output: FORECAST_WHO_ANSWER,
  run: async ({ at, ...asked }, ports): Promise<ForecastWhoAnswer> => {
    const horizon = horizonOf(asked, ports);
    const bucket = bucketOf(horizon, at);
    if (bucket < 0 || bucket >= horizon.buckets) throw new OperationError("bad-request", "at: outside the forecast");
    const { chosen, nominal } = await forecastOf(horizon, ports);
    const started = formatInstant(bucketStartAt(horizon, bucket));
    const whoIn = ({ who }: SeriesCounts): Promise<Who> => whoAnswer(who[bucket] ?? NOBODY, ports);
    return { at: started, chosen: await whoIn(chosen), nominal: await whoIn(nominal) };
  },
});

function horizonOf({ fromAt, hours, bucketMs }: z.output<typeof INPUT>, { now }: Pick<Acting, "now">): Horizon {
  const from = fromAt ?? Math.floor(now() / HOUR_MS) * HOUR_MS;
  const read = readHorizon(from, from + hours * HOUR_MS, bucketMs);
  if (!read.ok) throw new OperationError("bad-request", read.error.message, read.error.hint);
  if (read.value.buckets <= MOST_BUCKETS) return read.value;
  throw new OperationError("bad-request", `bucketMs: more than ${MOST_BUCKETS} buckets`, "take larger ones");
}

async function forecastOf(horizon: Horizon, { forecasts }: Pick<Acting, "forecasts">): Promise<StoreForecast> {
  const found = forecasts.of(horizon);
  if (found !== null) return found;
  const more = { retryAfterMs: AGAIN_AFTER_MS };
  throw new OperationError("exhausted", "other forecasts are being computed already", undefined, more);
}

async function seriesAnswer(
  { counts, total, who }: SeriesCounts,
  horizon: Horizon,
  ports: Pick<Acting, "reader">,
): Promise<ForecastAnswer["chosen"]> {
  const peaks = peaksOf(counts, PEAKS).map(async ({ bucket, starts }) => {
    const at = formatInstant(bucketStartAt(horizon, bucket));
    return { at, starts, who: await whoAnswer(who[bucket] ?? NOBODY, ports) };
  });
  return { total, counts: [...counts], peaks: await Promise.all(peaks) };
}

/** Endpoints by the names of their people too. */
async function whoAnswer({ named, others }: Contributors, { reader }: Pick<Acting, "reader">): Promise<Who> {
  const rows = named.map(({ name, starts }) => ({ identity: name, starts }));
  const known = await withEndpointNames(reader, rows);
  return { named: known.map(({ identity: name, ...rest }) => ({ name, ...rest })), others };
}
