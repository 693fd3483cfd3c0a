/**
 * When jobs will start, computed from their definitions alone: every period is decided by the same `decide` that the
 * daemon uses. What a forecast cannot know is left out: whether a deadline passes, whether an earlier run is still
 * active, whether somebody pauses the job.
 */
import { compileRule } from "../decision/compile.js";
import { decide } from "../decision/decide.js";
import type { CompiledRule } from "../decision/model.js";
import type { JobDefinition } from "../job/definition.js";
import { dueAt } from "../period/occasion.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import { type EvenVisitor, eachOf, isPaced, type PeriodVisitor, visitPaced } from "./paced.js";
import { type ForecastStanding, heldUntil, isHinted } from "./standing.js";

export interface ForecastStart {
  readonly periodId: string;
  readonly nominalAt: EpochMs;
  readonly chosenAt: EpochMs;
  /** The chosen second, or the later one at which an older period has been handled first (S11). */
  readonly startAt: EpochMs;
}

export interface JobStarts {
  readonly identity: string;
  /** Oldest period first. Computed as it is read. */
  readonly starts: Iterable<ForecastStart>;
}

/** When the newest run of a job began; null: nobody knows. */
export type LastRuns = (identity: string) => EpochMs | null;

const UNKNOWN: LastRuns = () => null;

/**
 * Every start in `[fromAt, toAt)` of every job, in the order of the definitions. A suspended job has none (S17). Where
 * starts depend on the ones before, `lastRuns` says where a job stands.
 */
export function* forecastStarts(
  definitions: Iterable<JobDefinition>,
  fromAt: EpochMs,
  toAt: EpochMs,
  lastRuns: LastRuns = UNKNOWN,
): Generator<JobStarts> {
  for (const definition of definitions) {
    const { identity, policy } = definition;
    const starts = policy.suspend ? [] : startsOf(compileRule(definition), fromAt, toAt, lastRuns(identity));
    yield { identity, starts };
  }
}

function startsOf(
  compiled: CompiledRule,
  fromAt: EpochMs,
  toAt: EpochMs,
  lastRunAt: EpochMs | null,
): Iterable<ForecastStart> {
  const starts: ForecastStart[] = [];
  visitStarts(compiled, lastRunAt, fromAt, toAt, (nominalAt, startAt, chosenAt) => {
    if (chosenAt === null || startAt < fromAt || startAt >= toAt) return;
    starts.push({ periodId: formatInstant(nominalAt), nominalAt, chosenAt, startAt });
  });
  return starts;
}

/**
 * As `visitPeriods`, for every kind of job: a slot of an interval, or one that a bound has asked for, is visited with its
 * instant as the nominal one. `standing` is what holds a job, or stands in for its schedule; null: nobody knows of any.
 * `visitEven` is for whoever need not be told of each of them.
 */
export function visitStarts(
  compiled: CompiledRule,
  lastRunAt: EpochMs | null,
  fromAt: EpochMs,
  toAt: EpochMs,
  visit: PeriodVisitor,
  standing: ForecastStanding | null = null,
  visitEven: EvenVisitor = eachOf(visit),
): void {
  const heldUntilAt = heldUntil(standing);
  if (isPaced(compiled) || (standing !== null && isHinted(standing))) {
    visitPaced(compiled, lastRunAt, fromAt, toAt, visit, standing, visitEven);
  } else if (heldUntilAt === null) {
    visitPeriods(compiled, fromAt, toAt, visit);
  } else {
    visitPeriods(compiled, fromAt, toAt, (nominalAt, settledAt, chosenAt) => {
      if (settledAt >= heldUntilAt) visit(nominalAt, settledAt, chosenAt);
    });
  }
}

/**
 * Every period whose window touches `[fromAt, toAt)`, in nominal order. These are all that can start in it, and all
 * whose nominal time lies in it: a window holds its nominal time, and the edges of the horizon cut neither.
 *
 * S11: where a clock change makes windows overlap, the newer period waits until the older is handled. Periods before the
 * first one here are settled before `fromAt`, so that they hold up nothing that counts.
 */
function visitPeriods(compiled: CompiledRule, fromAt: EpochMs, toAt: EpochMs, visit: PeriodVisitor): void {
  const { schedule, frame, leadMs } = compiled;
  const firstAt = fromAt + leadMs - frame.spanSeconds * SECOND_MS;
  // Without a window and constraints the decision is the nominal time: no need to draw the seed of it.
  const isBare = frame.spanSeconds === 0 && leadMs === 0 && compiled.accepts === null;
  let settledAt = Number.NEGATIVE_INFINITY;
  for (let at = schedule.next(firstAt - 1); at !== null && at < toAt + leadMs; at = schedule.next(at)) {
    if (isBare) {
      visit(at, at, at);
      continue;
    }
    const decision = decide(compiled, at);
    settledAt = Math.max(settledAt, dueAt(decision));
    visit(at, settledAt, decision.chosenAt);
  }
}
