/** What a simulation found, as data: the form that is printed as JSON. */
import { compareNames } from "../core/base/identity.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import type { Chronicle } from "./chronicle.js";
import { type Circumstances, countUp, type JobHistory } from "./job-history.js";
import type { Figures } from "./metrics.js";
import { FATES, type Fate, judgeJob } from "./oracle.js";

type FateCounts = Readonly<Record<Fate, number>>;

export interface JobFindings extends FateCounts {
  readonly identity: string;
  readonly periods: number;
  readonly started: number;
  readonly manual: number;
  readonly retried: number;
  readonly at_boot: number;
  readonly intervals: number;
  readonly hinted: number;
  readonly failed: number;
  readonly refused: number;
  readonly overlaps: number;
  readonly peak: number;
  readonly still_running: number;
  readonly max_lateness_ms: number;
  /** By exit code, signal or `unknown`. */
  readonly exits: Readonly<Record<string, number>>;
  /** Reasons on record: `missed: deadline`, `run: timeout`. */
  readonly reasons: Readonly<Record<string, number>>;
}

interface PeakFinding {
  readonly count: number;
  readonly at: string | null;
}

export interface Findings {
  readonly from: string;
  readonly to: string;
  readonly simulated_ms: number;
  /** Whether it was ended before its time. */
  readonly interrupted: boolean;
  readonly figures: Figures;
  readonly peak: PeakFinding;
  readonly starts_per_second: PeakFinding;
  readonly lateness: {
    readonly p50_ms: number;
    readonly p99_ms: number;
    readonly max_ms: number;
    readonly latest: string | null;
  };
  readonly exits: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  readonly jobs: readonly JobFindings[];
}

interface Ending extends Circumstances {
  readonly elapsedMs: number;
  readonly isCutShort: boolean;
  readonly fatals: number;
}

const VIOLATIONS_SHOWN = 100;

export function findingsOf(chronicle: Chronicle, ending: Ending): Findings {
  const histories = [...chronicle.jobs.values()].sort((a, b) => compareNames(a.identity, b.identity));
  const jobs: JobFindings[] = [];
  for (const history of histories) {
    const { fates, violations } = judgeJob(history, ending);
    for (const violation of violations) chronicle.violate(violation);
    jobs.push(jobFindings(history, fates));
  }
  const { worst, runningPeak, secondPeak } = chronicle;
  return {
    from: formatInstant(ending.fromAt),
    to: formatInstant(ending.endAt),
    simulated_ms: Math.round(ending.elapsedMs),
    interrupted: ending.isCutShort,
    figures: figuresOf(chronicle, jobs, ending),
    peak: peakOf(runningPeak.count, runningPeak.at),
    starts_per_second: peakOf(secondPeak.count, secondPeak.at),
    lateness: {
      p50_ms: quantile(chronicle.lateness, 0.5),
      p99_ms: quantile(chronicle.lateness, 0.99),
      max_ms: worst?.ms ?? 0,
      latest: worst === null ? null : `${worst.identity}@${worst.periodId}`,
    },
    exits: merged(jobs.map(({ exits }) => exits)),
    reasons: merged(jobs.map(({ reasons }) => reasons)),
    violations: chronicle.violations.slice(0, VIOLATIONS_SHOWN),
    jobs,
  };
}

function jobFindings(history: JobHistory, fates: ReadonlyMap<Fate, number>): JobFindings {
  const counts = Object.fromEntries(FATES.map((fate) => [fate, fates.get(fate) ?? 0])) as FateCounts;
  return {
    identity: history.identity,
    periods: sum(FATES.map((fate) => counts[fate])),
    ...counts,
    started: history.started,
    manual: history.manual,
    intervals: history.intervals,
    hinted: history.hinted,
    retried: history.retried,
    at_boot: history.atBoot,
    failed: history.failed,
    refused: history.refused,
    overlaps: history.overlaps,
    peak: history.peak,
    still_running: history.running.size,
    max_lateness_ms: history.maxLatenessMs,
    exits: sorted(history.exits),
    reasons: sorted(history.reasons),
  };
}

type Summed = Exclude<keyof JobFindings, "identity" | "exits" | "reasons">;

function figuresOf(chronicle: Chronicle, jobs: readonly JobFindings[], { fatals }: Ending): Figures {
  const total = (field: Summed): number => sum(jobs.map((job) => job[field]));
  const exits = Object.entries(merged(jobs.map((job) => job.exits)));
  const fates = Object.fromEntries(FATES.map((fate) => [fate, total(fate)])) as FateCounts;
  return {
    periods: total("periods"),
    ...fates,
    duplicates: chronicle.duplicates,
    violations: chronicle.violationCount,
    started: total("started"),
    manual: total("manual"),
    intervals: total("intervals"),
    hinted: total("hinted"),
    retried: total("retried"),
    at_boot: total("at_boot"),
    failed: total("failed"),
    unknown_exits: sum(exits.filter(([name]) => name === "unknown").map(([, count]) => count)),
    still_running: total("still_running"),
    refused: total("refused"),
    overlaps: total("overlaps"),
    peak: chronicle.runningPeak.count,
    starts_per_second: chronicle.secondPeak.count,
    max_lateness: chronicle.worst?.ms ?? 0,
    fatal: fatals,
  };
}

function peakOf(count: number, at: EpochMs | null): PeakFinding {
  return { count, at: at === null ? null : formatInstant(at) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Exit codes as numbers, then names. */
function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function merged(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) for (const [name, count] of Object.entries(part)) countUp(counts, name, count);
  return sorted(counts);
}

/** The least value that this share of all lies at or below. */
function quantile(counts: ReadonlyMap<number, number>, share: number): number {
  const total = sum([...counts.values()]);
  let seen = 0;
  for (const [value, count] of [...counts].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= share * total) return value;
  }
  return 0;
}
