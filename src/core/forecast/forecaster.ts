/**
 * The load of a whole configuration over a horizon: two series (with windows, and what cron would do without them),
 * peaks with those who make them, groups, and on request the runs at once. Definitions are added one by one and need not
 * be kept.
 */

import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { compileRule } from "../decision/compile.js";
import type { CompiledRule } from "../decision/model.js";
import type { JobDefinition } from "../job/definition.js";
import { type EpochMs, SECOND_MS } from "../time/instant.js";
import { GroupBook, type Grouping, groupNamesOf } from "./groups.js";
import { FORECAST_LIMITS, type Horizon } from "./horizon.js";
import { JobRuns, type Overlap, RunningLoad } from "./overlap.js";
import { type EvenVisitor, isPaced, type PeriodVisitor } from "./paced.js";
import { isTooManyGroups, type Peak, Series } from "./series.js";
import { type ForecastStanding, isHinted, isPausedNow } from "./standing.js";
import { visitStarts } from "./starts.js";

interface ForecastOptions {
  readonly by: Grouping;
  /** Whether runs at once are asked for: then `add` is told how long runs take. */
  readonly hasDurations: boolean;
}

export interface GroupRow {
  readonly name: string;
  readonly jobs: number;
  readonly starts: number;
  readonly peak: Peak;
  readonly startsWithoutWindows: number;
  readonly peakWithoutWindows: Peak;
}

interface ForecastOverlap {
  readonly chosen: Overlap;
  readonly nominal: Overlap;
  /** Jobs of which it is known, or assumed, how long their runs take. */
  readonly jobs: number;
  readonly jobsWithoutDuration: number;
}

export interface Forecast {
  readonly horizon: Horizon;
  readonly by: Grouping;
  /** Suspended ones not counted. */
  readonly jobs: number;
  readonly suspended: number;
  /** Periods that find no second, by the instant at which that is recorded (S15). */
  readonly unschedulable: number;
  /** Starts at the chosen seconds. */
  readonly chosen: Series;
  /** Everybody at the nominal second, windows and constraints left aside. */
  readonly nominal: Series;
  readonly groups: number;
  readonly overlap: ForecastOverlap | null;
  /** null: no state was asked for. */
  readonly state: StateUse | null;
  /** The groups with the highest peaks first. */
  topGroups(most: number): readonly GroupRow[];
}

export interface PastRuns {
  /** How long a run of the job takes. */
  readonly durationMs: number | null;
  /** When its newest one began: where an interval counts from. */
  readonly lastRunAt: EpochMs | null;
  /** Absent: nobody asked. */
  readonly standing?: ForecastStanding | undefined;
}

/** Jobs whose state had a say. */
interface StateUse {
  readonly paused: number;
  readonly hinted: number;
  /** Intervals, and schedules with bounds, that count from a run that is on record. */
  readonly counted: number;
}

const NO_RUNS: PastRuns = { durationMs: null, lastRunAt: null };

interface RunningLoads {
  readonly chosen: RunningLoad;
  readonly nominal: RunningLoad;
}

export class Forecaster {
  readonly #horizon: Horizon;
  readonly #options: ForecastOptions;
  readonly #book = new GroupBook();
  readonly #chosen: Series;
  readonly #nominal: Series;
  readonly #running: RunningLoads | null;
  #state: StateUse | null = null;
  readonly #tally = { jobs: 0, suspended: 0, unschedulable: 0, withDuration: 0, withoutDuration: 0 };

  constructor(horizon: Horizon, options: ForecastOptions) {
    this.#horizon = horizon;
    this.#options = options;
    const isByJob = options.by === "identity";
    this.#chosen = new Series(horizon, this.#book.names, isByJob);
    this.#nominal = new Series(horizon, this.#book.names, isByJob);
    this.#running = options.hasDurations
      ? { chosen: new RunningLoad(horizon), nominal: new RunningLoad(horizon) }
      : null;
  }

  /** What is known of its runs; what nobody knows is null. */
  add(definition: JobDefinition, past: PastRuns = NO_RUNS): Problem | null {
    if (definition.policy.suspend) {
      this.#tally.suspended++;
      return null;
    }
    this.#tally.jobs++;
    const groups = this.#groupsOf(definition);
    if (this.#options.by !== "identity" && isTooManyGroups(this.#book.names.length, this.#horizon)) {
      return this.#tooManyGroups();
    }
    const compiled = compileRule(definition);
    this.#noteState(compiled, past);
    if (past.durationMs === null) this.#tally.withoutDuration++;
    else if (this.#running !== null) this.#countRuns(compiled, definition, this.#running, past, past.durationMs);
    this.#countStarts(compiled, groups, past);
    return null;
  }

  result(): Forecast {
    const groups = this.#book.names.length;
    this.#chosen.close(groups);
    this.#nominal.close(groups);
    const { jobs, suspended, unschedulable } = this.#tally;
    return {
      horizon: this.#horizon,
      by: this.#options.by,
      jobs,
      suspended,
      unschedulable,
      chosen: this.#chosen,
      nominal: this.#nominal,
      groups,
      overlap: this.#overlap(),
      state: this.#state,
      topGroups: (most) => this.#topGroups(most),
    };
  }

  #noteState(compiled: CompiledRule, { standing, lastRunAt }: PastRuns): void {
    if (standing === undefined) return;
    const { paused, hinted, counted } = this.#state ?? { paused: 0, hinted: 0, counted: 0 };
    this.#state = {
      paused: paused + (isPausedNow(standing) ? 1 : 0),
      hinted: hinted + (isHinted(standing) ? 1 : 0),
      counted: counted + (isPaced(compiled) && lastRunAt !== null ? 1 : 0),
    };
  }

  #groupsOf(definition: JobDefinition): readonly number[] {
    if (this.#options.by === "identity") return [this.#book.add(definition.identity)];
    return groupNamesOf(definition, this.#options.by).map((name) => this.#book.find(name));
  }

  #countStarts(compiled: CompiledRule, groups: readonly number[], { lastRunAt, standing }: PastRuns): void {
    const { fromAt, toAt } = this.#horizon;
    const [chosen, nominal, tally] = [this.#chosen, this.#nominal, this.#tally];
    const visit: PeriodVisitor = (nominalAt, settledAt, chosenAt) => {
      if (nominalAt >= fromAt && nominalAt < toAt) nominal.add(nominalAt, groups);
      if (settledAt < fromAt || settledAt >= toAt) return;
      if (chosenAt === null) tally.unschedulable++;
      else chosen.add(settledAt, groups);
    };
    const visitEven: EvenVisitor = (firstAt, stepMs, count) => {
      for (const series of [nominal, chosen]) series.addEven(firstAt, stepMs, count, groups);
    };
    visitStarts(compiled, lastRunAt, fromAt, toAt, visit, standing, visitEven);
    if (this.#options.by !== "identity") return;
    const [group = 0] = groups;
    chosen.closeJob(group);
    nominal.closeJob(group);
  }

  /** Begins early enough to see the runs that are at work when the horizon begins. */
  #countRuns(
    compiled: CompiledRule,
    definition: JobDefinition,
    running: RunningLoads,
    { lastRunAt, standing }: PastRuns,
    durationMs: number,
  ): void {
    const { policy, target } = definition;
    const limitMs = target.timeoutMs ?? Number.POSITIVE_INFINITY;
    const runMs = Math.min(durationMs, limitMs);
    const chosen = new JobRuns(running.chosen, policy, runMs);
    const nominal = new JobRuns(running.nominal, policy, runMs);
    const { fromAt, toAt } = this.#horizon;
    const earliestAt = fromAt - Math.ceil(runMs / SECOND_MS) * SECOND_MS;
    this.#tally.withDuration++;
    const visit: PeriodVisitor = (nominalAt, settledAt, chosenAt) => {
      if (isWithin(nominalAt, earliestAt, toAt)) nominal.start(nominalAt);
      if (chosenAt !== null && isWithin(settledAt, earliestAt, toAt)) chosen.start(settledAt);
    };
    visitStarts(compiled, lastRunAt, earliestAt, toAt, visit, standing);
    chosen.close();
    nominal.close();
  }

  #overlap(): ForecastOverlap | null {
    if (this.#running === null) return null;
    const { withDuration, withoutDuration } = this.#tally;
    return {
      chosen: this.#running.chosen.result(),
      nominal: this.#running.nominal.result(),
      jobs: withDuration,
      jobsWithoutDuration: withoutDuration,
    };
  }

  #topGroups(most: number): readonly GroupRow[] {
    const rows: GroupRow[] = this.#book.names.map((name, group) => {
      const [chosen, nominal] = [this.#chosen.loadOf(group), this.#nominal.loadOf(group)];
      return {
        name,
        jobs: this.#book.jobs[group] ?? 0,
        starts: chosen.starts,
        peak: chosen.peak,
        startsWithoutWindows: nominal.starts,
        peakWithoutWindows: nominal.peak,
      };
    });
    return rows.sort(byLoad).slice(0, most);
  }

  #tooManyGroups(): Problem {
    const { by } = this.#options;
    const message = `too many groups by ${by} for ${this.#horizon.buckets} buckets`;
    const hint = "take larger buckets or a shorter horizon";
    return { code: "limit-exceeded", message, path: [], hint };
  }
}

/** The limit of seconds that runs are counted by. */
export function checkOverlap({ fromAt, toAt }: Horizon): Result<null, Problem> {
  if ((toAt - fromAt) / SECOND_MS <= FORECAST_LIMITS.overlapSeconds) return ok(null);
  const message = `runs at once are counted over at most ${FORECAST_LIMITS.overlapSeconds} seconds`;
  return err({ code: "limit-exceeded", message, path: [], hint: "take a shorter horizon, or leave durations out" });
}

function isWithin(at: EpochMs, fromAt: EpochMs, toAt: EpochMs): boolean {
  return at >= fromAt && at < toAt;
}

function byLoad(a: GroupRow, b: GroupRow): number {
  if (a.peak.starts !== b.peak.starts) return b.peak.starts - a.peak.starts;
  if (a.starts !== b.starts) return b.starts - a.starts;
  return a.name < b.name ? -1 : 1;
}
