/**
 * Finds windows, and other salts if they may change, that flatten the fullest buckets of a horizon. Only jobs that make
 * a bucket fuller than the target are touched, each with the shortest window that promises to do. Nothing is random, and
 * the peak never rises: every single move is weighed before it is kept.
 */

import type { SchedulingRule } from "../../decision/rule.js";
import type { JobDefinition } from "../../job/definition.js";
import type { EpochMs } from "../../time/instant.js";
import type { Horizon } from "../horizon.js";
import { deadlineWith, isAsSchedulable, windowLimitMs, windowOfAtLeast, windowsNear } from "./limits.js";
import { Load, type RuleStarts, startsOfRule } from "./load.js";

/** What may be changed about a job. A window that is there keeps its mode and only becomes wider. */
export interface TuneSubject {
  readonly definition: JobDefinition;
  readonly mayChangeWindow: boolean;
  readonly mayChangeSalt: boolean;
}

export interface TuneOptions {
  /** null: as flat as makes sense. */
  readonly targetPeak: number | null;
  readonly maxWindowMs: number;
}

export interface TuneChange {
  readonly definition: JobDefinition;
  readonly rule: SchedulingRule;
  readonly deadlineMs: number;
}

export interface TunePlan {
  /** In the order of the subjects. */
  readonly changes: readonly TuneChange[];
  readonly targetPeak: number;
  readonly peakBefore: number;
  readonly peakAfter: number;
  /** The peak of what may not be changed: below it nothing can go. */
  readonly peakOfFixed: number;
  readonly countsBefore: Uint32Array;
  readonly countsAfter: Uint32Array;
}

/** Windows are widened in rounds, each time to twice what the load of a bucket asks for. */
const ROUNDS = 6;
/** Salts that are tried for one job. */
const SALTS = 8;
/** Without a target: this many times the mean load is flat enough. */
const FLAT_ENOUGH = 2;

export function tune(subjects: readonly TuneSubject[], horizon: Horizon, options: TuneOptions): TunePlan {
  const tuner = new Tuner(subjects, horizon, options);
  tuner.widen();
  tuner.reseed();
  return tuner.plan();
}

interface Movable {
  readonly subject: TuneSubject;
  readonly limitMs: number;
  rule: SchedulingRule;
  starts: RuleStarts;
  isChanged: boolean;
}

class Tuner {
  readonly #horizon: Horizon;
  readonly #load: Load;
  readonly #movables: Movable[] = [];
  readonly #before: Uint32Array;
  readonly #peakOfFixed: number;
  readonly #target: number;
  #peak: number;

  constructor(subjects: readonly TuneSubject[], horizon: Horizon, options: TuneOptions) {
    this.#horizon = horizon;
    this.#load = new Load(horizon.buckets);
    const fixed = new Load(horizon.buckets);
    for (const subject of subjects) {
      if (subject.definition.policy.suspend) continue;
      const starts = startsOfRule(subject.definition, horizon);
      this.#load.add(starts);
      const movable = movableOf(subject, starts, options);
      if (movable === null) fixed.add(starts);
      else this.#movables.push(movable);
    }
    this.#before = this.#load.counts.slice();
    this.#peak = this.#load.peak();
    this.#peakOfFixed = fixed.peak();
    this.#target = options.targetPeak ?? this.#sensibleTarget();
  }

  widen(): void {
    for (let round = 0; round < ROUNDS && this.#peak > this.#target; round++) {
      this.#eachOverfull((movable, bucket) => this.#widenOne(movable, bucket, 2 ** (round + 1)));
    }
    // A job may fall badly with one length and well with another; constraints may leave too little of a long one.
    if (this.#peak > this.#target) this.#eachOverfull((movable, bucket) => this.#widenOne(movable, bucket, null));
  }

  reseed(): void {
    if (this.#peak > this.#target) this.#eachOverfull((movable) => this.#reseedOne(movable));
  }

  plan(): TunePlan {
    const changed = this.#movables.filter(({ isChanged }) => isChanged);
    return {
      changes: changed.map(({ subject: { definition }, rule }) => {
        const isWider = rule.window.durationMs !== definition.window.durationMs;
        const deadlineMs = isWider ? deadlineWith(rule.window.durationMs, definition) : definition.policy.deadlineMs;
        return { definition, rule, deadlineMs };
      }),
      targetPeak: this.#target,
      peakBefore: this.#before.reduce((most, starts) => Math.max(most, starts), 0),
      peakAfter: this.#peak,
      peakOfFixed: this.#peakOfFixed,
      countsBefore: this.#before,
      countsAfter: this.#load.counts,
    };
  }

  #sensibleTarget(): number {
    const mean = this.#load.total / this.#horizon.buckets;
    return Math.max(1, this.#peakOfFixed, Math.ceil(FLAT_ENOUGH * mean));
  }

  /** The fullest buckets first; of each only as many jobs as are too many. */
  #eachOverfull(move: (movable: Movable, bucket: number) => boolean): void {
    const { counts } = this.#load;
    const movablesOf = this.#movablesByBucket();
    const buckets = [...movablesOf.keys()].sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
    const tried = new Set<Movable>();
    for (const bucket of buckets) {
      for (const movable of movablesOf.get(bucket) ?? []) {
        if ((counts[bucket] as number) <= this.#target) break;
        if (tried.has(movable)) continue;
        tried.add(movable);
        if (move(movable, bucket)) movable.isChanged = true;
      }
    }
    this.#peak = this.#load.peak();
  }

  /** Who may be moved out of each bucket that is too full. */
  #movablesByBucket(): ReadonlyMap<number, readonly Movable[]> {
    const found = new Map<number, Movable[]>();
    for (const movable of this.#movables) {
      for (const bucket of new Set(movable.starts.buckets)) {
        if ((this.#load.counts[bucket] as number) <= this.#target) continue;
        const known = found.get(bucket);
        if (known === undefined) found.set(bucket, [movable]);
        else known.push(movable);
      }
    }
    return found;
  }

  /** `factor` null: whatever length is flatter. */
  #widenOne(movable: Movable, bucket: number, factor: number | null): boolean {
    const { rule, limitMs } = movable;
    const neededMs = ((this.#before[bucket] as number) / this.#target) * this.#horizon.bucketMs;
    const wantedMs = windowOfAtLeast(neededMs * (factor ?? 2), limitMs);
    const mode = rule.window.durationMs === 0 ? "after" : rule.window.mode;
    return (factor === null ? windowsNear(wantedMs, limitMs) : [wantedMs])
      .filter((length) => length > rule.window.durationMs)
      .some((length) => this.#moveTo(movable, { ...rule, window: { mode, durationMs: length } }));
  }

  #reseedOne(movable: Movable): boolean {
    const { rule, subject } = movable;
    if (!subject.mayChangeSalt || rule.window.durationMs === 0) return false;
    for (let number = 1; number <= SALTS; number++) {
      if (this.#moveTo(movable, { ...rule, seed: { ...rule.seed, salt: saltOf(subject.definition, number) } }))
        return true;
    }
    return false;
  }

  #moveTo(movable: Movable, rule: SchedulingRule): boolean {
    const starts = startsOfRule(rule, this.#horizon);
    const isWorse = starts.unschedulable > movable.starts.unschedulable;
    if (isWorse || !this.#load.moveIfFlatter(movable.starts, starts, this.#peak)) return false;
    if (!isAsSchedulable(movable.starts.compiled, starts.compiled, this.#startAt())) {
      this.#load.remove(starts);
      this.#load.add(movable.starts);
      return false;
    }
    movable.rule = rule;
    movable.starts = starts;
    return true;
  }

  #startAt(): EpochMs {
    return this.#horizon.fromAt;
  }
}

/** null when there is nothing to change about it, or no room. */
function movableOf(subject: TuneSubject, starts: RuleStarts, { maxWindowMs }: TuneOptions): Movable | null {
  const { definition, mayChangeWindow, mayChangeSalt } = subject;
  const limitMs = mayChangeWindow ? windowLimitMs(definition, starts.compiled, maxWindowMs) : 0;
  const canWiden = limitMs > definition.window.durationMs;
  const canReseed = mayChangeSalt && (definition.window.durationMs > 0 || canWiden);
  if (!canWiden && !canReseed) return null;
  return { subject, limitMs, rule: ruleOf(definition), starts, isChanged: false };
}

function ruleOf(definition: JobDefinition): SchedulingRule {
  const { identity, schedule, timezone, dst, window, distribution, seed, constraints, pace } = definition;
  const rule = { identity, schedule, timezone, dst, window, distribution, seed, constraints };
  return pace === undefined ? rule : { ...rule, pace };
}

function saltOf({ seed }: JobDefinition, number: number): string {
  return seed.salt === "" ? `tune-${number}` : `${seed.salt}-${number}`;
}
