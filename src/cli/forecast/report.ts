/**
 * A forecast as data with stable field names: what `-o json` prints, and what every other form is made from. Instants are
 * RFC 3339 in UTC; nothing in it depends on the machine.
 */
import type { Forecast, GroupRow } from "../../core/forecast/forecaster.js";
import type { Grouping } from "../../core/forecast/groups.js";
import { bucketStartAt, type Horizon } from "../../core/forecast/horizon.js";
import type { Overlap } from "../../core/forecast/overlap.js";
import type { Peak, Series } from "../../core/forecast/series.js";
import type { Contributors } from "../../core/forecast/top-contributors.js";
import { formatInstant, SECOND_MS } from "../../core/time/instant.js";

const FORECAST_FORMAT = 1;

export interface PeakReport {
  readonly start: string;
  readonly starts: number;
  /** `called`: of a crontab's job, whose name is a hash, where it stands and what it runs. */
  readonly contributors: readonly { readonly name: string; readonly called?: string; readonly starts: number }[];
  readonly other_contributors: number;
}

export interface SeriesReport {
  readonly starts: number;
  readonly busy_buckets: number;
  readonly peaks: readonly PeakReport[];
}

export interface GroupReport {
  readonly name: string;
  readonly jobs: number;
  readonly starts: number;
  readonly peak: number;
  readonly peak_start: string | null;
  readonly starts_without_windows: number;
  readonly peak_without_windows: number;
  readonly peak_start_without_windows: string | null;
}

interface RunningReport {
  readonly peak: number;
  readonly peak_at: string | null;
  readonly skipped: number;
}

export interface OverlapReport {
  readonly jobs: number;
  readonly jobs_without_duration: number;
  readonly with_windows: RunningReport;
  readonly without_windows: RunningReport;
}

interface BucketReport {
  readonly start: string;
  readonly starts: number;
  readonly starts_without_windows: number;
  readonly running?: number;
  readonly running_peak?: number;
  readonly running_without_windows?: number;
  readonly running_peak_without_windows?: number;
}

export interface GateReport {
  readonly max_peak: number;
  readonly exceeded: boolean;
  readonly buckets_over: number;
  readonly culprits: readonly PeakReport[];
}

export interface ForecastReport {
  readonly format: number;
  readonly engine_version: string;
  readonly tz_version: string;
  readonly from: string;
  readonly to: string;
  readonly bucket_seconds: number;
  readonly jobs: number;
  readonly suspended: number;
  readonly unschedulable: number;
  /** Only with --state: jobs whose state had a say. */
  readonly state?: { readonly paused: number; readonly hinted: number; readonly counted_from_last_run: number };
  readonly with_windows: SeriesReport;
  readonly without_windows: SeriesReport;
  readonly by: Grouping;
  readonly groups: readonly GroupReport[];
  readonly groups_total: number;
  readonly overlap: OverlapReport | null;
  readonly gate: GateReport | null;
}

interface ReportOptions {
  readonly top: number;
  readonly maxPeak: number | null;
  readonly engineVersion: string;
  readonly tzVersion: string;
  /** What stands beside names that say nothing. */
  readonly called: ReadonlyMap<string, string>;
}

export function reportOf(forecast: Forecast, options: ReportOptions): ForecastReport {
  const { horizon, chosen, nominal, by } = forecast;
  const groups = forecast.topGroups(options.top).map((row) => groupReport(row, horizon));
  return {
    format: FORECAST_FORMAT,
    engine_version: options.engineVersion,
    tz_version: options.tzVersion,
    from: formatInstant(horizon.fromAt),
    to: formatInstant(horizon.toAt),
    bucket_seconds: horizon.bucketMs / SECOND_MS,
    jobs: forecast.jobs,
    suspended: forecast.suspended,
    unschedulable: forecast.unschedulable,
    ...stateReport(forecast),
    with_windows: seriesReport(chosen, horizon, options),
    without_windows: seriesReport(nominal, horizon, options),
    by,
    groups,
    groups_total: forecast.groups,
    overlap: overlapReport(forecast),
    gate: options.maxPeak === null ? null : gateReport(chosen, horizon, options.maxPeak, options),
  };
}

function stateReport({ state }: Forecast): Pick<ForecastReport, "state"> {
  if (state === null) return {};
  return { state: { paused: state.paused, hinted: state.hinted, counted_from_last_run: state.counted } };
}

/** One row for each bucket of the horizon, empty ones too. */
export function* bucketReports({ horizon, chosen, nominal, overlap }: Forecast): Generator<BucketReport> {
  for (let bucket = 0; bucket < horizon.buckets; bucket++) {
    const row = {
      start: formatInstant(bucketStartAt(horizon, bucket)),
      starts: chosen.counts[bucket] as number,
      starts_without_windows: nominal.counts[bucket] as number,
    };
    if (overlap === null) yield row;
    else
      yield {
        ...row,
        running: rounded(overlap.chosen.running[bucket] as number),
        running_peak: overlap.chosen.most[bucket] as number,
        running_without_windows: rounded(overlap.nominal.running[bucket] as number),
        running_peak_without_windows: overlap.nominal.most[bucket] as number,
      };
  }
}

/** Means to the thousandth: more digits would say nothing. */
function rounded(mean: number): number {
  return Math.round(mean * 1000) / 1000;
}

function seriesReport(series: Series, horizon: Horizon, { top, called }: ReportOptions): SeriesReport {
  return {
    starts: series.total,
    busy_buckets: series.counts.reduce((busy, starts) => busy + (starts > 0 ? 1 : 0), 0),
    peaks: series.peaks(top).map((peak) => peakReport(peak, series.contributorsOf(peak.bucket), horizon, called)),
  };
}

function peakReport(
  { bucket, starts }: Peak,
  { named, others }: Contributors,
  horizon: Horizon,
  called: ReportOptions["called"],
): PeakReport {
  const start = formatInstant(bucketStartAt(horizon, bucket));
  const contributors = named.map(({ name, starts: own }) => {
    const place = called.get(name);
    return { name, ...(place === undefined ? {} : { called: place }), starts: own };
  });
  return { start, starts, contributors, other_contributors: others };
}

function groupReport(row: GroupRow, horizon: Horizon): GroupReport {
  const { peak, peakWithoutWindows } = row;
  return {
    name: row.name,
    jobs: row.jobs,
    starts: row.starts,
    peak: peak.starts,
    peak_start: startOf(peak, horizon),
    starts_without_windows: row.startsWithoutWindows,
    peak_without_windows: peakWithoutWindows.starts,
    peak_start_without_windows: startOf(peakWithoutWindows, horizon),
  };
}

function startOf({ bucket, starts }: Peak, horizon: Horizon): string | null {
  return starts === 0 ? null : formatInstant(bucketStartAt(horizon, bucket));
}

function overlapReport({ overlap }: Forecast): OverlapReport | null {
  if (overlap === null) return null;
  return {
    jobs: overlap.jobs,
    jobs_without_duration: overlap.jobsWithoutDuration,
    with_windows: runningReport(overlap.chosen),
    without_windows: runningReport(overlap.nominal),
  };
}

function runningReport({ peak, skipped }: Overlap): RunningReport {
  return { peak: peak.runs, peak_at: peak.runs === 0 ? null : formatInstant(peak.at), skipped };
}

function gateReport(series: Series, horizon: Horizon, maxPeak: number, { top, called }: ReportOptions): GateReport {
  const over = series.counts.reduce((count, starts) => count + (starts > maxPeak ? 1 : 0), 0);
  const culprits = series
    .peaks(Math.min(top, over))
    .map((peak) => peakReport(peak, series.contributorsOf(peak.bucket), horizon, called));
  return { max_peak: maxPeak, exceeded: over > 0, buckets_over: over, culprits };
}
