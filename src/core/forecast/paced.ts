/**
 * Starts of a job where each one depends on the one before: an interval, or a cron schedule with bounds on its pace. The
 * governor says what is next, as it does for the daemon; every run is taken to begin when it is due.
 */
import { decide } from "../decision/decide.js";
import type { CompiledRule, Decision } from "../decision/model.js";
import { type HintsInForce, type NextOccasion, nextOccasion } from "../governor/governor.js";
import { dueAt } from "../period/occasion.js";
import { type EpochMs, SECOND_MS } from "../time/instant.js";
import { type ForecastStanding, heldUntil, hintedUntil, isHinted, isPausedNow, NO_HINTS } from "./standing.js";

/** Told of one period; `chosenAt` is null when it is unschedulable, and `settledAt` is then when that is recorded (S15). */
export type PeriodVisitor = (nominalAt: EpochMs, settledAt: EpochMs, chosenAt: EpochMs | null) => void;

export function isPaced({ everyMs, minMs, maxMs }: CompiledRule): boolean {
  return everyMs !== null || minMs !== null || maxMs !== null;
}

/** Told of starts that are one step apart each: the first of them, and how many. Their instants are their nominal times. */
export type EvenVisitor = (firstAt: EpochMs, stepMs: number, count: number) => void;

/** One by one. */
export function eachOf(visit: PeriodVisitor): EvenVisitor {
  return (firstAt, stepMs, count) => {
    for (let at = firstAt, left = count; left > 0; at += stepMs, left--) visit(at, at, at);
  };
}

/**
 * `lastRunAt` is where the job stands: the start of its newest run. null: nobody knows; then an interval is taken to be
 * due when the horizon begins, and a cron schedule to have run at the last time before it. A pause and hints that are in
 * force hold for as long as they say, and a one-shot is used up by its run. Starts that are one step apart are told of together:
 * an interval of a second has as many of them in a year as there are seconds.
 */
export function visitPaced(
  compiled: CompiledRule,
  lastRunAt: EpochMs | null,
  fromAt: EpochMs,
  toAt: EpochMs,
  visit: PeriodVisitor,
  standing: ForecastStanding | null = null,
  visitEven: EvenVisitor = eachOf(visit),
): void {
  for (const { nominalAt, at, stepMs, count } of pacedStrides(compiled, lastRunAt, fromAt, visit, standing)) {
    if (at >= toAt) return;
    if (count === 1) visit(nominalAt, at, at);
    else visitEven(at, stepMs, Math.min(count, Math.ceil((toAt - at) / stepMs)));
  }
}

interface PacedStart {
  /** Of a period its nominal time, of a slot its instant. */
  readonly nominalAt: EpochMs;
  readonly at: EpochMs;
}

/** It, and those that follow it one step apart each. */
interface Stride extends PacedStart {
  readonly stepMs: number;
  /** Infinity: no end is in sight. */
  readonly count: number;
}

/** Every start from an instant on. `visit` is told of periods without a second. */
export function* pacedStarts(
  compiled: CompiledRule,
  lastRunAt: EpochMs | null,
  fromAt: EpochMs,
  visit: PeriodVisitor,
  standing: ForecastStanding | null = null,
): Generator<PacedStart> {
  for (const { nominalAt, at, stepMs, count } of pacedStrides(compiled, lastRunAt, fromAt, visit, standing)) {
    yield { nominalAt, at };
    for (let index = 1; index < count; index++) yield { nominalAt: at + index * stepMs, at: at + index * stepMs };
  }
}

function* pacedStrides(
  compiled: CompiledRule,
  lastRunAt: EpochMs | null,
  fromAt: EpochMs,
  visit: PeriodVisitor,
  standing: ForecastStanding | null,
): Generator<Stride> {
  const cron = new CronPeriods(compiled, visit);
  const isBound = standing !== null && (isHinted(standing) || isPausedNow(standing));
  const notBeforeAt = standing === null || !isBound ? null : Math.max(standing.asOfAt, heldUntil(standing) ?? 0);
  let hints = isBound ? standing.hints : NO_HINTS;
  let ranAt = isBound ? lastRunAt : ranBefore(compiled, cron, lastRunAt, fromAt);
  for (;;) {
    const next = nextOf({ compiled, cron, ranAt, beforeAt: fromAt - 1, notBeforeAt, hints });
    if (next === null) return;
    const { slotAt, at, source, clamped } = next.occasion;
    const period = source === "cron" && clamped !== "max" ? next.period() : null;
    const { stepMs, count } = evenFrom(next.occasion, ranAt, hints);
    const skipped = at >= fromAt ? 0 : Math.min(count, Math.ceil((fromAt - at) / stepMs));
    const firstAt = at + skipped * stepMs;
    if (skipped < count) {
      const nominalAt = skipped === 0 ? (period?.nominalAt ?? slotAt) : firstAt;
      yield { nominalAt, at: firstAt, stepMs, count: count - skipped };
    }
    if (count === Number.POSITIVE_INFINITY) return;
    if (source === "hint-oneshot") hints = { ...hints, oneshot: null };
    ranAt = at + (count - 1) * stepMs;
  }
}

const ALONE = { stepMs: 1, count: 1 } as const;

/**
 * How many starts follow each other at the distance of this one from the run before, where nothing but the pace has a say: what
 * is due after a pause, and behind its hints, is due when nothing holds it any more.
 */
function evenFrom(
  { slotAt, at, source, clamped, clampedFromAt }: NextOccasion,
  ranAt: EpochMs | null,
  hints: HintsInForce,
): Pick<Stride, "stepMs" | "count"> {
  const stepMs = ranAt === null ? 0 : at - ranAt;
  if (ranAt === null || at !== slotAt || stepMs <= 0) return ALONE;
  if (source === "interval") return { stepMs, count: Number.POSITIVE_INFINITY };
  if (source === "hint-interval") return { stepMs, count: hintedFrom(at, stepMs, hints) };
  if (source !== "cron" || clamped !== "max" || clampedFromAt === null) return ALONE;
  // Up to the period that comes by itself.
  return { stepMs, count: Math.max(1, Math.ceil((clampedFromAt - ranAt) / stepMs) - 1) };
}

/** Until the hint is over; for as long as there is a one-shot beside it, it is looked again each time. */
function hintedFrom(at: EpochMs, stepMs: number, { interval, oneshot }: HintsInForce): number {
  if (interval === null || (oneshot !== null && oneshot.expiresAt > at)) return 1;
  return Math.max(1, Math.ceil((interval.expiresAt - at) / stepMs));
}

function ranBefore(
  compiled: CompiledRule,
  cron: CronPeriods,
  lastRunAt: EpochMs | null,
  fromAt: EpochMs,
): EpochMs | null {
  return compiled.everyMs === null ? (lastRunAt ?? cron.dueBefore(fromAt)) : phaseBefore(compiled, lastRunAt, fromAt);
}

interface Asked {
  readonly compiled: CompiledRule;
  readonly cron: CronPeriods;
  readonly ranAt: EpochMs | null;
  readonly beforeAt: EpochMs;
  /** The end of a pause, and the instant as of which hints are known; null: neither has a say. */
  readonly notBeforeAt: EpochMs | null;
  readonly hints: HintsInForce;
}

interface Next {
  readonly occasion: NextOccasion;
  /** Of a cron schedule: the period that is due. */
  readonly period: () => Decision | null;
}

function nextOf({ compiled, cron, ranAt, beforeAt, notBeforeAt, hints }: Asked): Next | null {
  const { everyMs, minMs, maxMs } = compiled;
  // What would have been due long ago is due where the job stands.
  const now = Math.max(ranAt ?? notBeforeAt ?? beforeAt, notBeforeAt ?? Number.NEGATIVE_INFINITY);
  // Periods that pass while a hint stands in for the schedule, or in a pause, are not made up for.
  const silentUntilAt = Math.max(notBeforeAt ?? Number.NEGATIVE_INFINITY, hintedUntil(hints, now) ?? 0);
  const period = (): Decision | null => cron.next(Math.max(ranAt ?? beforeAt, silentUntilAt - 1));
  const occasion = nextOccasion({
    everyMs,
    minMs,
    maxMs,
    cronNextAt: () => {
      const due = period();
      return due === null ? null : dueAt(due);
    },
    hints,
    lastRunAt: ranAt,
    createdAt: null,
    pausedUntilAt: null,
    now,
  });
  return occasion === null ? null : { occasion, period };
}

/** The last start before the horizon, in whole intervals from where the job stands. */
function phaseBefore(compiled: CompiledRule, lastRunAt: EpochMs | null, fromAt: EpochMs): EpochMs {
  const { everyMs, minMs, maxMs } = compiled;
  const stepMs = Math.max(Math.min(everyMs ?? 0, maxMs ?? Number.POSITIVE_INFINITY), minMs ?? 0);
  if (lastRunAt === null || lastRunAt >= fromAt) return lastRunAt ?? fromAt - stepMs;
  return lastRunAt + Math.floor((fromAt - 1 - lastRunAt) / stepMs) * stepMs;
}

/** The periods of a cron schedule that find a second, met in order of their nominal times. */
class CronPeriods {
  readonly #compiled: CompiledRule;
  readonly #visit: PeriodVisitor;
  #period: Decision | null = null;

  constructor(compiled: CompiledRule, visit: PeriodVisitor) {
    this.#compiled = compiled;
    this.#visit = visit;
  }

  /** When the last one before `at` was due. */
  dueBefore(at: EpochMs): EpochMs | null {
    const { schedule, leadMs } = this.#compiled;
    let nominalAt = schedule.previous(at + leadMs);
    for (let looked = 0; looked < PERIODS_LOOKED_AT && nominalAt !== null; looked++) {
      const { chosenAt } = decide(this.#compiled, nominalAt);
      if (chosenAt !== null && chosenAt < at) return chosenAt;
      nominalAt = schedule.previous(nominalAt - 1);
    }
    return null;
  }

  /** The first that is due after a run; null: there is none left. Those without a second are told of on the way. */
  next(afterAt: EpochMs): Decision | null {
    const { schedule, frame } = this.#compiled;
    const spanMs = frame.spanSeconds * SECOND_MS;
    let period = this.#period;
    while (period === null || period.chosenAt === null || period.chosenAt <= afterAt) {
      const nominalAt = schedule.next(period?.nominalAt ?? afterAt - spanMs - 1);
      if (nominalAt === null) return null;
      period = decide(this.#compiled, nominalAt);
      if (period.chosenAt === null) this.#visit(nominalAt, dueAt(period), null);
    }
    this.#period = period;
    return period;
  }
}

/** Constraints may leave many periods in a row without a second. */
const PERIODS_LOOKED_AT = 1000;
