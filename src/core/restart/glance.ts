/**
 * A job at a glance: what a list is filtered and sorted by, without a text among it. Its status says the same at length;
 * what a job has next and how its runs went is worked out here for both. Three numbers hold a glance: that is what an index of
 * a million jobs is told of each.
 */
import { coarseLength, secondAt } from "../base/coarse.js";
import type { CompiledRule } from "../decision/model.js";
import type { JobDefinition, Policy } from "../job/definition.js";
import { isInStatuses } from "../job/status-reader.js";
import { isGoverned } from "../period/governed.js";
import type { CronOccasion, Occasion } from "../period/occasion.js";
import { FOR_GOOD_AT, isPaused, type JobStanding } from "../period/policy.js";
import { type HistoryEntry, OUTCOMES, type Outcome, type StateDocument, standingOf } from "../state/document.js";
import { isFailing, type RunResult, resultOf } from "../state/ending.js";
import { endingOf, isRun, type RunTimes, timesOf } from "../state/past-runs.js";
import { type EpochMs, floorToSecond } from "../time/instant.js";
import { aheadOf } from "./outlook.js";

/** How the runs went that a document remembers; the times are those of the newest. */
export interface Past extends RunTimes {
  /** Of the newest run that has ended; null: there is none. */
  readonly result: RunResult | null;
  /** Runs in a row, up to the newest one, that did not succeed. */
  readonly failures: number;
}

export interface Glance extends Past {
  readonly isSuspended: boolean;
  /** null: no pause holds. */
  readonly pausedUntilAt: EpochMs | null;
  readonly isRunning: boolean;
  /** Of the period that was handled last; empty: none was. */
  readonly outcome: Outcome | "";
  /** S46. */
  readonly hasStartFailure: boolean;
  /** When it starts next, as it is shown; null: nothing is planned, or a pause holds, in which case it was not looked for. */
  readonly nextAt: EpochMs | null;
  /** Whether the clock alone makes it another one when it has passed. */
  readonly isLoose: boolean;
  /**
   * Whether a start has to look at it whatever it waits for: it is told of boots (S44), has a last instant (S51) or a retry
   * (S43), which may be over long before it is due, or a pause that is over and still on record (S17).
   */
  readonly asksStarts: boolean;
}

export interface GlanceRule {
  readonly compiled: CompiledRule;
  readonly isSuspended: boolean;
  readonly isRemoved: boolean;
  readonly deadlineMs?: Policy["deadlineMs"];
  /** S51: from then on nothing of it begins by itself. Absent or null: never. */
  readonly stopAt?: EpochMs | null;
  /** The live period. */
  readonly live: CronOccasion | null;
}

export type IsExpected = (status: number) => boolean;

export function glanceOf(rule: GlanceRule, document: StateDocument, isExpected: IsExpected, now: EpochMs): Glance {
  const isRunning = document.ActiveExecution !== null;
  const { LastOutcome: outcome, History, Pause, Retry } = document;
  const { stopAt = null } = rule;
  // Nearly every job, at every step: a look at its period is enough.
  const isFree = Pause === undefined && Retry === undefined && stopAt === null;
  const isPlain = rule.live !== null && !rule.isSuspended && isFree;
  const planned = isPlain ? plainGlance(rule.live) : plannedGlance(rule, standingOf(document), now);
  const hasStartFailure = document.StartFailure !== undefined;
  return wholeGlance(planned, pastOf(History, isExpected), { isRunning, outcome, hasStartFailure });
}

type PlannedGlance = Pick<Glance, "isSuspended" | "pausedUntilAt" | "nextAt" | "isLoose" | "asksStarts">;
type StandingGlance = Pick<Glance, "isRunning" | "outcome" | "hasStartFailure">;

/** Field by field: a million of them are made at a start, and spreading objects would take longer than all the rest of it. */
export function wholeGlance(planned: PlannedGlance, past: Past, standing: StandingGlance): Glance {
  return {
    isSuspended: planned.isSuspended,
    pausedUntilAt: planned.pausedUntilAt,
    nextAt: planned.nextAt,
    isLoose: planned.isLoose,
    asksStarts: planned.asksStarts,
    result: past.result,
    failures: past.failures,
    durationMs: past.durationMs,
    lateMs: past.lateMs,
    isRunning: standing.isRunning,
    outcome: standing.outcome,
    hasStartFailure: standing.hasStartFailure,
  };
}

/** Of a period that nothing holds. */
function plainGlance(live: CronOccasion | null): PlannedGlance {
  return { isSuspended: false, pausedUntilAt: null, nextAt: shownAt(live), isLoose: false, asksStarts: false };
}

/** The part of a glance that the clock has a say in. */
export function plannedGlance(rule: GlanceRule, standing: JobStanding, now: EpochMs): PlannedGlance {
  const { isSuspended } = rule;
  const isHeld = isPaused(standing, now);
  const asksStarts = mayEndUnseen(rule, standing) || (standing.pausedUntilAt !== null && !isHeld);
  if (isHeld) return { isSuspended, pausedUntilAt: standing.pausedUntilAt, nextAt: null, isLoose: true, asksStarts };
  const { occasion, isLoose } = nextShown(rule, standing, now);
  return { isSuspended, pausedUntilAt: null, nextAt: shownAt(occasion), isLoose, asksStarts };
}

function mayEndUnseen({ compiled, stopAt = null }: GlanceRule, { pausedUntilAt, retry }: JobStanding): boolean {
  return compiled.isReboot || retry !== undefined || (stopAt !== null && pausedUntilAt !== FOR_GOOD_AT);
}

interface NextShown {
  readonly occasion: Occasion | null;
  readonly isLoose: boolean;
}

/** S51: what lies behind its end is not what it has next. */
export function nextShown(rule: GlanceRule, standing: JobStanding, now: EpochMs): NextShown {
  const shown = nextOfAll(rule, standing, now);
  const { stopAt = null } = rule;
  const isBehind = stopAt !== null && shown.occasion !== null && shown.occasion.dueAt >= stopAt;
  return isBehind ? { occasion: null, isLoose: true } : shown;
}

/** The period that is live; of a job that other things govern, what it has next as things stand. */
function nextOfAll(rule: GlanceRule, standing: JobStanding, now: EpochMs): NextShown {
  const { compiled, isSuspended, isRemoved, live } = rule;
  if (isRemoved && live === null) return { occasion: null, isLoose: false };
  // S17: what passes while it is held is not what it has next.
  const isHeld = isPaused(standing, now) || (isSuspended && live !== null && live.dueAt < now);
  if (live !== null && !isHeld) return { occasion: live, isLoose: isSuspended };
  if (!isHeld && !isGoverned(compiled, standing)) return { occasion: null, isLoose: false };
  const { deadlineMs } = rule;
  const outlook = deadlineMs === undefined ? { compiled, isSuspended } : { compiled, isSuspended, deadlineMs };
  const occasion = aheadOf(outlook, standing, now);
  return { occasion, isLoose: occasion !== null || isHeld || mayPlan(compiled, standing) };
}

/** Whether something besides a schedule plans its runs, so that there may be one later although there is none now. */
function mayPlan({ everyMs, minMs, maxMs }: CompiledRule, { hints, retry, boot }: JobStanding): boolean {
  return everyMs !== null || minMs !== null || maxMs !== null || [hints, retry, boot].some((it) => it !== undefined);
}

/** A period in which no second was found is told, and shown as nothing. */
export function shownAt(occasion: Occasion | null): EpochMs | null {
  if (occasion === null || occasion.chosenAt === null) return null;
  const { chosenAt, dueAt } = occasion;
  // An instant of its own is told as it is (S40); what was raised to the present has none.
  return dueAt === chosenAt ? dueAt : floorToSecond(dueAt);
}

export function pastOf(history: readonly HistoryEntry[], isExpected: IsExpected): Past {
  let newest: Pick<Past, "result" | "durationMs" | "lateMs"> = NEVER_RAN;
  let failures = 0;
  for (let at = history.length - 1; at >= 0; at--) {
    const entry = history[at];
    if (entry === undefined || !isRun(entry)) continue;
    const result = resultOf(endingOf(entry, isExpected));
    if (newest.result === null) newest = { result, ...timesOf(entry) };
    if (result === "success") break;
    failures += 1;
  }
  return { ...newest, failures };
}

/** Of a document that remembers no run. */
export const NEVER_RAN: Past = { result: null, failures: 0, durationMs: null, lateMs: null };

/** Which statuses of an answer the job counts as success. */
export function expectedBy({ target }: Pick<JobDefinition, "target">): IsExpected {
  return (status) => target.kind === "http" && isInStatuses(status, target.success);
}

/** Each is a whole number of 32 bits. */
export interface PackedGlance {
  /** The second it starts in next, or in which its pause ends. 0: there is none; `FAR`: that one or a later. */
  readonly second: number;
  readonly marks: number;
  /** How long the newest run took, and how late it began: 16 bits each (`coarseLength`). */
  readonly lengths: number;
}

/** In `marks`; where none of them is set, nobody has looked at the job yet. */
export const MARK = {
  seen: 1,
  suspended: 2,
  paused: 4,
  running: 8,
  loose: 16,
  failing: 32,
  asksStarts: 4_096,
} as const;
const OUTCOME_SHIFT = 6;
const OUTCOME_BITS = 7;
const RESULT_SHIFT = 9;
const FAILURES_SHIFT = 16;
const MOST_FAILURES = 0xff_ff;
const LENGTH_BITS = 16;
const LENGTH_MASK = 0xff_ff;

const RESULTS = ["success", "failure", "signal", "unknown"] as const satisfies readonly RunResult[];

export function packGlance(glance: Glance): PackedGlance {
  const { isSuspended, pausedUntilAt, isRunning, isLoose, outcome, result, failures, nextAt } = glance;
  const lengths = ((coarseLength(glance.durationMs) << LENGTH_BITS) | coarseLength(glance.lateMs)) >>> 0;
  const marks =
    MARK.seen |
    (isSuspended ? MARK.suspended : 0) |
    (pausedUntilAt === null ? 0 : MARK.paused) |
    (isRunning ? MARK.running : 0) |
    (isLoose ? MARK.loose : 0) |
    (glance.asksStarts ? MARK.asksStarts : 0) |
    (isFailing(glance) ? MARK.failing : 0) |
    ((outcome === "" ? 0 : OUTCOMES.indexOf(outcome) + 1) << OUTCOME_SHIFT) |
    ((result === null ? 0 : RESULTS.indexOf(result) + 1) << RESULT_SHIFT) |
    (Math.min(failures, MOST_FAILURES) << FAILURES_SHIFT);
  const shownFrom = pausedUntilAt ?? nextAt;
  return { second: shownFrom === null ? 0 : secondAt(shownFrom), marks: marks >>> 0, lengths };
}

export function failuresIn(marks: number): number {
  return marks >>> FAILURES_SHIFT;
}

export function durationIn(lengths: number): number {
  return lengths >>> LENGTH_BITS;
}

export function latenessIn(lengths: number): number {
  return lengths & LENGTH_MASK;
}

/** Of the period that was handled last; null: none was. */
export function outcomeIn(marks: number): Outcome | null {
  return OUTCOMES[((marks >>> OUTCOME_SHIFT) & OUTCOME_BITS) - 1] ?? null;
}
