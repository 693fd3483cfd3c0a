/**
 * How wide a window may become without harm to its job. Stricter than what a definition may say (S11), because nobody
 * asked for it:
 *
 * - at most half the smallest gap between periods, so that two runs of a job keep at least the other half apart, and a
 *   clock change does not make windows overlap;
 * - at most the job's own deadline, when it has one: its owner has said how late is too late. `window` goes along;
 * - never so that constraints leave periods unschedulable that were not, or often.
 */
import { lintWarnings } from "../../config/lint/lint.js";
import { type CompiledRule, hasPeriods } from "../../decision/model.js";
import { type JobDefinition, WINDOW_DEADLINE } from "../../job/definition.js";
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../time/instant.js";

/** Lengths that people write. */
const LADDER_MS: readonly number[] = [
  10 * SECOND_MS,
  30 * SECOND_MS,
  ...[1, 2, 5, 10, 15, 20, 30, 45].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 8, 12, 24, 48, 168, 336, 744].map((hours) => hours * HOUR_MS),
];

/** The longest length that people write within all bounds; 0 when there is no room, and where there are no periods. */
export function windowLimitMs(definition: JobDefinition, compiled: CompiledRule, maxWindowMs: number): number {
  if (!hasPeriods(compiled)) return 0;
  const halfGapMs = compiled.schedule.smallestGapMs / 2;
  return writtenWithin(Math.min(maxWindowMs, halfGapMs, deadlineBoundMs(definition)), maxWindowMs);
}

/** Whether without its deadline the job could be given a wider window than with it. */
export function isLimitedByDeadline(definition: JobDefinition, compiled: CompiledRule, maxWindowMs: number): boolean {
  if (!hasPeriods(compiled)) return false;
  const freeMs = Math.min(maxWindowMs, compiled.schedule.smallestGapMs / 2);
  return windowLimitMs(definition, compiled, maxWindowMs) < writtenWithin(freeMs, maxWindowMs);
}

function deadlineBoundMs({ policy: { deadlineMs } }: JobDefinition): number {
  return deadlineMs === 0 || deadlineMs === WINDOW_DEADLINE ? Number.POSITIVE_INFINITY : deadlineMs;
}

function writtenWithin(boundMs: number, maxWindowMs: number): number {
  const written = LADDER_MS.filter((length) => length <= boundMs).at(-1) ?? 0;
  // What the user names is a length that people write.
  return boundMs === maxWindowMs && boundMs % SECOND_MS === 0 ? boundMs : written;
}

/** The shortest written length that is at least this, within the limit. */
export function windowOfAtLeast(wantedMs: number, limitMs: number): number {
  return Math.min(LADDER_MS.find((length) => length >= wantedMs) ?? limitMs, limitMs);
}

/** Every written length within the limit, the nearest to the wanted one first. */
export function windowsNear(wantedMs: number, limitMs: number): readonly number[] {
  const all = [...LADDER_MS.filter((length) => length < limitMs), limitMs];
  return all.sort((a, b) => Math.abs(a - wantedMs) - Math.abs(b - wantedMs) || b - a);
}

/** Whether constraints and window go together no worse than before: as `lint` judges it, over the days to come. */
export function isAsSchedulable(before: CompiledRule, after: CompiledRule, at: EpochMs): boolean {
  if (after.accepts === null) return true;
  const told = new Set(lintWarnings([before], at).map(({ kind }) => kind));
  return lintWarnings([after], at).every(({ kind }) => told.has(kind));
}
