/**
 * Warnings about configurations that are valid but will disappoint: constraints that leave nothing of a window, or so
 * little that some periods find no second, and many jobs without a window on one second. Decisions being what they are,
 * most of this is not guessed but computed ahead. The cost is bounded by the constants below, whatever the schedules.
 */

import { LIMITS } from "../../base/limits.js";
import { compileRule } from "../../decision/compile.js";
import { grainMsOf } from "../../decision/constraints.js";
import { decide } from "../../decision/decide.js";
import type { CompiledRule } from "../../decision/model.js";
import type { Clause } from "../../decision/rule.js";
import { clampUnit } from "../../decision/sampler.js";
import { candidateSecond } from "../../decision/window.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../../time/instant.js";
import { calendarsOver } from "./calendars-over.js";
import { hotSpots } from "./hot-spots.js";
import { oneTimes } from "./one-times.js";
import { LINT_HORIZON_MS, type LintWarning } from "./warning.js";

export type { LintWarning } from "./warning.js";

/** Of a job with more periods than this the next half as many are examined, and as many spread over the horizon. */
export const LINT_PERIODS_PER_JOB = 2000;
/** Over all jobs: beyond, each job gets a share, but never fewer than the minimum. */
const LINT_PERIODS = 2_000_000;
const LINT_MIN_PERIODS_PER_JOB = 8;
/** Moments of windows that are looked at to tell whether a window is excluded as a whole, for one job. */
const LINT_MOMENTS_PER_JOB = 500_000;
/** Fewer accepted candidates than this and a period finds none in 64 attempts more than once in thirty. */
const LINT_RARE_ACCEPTANCE = 0.05;
/** Draws that stand for all, evenly spread, for each of the first few windows that are not excluded. */
const LINT_DRAWS_PER_WINDOW = 128;
const LINT_WINDOWS_SAMPLED = 2;

export function lintWarnings(jobs: readonly CompiledRule[], at: EpochMs): readonly LintWarning[] {
  const constrained = jobs.filter((job) => job.accepts !== null);
  const share = Math.floor(LINT_PERIODS / Math.max(1, constrained.length));
  const periods = Math.min(LINT_PERIODS_PER_JOB, Math.max(LINT_MIN_PERIODS_PER_JOB, share));
  return [
    ...constrained.flatMap((job) => constraintWarnings(job, at, periods)),
    ...calendarsOver(jobs, at),
    ...oneTimes(jobs, at),
    ...hotSpots(jobs, at),
  ];
}

interface Tally {
  periods: number;
  /** Shares of the draws that were accepted, for the windows sampled. */
  readonly shares: number[];
  readonly excluded: EpochMs[];
  /** Excluded by calendars alone: that is what calendars are for. */
  readonly off: EpochMs[];
  readonly unlucky: EpochMs[];
}

function constraintWarnings(job: CompiledRule, at: EpochMs, maxPeriods: number): LintWarning[] {
  const tally: Tally = { periods: 0, shares: [], excluded: [], off: [], unlucky: [] };
  const relaxed = withoutCalendars(job);
  let moments = LINT_MOMENTS_PER_JOB;
  for (const nominalAt of periodsAhead(job, at, maxPeriods)) {
    const { chosenAt, windowStartAt, windowEndAt } = decide(job, nominalAt);
    tally.periods++;
    if (chosenAt === null) {
      const scan = scanWindow(job, windowStartAt, windowEndAt, moments);
      moments -= scan.looked;
      if (!scan.isExcluded) tally.unlucky.push(nominalAt);
      else {
        const isOff = relaxed !== null && !scanWindow(relaxed, windowStartAt, windowEndAt, moments).isExcluded;
        (isOff ? tally.off : tally.excluded).push(nominalAt);
        continue;
      }
    }
    if (tally.shares.length < LINT_WINDOWS_SAMPLED) tally.shares.push(acceptedShare(job, windowStartAt));
  }
  return [...exclusionWarning(job.rule.identity, tally), ...rarityWarning(job.rule.identity, tally)];
}

/** null: there are none in its constraints. */
function withoutCalendars({ rule }: CompiledRule): CompiledRule | null {
  const { only, avoid } = rule.constraints;
  const isOther = ({ kind }: Clause): boolean => kind !== "calendar";
  if (only.every(isOther) && avoid.every(isOther)) return null;
  return compileRule({ ...rule, constraints: { only: only.filter(isOther), avoid: avoid.filter(isOther) } });
}

/** How much of what the distribution draws the constraints let through. */
function acceptedShare({ sample, frame, accepts }: CompiledRule, windowStartAt: EpochMs): number {
  let accepted = 0;
  for (let i = 0; i < LINT_DRAWS_PER_WINDOW; i++) {
    const x = clampUnit(sample((i + 0.5) / LINT_DRAWS_PER_WINDOW));
    if (accepts?.(windowStartAt + candidateSecond(x, frame.spanSeconds) * SECOND_MS) === true) accepted++;
  }
  return accepted / LINT_DRAWS_PER_WINDOW;
}

function exclusionWarning(identity: string, { periods, excluded, off }: Tally): LintWarning[] {
  const isAlways = excluded.length + off.length === periods;
  const firstAt = isAlways ? Math.min(excluded[0] ?? Infinity, off[0] ?? Infinity) : excluded[0];
  if (firstAt === undefined || periods === 0) return [];
  const message = `the constraints exclude the whole window in ${excludedPeriods(isAlways ? periods : excluded.length, periods, firstAt)} will be unschedulable`;
  const hint = isAlways
    ? "as it stands this job never runs"
    : "if that is not meant, let the schedule name the days and hours, or widen the window";
  return [{ kind: "window-excluded", identities: [identity], message, hint }];
}

function excludedPeriods(excluded: number, periods: number, firstAt: EpochMs): string {
  const at = formatInstant(firstAt);
  if (periods === 1) return `the only period examined, at ${at}: it`;
  return `${excluded === periods ? "all" : `${excluded} of`} ${periods} periods examined, the first at ${at}: these`;
}

function rarityWarning(identity: string, { periods, shares, unlucky }: Tally): LintWarning[] {
  const [firstAt] = unlucky;
  if (firstAt === undefined && !shares.some((share) => share < LINT_RARE_ACCEPTANCE)) return [];
  const counted =
    firstAt === undefined
      ? ""
      : `; ${unlucky.length} of ${periods} ${periods === 1 ? "period" : "periods"} examined, the first at ${formatInstant(firstAt)}, will be unschedulable`;
  const message = `the constraints leave so little of the window that ${LIMITS.samplingAttempts} attempts may not find it${counted}`;
  return [
    { kind: "often-unschedulable", identities: [identity], message, hint: "make the window fit what is allowed" },
  ];
}

/** An irrational stride: whatever the rhythm of a schedule, samples do not fall into step with it. */
const GOLDEN = 0.618_033_988_749_894_9;

/** Nominal times after `at`, oldest first: all within the horizon, or the next ones and a sample of the others. */
export function* periodsAhead({ schedule }: CompiledRule, at: EpochMs, max: number): Generator<EpochMs> {
  const endAt = at + LINT_HORIZON_MS;
  let nominalAt = schedule.next(at);
  const all: EpochMs[] = [];
  for (; nominalAt !== null && nominalAt <= endAt && all.length <= max; nominalAt = schedule.next(nominalAt)) {
    all.push(nominalAt);
  }
  if (all.length <= max) {
    yield* all;
    return;
  }
  const near = all.slice(0, Math.ceil(max / 2));
  yield* near;
  let lastAt = near.at(-1) ?? at;
  const strideMs = (endAt - lastAt) / Math.max(1, max - near.length);
  const startAt = lastAt;
  for (let i = 0; i < max - near.length; i++) {
    const sampleAt = startAt + Math.floor((i + ((i * GOLDEN) % 1)) * strideMs);
    const next = schedule.next(Math.max(lastAt, sampleAt));
    if (next === null || next > endAt) return;
    lastAt = next;
    yield next;
  }
}

/** Whether no second of the window is accepted. What the budget does not reach is not called excluded. */
function scanWindow(
  job: CompiledRule,
  startAt: EpochMs,
  endAt: EpochMs,
  budget: number,
): { readonly isExcluded: boolean; readonly looked: number } {
  const stepMs = grainMsOf(job.rule.constraints);
  let looked = 0;
  for (let at = startAt; at <= endAt; at = Math.floor(at / stepMs) * stepMs + stepMs) {
    if (looked >= budget || job.accepts === null || job.accepts(at)) return { isExcluded: false, looked };
    looked++;
  }
  return { isExcluded: true, looked };
}
