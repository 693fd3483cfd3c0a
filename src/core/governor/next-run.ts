/** The governor as the library offers it: an endpoint's baselines, hints and pause, and when it runs next. */
import { KronError } from "../base/errors/kron-error.js";
import { DEFAULT_DST, type Schedule } from "../cron/schedule.js";
import { scheduleOf } from "../decision/compile.js";
import type { EpochMs } from "../time/instant.js";
import { type GovernedSource, isHeld, type NextOccasion, nextOccasion } from "./governor.js";

export interface GovernedEndpoint {
  /** A cron expression; it goes before an interval. */
  readonly baselineCron?: string | null;
  /** IANA zone of the expression; UTC by default. */
  readonly timezone?: string | null;
  readonly baselineIntervalMs?: number | null;
  /** Bounds of the time from the start of one run to the next. */
  readonly minIntervalMs?: number | null;
  readonly maxIntervalMs?: number | null;
}

export interface EndpointHints<Instant = EpochMs> {
  readonly interval?: { readonly intervalMs: number; readonly expiresAt: Instant } | null;
  readonly oneshot?: { readonly nextRunAt: Instant; readonly expiresAt: Instant } | null;
}

/** Instants are epoch milliseconds, or all of them `Date` objects; null where there is none. */
export interface NextRunInput<Instant = EpochMs> {
  readonly endpoint: GovernedEndpoint;
  readonly hints: EndpointHints<Instant>;
  readonly lastRunAt: Instant | null;
  readonly createdAt: Instant | null;
  readonly pausedUntil: Instant | null;
  readonly now: Instant;
}

export type RunSource =
  | "baseline-cron"
  | "baseline-interval"
  | "ai-interval"
  | "ai-oneshot"
  | "clamped-min"
  | "clamped-max"
  | "paused";

export type NextRun<Instant = EpochMs> =
  | {
      readonly at: Instant;
      readonly source: RunSource;
      /** What it was before a bound moved it; absent when none did. */
      readonly clampedFrom?: Instant;
    }
  /** Neither baseline nor hint asks for a run. */
  | { readonly at: null; readonly source: null };

const ABOUT = { component: "governor", operation: "nextRun" } as const;
const SOURCES: Readonly<Record<GovernedSource, RunSource>> = {
  cron: "baseline-cron",
  interval: "baseline-interval",
  "hint-interval": "ai-interval",
  "hint-oneshot": "ai-oneshot",
};

/**
 * When an endpoint runs next, and why then: paused, one-shot hint, interval hint, cron, interval, in this order, within
 * the bounds of its pace. `paused` is the moment to ask again, not a run. An expression or zone that cannot be read
 * throws, but only where it is needed: not during a pause, nor while a hint decides. Asked with `Date` objects, it answers with them.
 *
 * @example
 * const endpoint = { baselineIntervalMs: 300_000, maxIntervalMs: 900_000 };
 * const now = Date.parse("2026-03-28T12:00:00Z");
 * const hints = { interval: { intervalMs: 30_000, expiresAt: now + 3_600_000 } };
 * nextRun({ endpoint, hints, lastRunAt: now, createdAt: null, pausedUntil: null, now });
 * // { at: 12:00:30, source: "ai-interval" }
 */
export function nextRun(input: NextRunInput): NextRun;
export function nextRun(input: NextRunInput<Date>): NextRun<Date>;
export function nextRun(input: NextRunInput | NextRunInput<Date>): NextRun | NextRun<Date> {
  return isOfDates(input) ? withDates(nextRunOf(inMs(input))) : nextRunOf(input);
}

function isOfDates(input: NextRunInput | NextRunInput<Date>): input is NextRunInput<Date> {
  const { now, lastRunAt, createdAt, pausedUntil } = input;
  return [now, lastRunAt, createdAt, pausedUntil].some((instant) => instant instanceof Date);
}

function inMs({ endpoint, hints, lastRunAt, createdAt, pausedUntil, now }: NextRunInput<Date>): NextRunInput {
  const { interval = null, oneshot = null } = hints;
  return {
    endpoint,
    hints: {
      interval: interval === null ? null : { ...interval, expiresAt: msOf(interval.expiresAt) },
      oneshot: oneshot === null ? null : { nextRunAt: msOf(oneshot.nextRunAt), expiresAt: msOf(oneshot.expiresAt) },
    },
    lastRunAt: lastRunAt === null ? null : msOf(lastRunAt),
    createdAt: createdAt === null ? null : msOf(createdAt),
    pausedUntil: pausedUntil === null ? null : msOf(pausedUntil),
    now: msOf(now),
  };
}

function msOf(instant: Date): EpochMs {
  const at = instant instanceof Date ? instant.getTime() : Number.NaN;
  if (Number.isNaN(at))
    throw new KronError("instant-range", "all instants are to be valid Date objects, where one is", ABOUT);
  return at;
}

function withDates(run: NextRun): NextRun<Date> {
  if (run.at === null) return run;
  const { at, source, clampedFrom } = run;
  return { at: new Date(at), source, ...(clampedFrom === undefined ? {} : { clampedFrom: new Date(clampedFrom) }) };
}

function nextRunOf(input: NextRunInput): NextRun {
  const { endpoint, hints, lastRunAt, createdAt, pausedUntil, now } = input;
  if (pausedUntil !== null && isHeld(pausedUntil, now)) return { at: pausedUntil, source: "paused" };
  const next = nextOccasion({
    everyMs: endpoint.baselineIntervalMs ?? null,
    minMs: endpoint.minIntervalMs ?? null,
    maxMs: endpoint.maxIntervalMs ?? null,
    cronNextAt: (afterAt) => cronNextAt(endpoint, afterAt, now),
    hints: { interval: hints.interval ?? null, oneshot: hints.oneshot ?? null },
    lastRunAt,
    createdAt,
    pausedUntilAt: pausedUntil,
    now,
  });
  return next === null ? { at: null, source: null } : asRun(next);
}

function asRun({ at, source, clamped, clampedFromAt }: NextOccasion): NextRun {
  if (clampedFromAt === null || clamped === null) return { at, source: SOURCES[source] };
  return { at, source: `clamped-${clamped}`, clampedFrom: clampedFromAt };
}

/** The newest time that has come and was not run; else the next. Of several that were missed there is one run (S13). */
function cronNextAt({ baselineCron, timezone }: GovernedEndpoint, afterAt: EpochMs, now: EpochMs): EpochMs | null {
  if (typeof baselineCron !== "string") return null;
  const schedule = readSchedule(baselineCron, timezone ?? "UTC");
  const dueAt = schedule.previous(now);
  return dueAt !== null && dueAt > afterAt ? dueAt : schedule.next(Math.max(afterAt, now));
}

function readSchedule(expression: string, timezone: string): Schedule {
  const schedule = scheduleOf({ schedule: expression, timezone, dst: DEFAULT_DST });
  if (schedule.ok) return schedule.value;
  const { code, message, hint } = schedule.error;
  throw new KronError(code, message, hint === undefined ? ABOUT : { ...ABOUT, hint });
}
