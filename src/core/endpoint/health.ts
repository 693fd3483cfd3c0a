/**
 * How an endpoint has been doing, kept up to date run by run: what it costs to count one and to ask does not depend on how
 * many there were. Nothing here reads a run twice; what a crash has kept from being written is counted again from the
 * ledger, behind `throughAt`.
 */
import { RUN_AHEAD_MS } from "../period/policy.js";
import { DAY_MS, type EpochMs, HOUR_MS } from "../time/units.js";
import { type Bucket, GRAINS, type Grain, indexAt, type Ring, withRun } from "./buckets.js";
import { type EndedRun, isFault, keptError, type RunError } from "./ended-run.js";
import { percentilesOf } from "./histogram.js";

/** Runs in a row that ended alike; one of the two is 0. Runs that somebody cancelled do not count. */
export interface Streak {
  readonly failures: number;
  readonly successes: number;
  /** The end of its first run; null: there was none yet. */
  readonly sinceAt: EpochMs | null;
}

export interface Health {
  /** One for each of `GRAINS`. */
  readonly rings: readonly Ring[];
  readonly streak: Streak;
  /** Newest first. */
  readonly lastErrors: readonly RunError[];
  /** Up to here every run that has ended is counted; null: none is. */
  readonly throughAt: EpochMs | null;
}

export const LAST_ERRORS = 5;

export const NO_HEALTH: Health = Object.freeze({
  rings: Object.freeze(GRAINS.map(() => Object.freeze([]))),
  streak: Object.freeze({ failures: 0, successes: 0, sinceAt: null }),
  lastErrors: Object.freeze([]),
  throughAt: null,
});

/** S14: a clock that was set back takes `throughAt` with it; one that is put right by seconds does not. */
export function noteRun(health: Health, run: EndedRun): Health {
  const { rings, streak, lastErrors, throughAt } = health;
  const { endedAt, result, error = {} } = run;
  return {
    rings: GRAINS.map((grain, at) => withRun(rings[at] ?? [], grain, run)),
    streak: result === "cancelled" ? streak : streakAfter(streak, run),
    lastErrors: isFault(result)
      ? [keptError(endedAt, { code: result, ...error }), ...lastErrors].slice(0, LAST_ERRORS)
      : lastErrors,
    throughAt: throughAt !== null && endedAt > throughAt - RUN_AHEAD_MS ? Math.max(throughAt, endedAt) : endedAt,
  };
}

function streakAfter({ failures, successes, sinceAt }: Streak, { endedAt, result }: EndedRun): Streak {
  if (isFault(result)) {
    return { failures: failures + 1, successes: 0, sinceAt: failures > 0 ? sinceAt : endedAt };
  }
  return { failures: 0, successes: successes + 1, sinceAt: successes > 0 ? sinceAt : endedAt };
}

/** After a crash: of what is on record, oldest first, what was not counted yet. */
export function noteMissing(health: Health, runs: Iterable<EndedRun>): Health {
  const { throughAt } = health;
  let counted = health;
  for (const run of runs) if (throughAt === null || run.endedAt > throughAt) counted = noteRun(counted, run);
  return counted;
}

export interface HealthWindow {
  /** What it counts ended at this instant or later: the whole stretches that the window reaches into. */
  readonly fromAt: EpochMs;
  readonly runs: number;
  readonly successes: number;
  /** Failures, time limits, and runs whose end nobody saw; what somebody cancelled is none. */
  readonly errors: number;
  /** Successful runs that said there was nothing to do. */
  readonly idle: number;
  /** Of the runs that succeeded or failed; null: there were none, which is not the same as 0. */
  readonly successRate: number | null;
  /** Right to within five per cent; null: no run has a duration. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

const [FIVE_MINUTES, HOURS, DAYS] = GRAINS;

/** A window counts in stretches of its grain: it begins up to one of these early, never late. */
export const WINDOWS = {
  "1h": { lengthMs: HOUR_MS, grain: FIVE_MINUTES },
  "4h": { lengthMs: 4 * HOUR_MS, grain: HOURS },
  "24h": { lengthMs: DAY_MS, grain: HOURS },
  "30d": { lengthMs: 30 * DAY_MS, grain: DAYS },
} as const satisfies Readonly<Record<string, { readonly lengthMs: number; readonly grain: Grain }>>;
type WindowName = keyof typeof WINDOWS;
export const WINDOW_NAMES = Object.keys(WINDOWS) as readonly WindowName[];

export interface HealthView {
  readonly windows: Readonly<Record<WindowName, HealthWindow>>;
  readonly streak: Streak;
  readonly lastErrors: readonly RunError[];
}

/** Of what has ended after the present stretch, by a clock that was set back since, nothing is told. */
export function healthAt(health: Health, now: EpochMs): HealthView {
  const { streak, lastErrors } = health;
  const windows = {
    "1h": windowAt(health, "1h", now),
    "4h": windowAt(health, "4h", now),
    "24h": windowAt(health, "24h", now),
    "30d": windowAt(health, "30d", now),
  };
  return { windows, streak, lastErrors };
}

function windowAt({ rings }: Health, name: WindowName, now: EpochMs): HealthWindow {
  const { lengthMs, grain } = WINDOWS[name];
  const ring = rings[GRAINS.indexOf(grain)] ?? [];
  const [from, to] = [indexAt(now - lengthMs, grain), indexAt(now, grain)];
  const within = ring.filter(({ index }) => index >= from && index <= to);
  const [p50Ms = null, p95Ms = null] = percentilesOf(
    within.map(({ durations }) => durations),
    [0.5, 0.95],
  );
  return { fromAt: from * grain.lengthMs, ...totalOf(within), p50Ms, p95Ms };
}

function totalOf(buckets: readonly Bucket[]): Omit<HealthWindow, "fromAt" | "p50Ms" | "p95Ms"> {
  const sum = { successes: 0, errors: 0, cancelled: 0, idle: 0 };
  for (const { counts, idle } of buckets) {
    sum.successes += counts.success;
    sum.errors += counts.failure + counts.timeout + counts.unknown;
    sum.cancelled += counts.cancelled;
    sum.idle += idle;
  }
  const { successes, errors, cancelled, idle } = sum;
  const ended = successes + errors;
  return { runs: ended + cancelled, successes, errors, idle, successRate: ended === 0 ? null : successes / ended };
}
