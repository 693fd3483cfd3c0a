/**
 * What must happen in time (L1-L4). Time here is the time during which the process could run and its store worked: a
 * frozen machine or a failing disk postpones a duty and does not excuse it.
 */
import type { Stamp, Trace } from "../trace.js";
import type { Lifecycle } from "./lifecycle.js";
import type { TaskBook } from "./task-book.js";
import type { Passage, TaskCauses } from "./task-causes.js";
import type { PropertyId, Report } from "./violation.js";

export interface LivenessLimits {
  /** From being owed to being started (L1), and from a call to its answer (L2, L3). */
  readonly withinMs: number;
  /** More for every task of the active list. */
  readonly perTaskMs: number;
  /** How long a scheduler may stay away from a store that failed. */
  readonly storeRetryMs: number;
}

export const DEFAULT_LIMITS: LivenessLimits = { withinMs: 60_000, perTaskMs: 6, storeRetryMs: 60_000 };

interface Interval {
  readonly from: number;
  readonly to: number;
}

function merge(intervals: readonly Interval[]): readonly Interval[] {
  const merged: Interval[] = [];
  for (const next of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && next.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
    } else merged.push(next);
  }
  return merged;
}

/** Turns running time into undisturbed time: it stands still while the store fails or is slow. */
function undisturbedTime(trace: Trace, storeRetryMs: number): (ranMs: number) => number {
  const disturbances = trace.actions.flatMap((action): Interval[] => {
    if (action.kind === "StoreFailed") return [{ from: action.ranMs, to: action.ranMs + storeRetryMs }];
    if (action.kind === "StoreSlow") return [{ from: action.began.ranMs, to: action.ranMs }];
    return [];
  });
  const merged = merge(disturbances);
  return (ranMs) => merged.reduce((time, { from, to }) => time - Math.max(0, Math.min(to, ranMs) - from), ranMs);
}

/** One duty: since when it has been neglected, in undisturbed time. */
interface Duty {
  readonly since: number;
  readonly wasReported: boolean;
}

/** Since when what is to be done has been waiting, for every duty by name. */
class Duties {
  readonly #duties = new Map<string, Duty>();

  /** Says whether the duty exists; if it does and is not new, it has been waiting all along. */
  review(name: string, exists: boolean, since: number): void {
    if (!exists) this.#duties.delete(name);
    else if (!this.#duties.has(name)) this.#duties.set(name, { since, wasReported: false });
  }

  /** Once, when the duty has been neglected for longer than `limitMs`: by how much; otherwise 0. */
  overdueMs(name: string, now: number, limitMs: number): number {
    const duty = this.#duties.get(name);
    if (duty === undefined || duty.wasReported || now - duty.since <= limitMs) return 0;
    this.#duties.set(name, { ...duty, wasReported: true });
    return now - duty.since - limitMs;
  }
}

/** Watches over the duties of a scheduler: starts that are owed, calls that want an answer. */
export class Liveness {
  readonly #duties = new Duties();
  readonly #limits: LivenessLimits;
  readonly #undisturbed: (ranMs: number) => number;
  readonly #lifecycle: Lifecycle;
  readonly #book: TaskBook;
  readonly #report: Report;

  constructor(trace: Trace, limits: LivenessLimits, lifecycle: Lifecycle, book: TaskBook, report: Report) {
    this.#limits = limits;
    this.#undisturbed = undisturbedTime(trace, limits.storeRetryMs);
    this.#lifecycle = lifecycle;
    this.#book = book;
    this.#report = report;
  }

  /** A stretch of the wall clock was passed: some tasks came to be owed a start on the way. */
  passed(passage: Passage, ranMsAt: (at: number) => number): void {
    for (const [name, causes] of this.#book.tasks) {
      if (!this.#mustStart(name)) continue;
      const owedAt = causes.firstOwedIn(passage.after, passage.upTo);
      if (owedAt === null) continue;
      this.#duties.review(`RS ${name}`, true, this.#undisturbed(ranMsAt(owedAt)));
    }
  }

  /** Time has come to `now`: what was neglected for too long? */
  check(now: Stamp): void {
    const time = this.#undisturbed(now.ranMs);
    const { active, openInits, openStops } = this.#lifecycle;
    const limitMs = this.#limits.withinMs + this.#limits.perTaskMs * (active?.names.size ?? 0);
    const overdueMs = (duty: string): number => this.#duties.overdueMs(duty, time, limitMs);
    for (const [name, causes] of this.#book.tasks) {
      const lateMs = overdueMs(`RS ${name}`);
      if (lateMs > 0) this.#neglected(causes, now.at - lateMs);
    }
    for (const call of openInits.keys()) if (overdueMs(`IS ${call}`) > 0) this.#report("L2", "initialize hangs");
    for (const call of openStops.keys()) if (overdueMs(`SS ${call}`) > 0) this.#report("L3", "stop hangs");
  }

  /** After an action: which duties are there now? */
  review(now: Stamp): void {
    const time = this.#undisturbed(now.ranMs);
    const { openInits, openStops } = this.#lifecycle;
    for (const [name, causes] of this.#book.tasks) {
      this.#duties.review(`RS ${name}`, this.#mustStart(name) && causes.isOwed(now.at), time);
    }
    for (const call of openInits.keys()) this.#duties.review(`IS ${call}`, openStops.size === 0, time);
    const mayWait = this.#book.running.size > 0 || openInits.size > 0;
    for (const call of openStops.keys()) this.#duties.review(`SS ${call}`, !mayWait, time);
  }

  #mustStart(name: string): boolean {
    return this.#lifecycle.active?.names.has(name) === true && !this.#book.running.has(name);
  }

  /** Names what is broken when a task that was owed a start did not get it by `deadlineAt`. */
  #neglected(causes: TaskCauses, deadlineAt: number): void {
    const { retry, task } = causes;
    const { name } = task;
    const { era } = this.#lifecycle;
    const periods = causes.certainPeriods(deadlineAt);
    const say = (property: PropertyId, message: string): void => this.#report(property, message, name);
    say("L1", "owed and active, and not started in time");
    const others = [...this.#book.running, ...this.#book.failing].filter((other) => other !== name);
    if (others.length > 0) say("L4", `not started while others were running or failing: ${others.join(", ")}`);
    if (periods.length > 1) say("P11", `${periods.length} occurrences are owed one start, and got none`);
    if (periods.some((period) => period.cameDuringRun)) say("P12", "an occurrence during a run was forgotten");
    if (periods.length > 0 && retry !== null && retry.untilAt > deadlineAt) say("P14", "it waits for the backoff");
    if (periods.some((period) => period.isBoot)) say("P17", "its first minute was named, and it was not run");
    if ([...periods, ...(retry === null ? [] : [retry])].some(({ cameInEra }) => cameInEra < era)) {
      say("P18", "a cause did not survive");
    }
    if (causes.orphan === "certain") say("P19", "an orphan was not restarted");
  }
}
