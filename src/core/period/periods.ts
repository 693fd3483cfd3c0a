/**
 * Which period of a schedule is to be handled (S10-S14). Pure arithmetic on nominal times: it reads no state document
 * and judges no deadline. Every answer costs the same after a gap of a minute as after a gap of ten years (S13).
 */
import type { CompiledRule } from "../decision/model.js";
import { type EpochMs, SECOND_MS } from "../time/instant.js";

/** S12: handled means at or before. Equality alone would run a period twice after a backward clock step. */
export function isHandled(lastHandledAt: EpochMs | null, nominalAt: EpochMs): boolean {
  return lastHandledAt !== null && nominalAt <= lastHandledAt;
}

/** S10: the greatest nominal time whose window has opened; null before the first. */
export function currentPeriod(compiled: CompiledRule, now: EpochMs): EpochMs | null {
  return compiled.schedule.previous(now + compiled.leadMs);
}

/** The nominal time that follows; null when the schedule has none left. */
export function nextPeriod(compiled: CompiledRule, afterNominalAt: EpochMs): EpochMs | null {
  return compiled.schedule.next(afterNominalAt);
}

/** S15: when the period's window opens, which is when it becomes current and when `unschedulable` is recorded. */
export function openingAt(compiled: CompiledRule, nominalAt: EpochMs): EpochMs {
  return nominalAt - compiled.leadMs;
}

/** When the period's window ends, the last instant included. */
export function closingAt(compiled: CompiledRule, nominalAt: EpochMs): EpochMs {
  return openingAt(compiled, nominalAt) + compiled.frame.spanSeconds * SECOND_MS;
}

/** What is known of a job when its next period is looked for. */
interface PeriodMarks {
  /** `LastHandledPeriodID` as an instant; null: nothing was handled yet. */
  readonly lastHandledAt: EpochMs | null;
  /** S14: first sight, or the last change of the scheduling rule; null: not known. */
  readonly definedAt: EpochMs | null;
  /** S17, S41: what was due before was passed over, and told. Absent or null: nothing was. */
  readonly evaluatesFromAt?: EpochMs | null;
  /** What lies before the period that was current then was told already. Absent or null: nothing was. */
  readonly sinceAt?: EpochMs | null;
}

/**
 * Periods that get no outcome because nobody was there (S13). `count` is exact up to `countedPeriods` and a lower bound
 * beyond it: counting all of a long gap would cost by its length.
 */
export interface PeriodGap {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly count: number;
  readonly isCountExact: boolean;
}

interface PeriodPlan {
  /** The period to evaluate now or to wait for; null when the schedule has none left. */
  readonly liveAt: EpochMs | null;
  readonly gap: PeriodGap | null;
  /** S32: the clock is behind what was handled. Nothing runs until it has caught up; worth a warning. */
  readonly isStateAhead: boolean;
}

/** How far a gap is counted when it is noticed. */
export const COUNTED_PERIODS = 32;

/**
 * S13, returning: after a boot, a resume, a clock jump or a late wake only the current period is evaluated. The ones
 * between the last handled and the current one get no invented outcome; they are the gap.
 */
export function planOnReturn(compiled: CompiledRule, marks: PeriodMarks, now: EpochMs): PeriodPlan {
  const { lastHandledAt } = marks;
  const openedAt = now + compiled.leadMs;
  const isStateAhead = lastHandledAt !== null && lastHandledAt > openedAt;
  const currentAt = currentPeriod(compiled, now);
  if (currentAt === null || isHandled(lastHandledAt, currentAt)) {
    const liveAt = nextPeriod(compiled, Math.max(openedAt, lastHandledAt ?? openedAt));
    return { liveAt, gap: null, isStateAhead };
  }
  return { liveAt: currentAt, gap: gapBefore(compiled, marks, currentAt), isStateAhead };
}

/**
 * S13, running: the period that follows one that is handled or was passed over. Without a jump nothing is skipped, so
 * periods that become due in one tick are met one after the other, in nominal order.
 */
export function planAfter(compiled: CompiledRule, marks: PeriodMarks, passedAt: EpochMs): EpochMs | null {
  return nextPeriod(compiled, Math.max(passedAt, marks.lastHandledAt ?? passedAt));
}

/** The unhandled periods before `currentAt`, leaving out those whose whole window lies before the definition (S14). */
export function gapBefore(compiled: CompiledRule, marks: PeriodMarks, currentAt: EpochMs): PeriodGap | null {
  const bornAt = latest(bornAfter(compiled, marks.definedAt), bornAfter(compiled, marks.evaluatesFromAt ?? null));
  const afterAt = latest(latest(marks.lastHandledAt, bornAt), toldUpTo(compiled, marks.sinceAt ?? null));
  const firstAt = afterAt === null ? null : nextPeriod(compiled, afterAt);
  if (firstAt === null || firstAt >= currentAt) {
    return null;
  }
  const lastAt = compiled.schedule.previous(currentAt - 1) ?? firstAt;
  return { firstAt, lastAt, ...boundedCount(compiled, firstAt, lastAt) };
}

/** Nominal times up to here had their whole window before the definition. */
function bornAfter(compiled: CompiledRule, definedAt: EpochMs | null): EpochMs | null {
  return definedAt === null ? null : definedAt - closingAt(compiled, 0) - 1;
}

function toldUpTo(compiled: CompiledRule, sinceAt: EpochMs | null): EpochMs | null {
  const currentAt = sinceAt === null ? null : currentPeriod(compiled, sinceAt);
  return currentAt === null ? null : currentAt - 1;
}

function latest(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function boundedCount(
  compiled: CompiledRule,
  firstAt: EpochMs,
  lastAt: EpochMs,
): Pick<PeriodGap, "count" | "isCountExact"> {
  let count = 1;
  let at = firstAt;
  while (at < lastAt && count < COUNTED_PERIODS) {
    at = nextPeriod(compiled, at) ?? lastAt;
    count += 1;
  }
  return { count, isCountExact: at >= lastAt };
}
