/**
 * Why one task may and must run, as latches. Everything is kept twice, because a trace does not show all a scheduler
 * knows: what is *possible* explains a start (safety), what is *certain* must lead to one (liveness).
 */

import type { TraceTask } from "../trace.js";
import { floorToMinute, namedMinutes } from "./civil-minutes.js";

const MINUTE_MS = 60_000;

/** Bounds of an instant that a trace does not show exactly. */
interface WallRange {
  readonly lowAt: number;
  readonly highAt: number;
}

/** Between its call and its answer an initialisation looked at the clock: then the wall clock read `lowAt` to `highAt`. */
export interface InitWindow extends WallRange {
  readonly isZoneSteady: boolean;
}

/** A stretch of the wall clock that was passed through, in the zone then in force. */
export interface Passage {
  readonly after: number;
  readonly upTo: number;
  readonly timeZone: string;
}

interface PendingPeriod {
  readonly at: number;
  readonly isCertain: boolean;
  /** It came while the task was running (P12). */
  readonly cameDuringRun: boolean;
  /** It is the minute in which the task was first seen (P17). */
  readonly isBoot: boolean;
  /** The number of successful initialisations when it came (P18). */
  readonly cameInEra: number;
}

interface PendingRetry {
  readonly untilAt: number;
  readonly isReached: boolean;
  readonly isCertain: boolean;
  readonly cameInEra: number;
}

type Orphan = "no" | "possible" | "certain";

/** What one start used up: the evidence against the next one. */
export interface StartRecord {
  readonly at: number;
  readonly era: number;
  readonly periods: readonly PendingPeriod[];
  readonly retry: PendingRetry | null;
  readonly orphan: Orphan;
  /** The due period this start serves; a retry serves that of the run it repeats. */
  readonly period: number | null;
  hasSucceeded: boolean;
}

export class TaskCauses {
  task: TraceTask;
  isKnown = false;
  periods: PendingPeriod[] = [];
  retry: PendingRetry | null = null;
  orphan: Orphan = "no";
  lastStart: StartRecord | null = null;
  /** It had something owed, or waited for a retry, when a list without it was successful (P16). */
  lostCauses = false;
  /** The era in which it was last seen for the first time. */
  seenInEra = 0;
  /** Occurrences before it are never owed, or possibly not. */
  #since: WallRange = { lowAt: Number.POSITIVE_INFINITY, highAt: Number.POSITIVE_INFINITY };
  /** Occurrences up to it are used up, certainly or possibly. */
  #usedUp: WallRange = { lowAt: Number.NEGATIVE_INFINITY, highAt: Number.NEGATIVE_INFINITY };
  /** What initialisations of unknown outcome may have written: expression → first sight. */
  #doubts = new Map<string, WallRange>();
  #mayBeForgotten = false;

  constructor(task: TraceTask) {
    this.task = task;
  }

  /** May this task start now? Causes are latches: what was once owed explains a start until the next start. */
  isExplained(): boolean {
    return this.periods.length > 0 || this.retry?.isReached === true || this.orphan !== "no";
  }

  /** Must this task start now? Decided from the wall clock as it reads now. */
  isOwed(now: number): boolean {
    const isRetryOwed = this.retry?.isCertain === true && this.retry.untilAt <= now;
    return this.orphan === "certain" || isRetryOwed || this.certainPeriods(now).length > 0;
  }

  certainPeriods(now: number): readonly PendingPeriod[] {
    return this.periods.filter((period) => period.isCertain && period.at <= now);
  }

  /** The first moment of a passage at which the task is certainly owed. Call after `pass`. */
  firstOwedIn(after: number, upTo: number): number | null {
    const dues = this.periods.filter((period) => period.isCertain).map((period) => period.at);
    const retries = this.retry?.isCertain === true ? [this.retry.untilAt] : [];
    const within = [...dues, ...retries].filter((at) => at > after && at <= upTo);
    return within.length === 0 ? null : Math.min(...within);
  }

  /** The wall clock passes through a stretch; returns what came due: the environment's actions. */
  pass(passage: Passage, isRunning: boolean, era: number): { due: readonly number[]; retryDue: number | null } {
    if (!this.isKnown && this.#since.lowAt === Number.POSITIVE_INFINITY) return { due: [], retryDue: null };
    const due = namedMinutes(this.task.cron, passage.timeZone, passage.after, passage.upTo);
    for (const at of due) this.#addPeriod(at, true, isRunning, era);
    return { due, retryDue: this.#reachRetry(passage.upTo) };
  }

  /**
   * After a change of zone the current minute, and the recent past, may be read in the new zone as well; and an old
   * occurrence is certain only if both zones name it.
   */
  changeZone(timeZone: string, now: number, era: number): void {
    const from = Math.max(this.#usedUp.lowAt, this.#since.lowAt - 1);
    const named = new Set(from < now ? namedMinutes(this.task.cron, timeZone, from, now) : []);
    this.periods = this.periods.map((period) => ({ ...period, isCertain: period.isCertain && named.has(period.at) }));
    for (const at of named) this.#addPeriod(at, false, false, era);
    this.periods.sort((a, b) => a.at - b.at);
  }

  started(lowAt: number, highAt: number, era: number): StartRecord {
    const usedUp = this.periods.filter((period) => period.at <= highAt);
    const period = usedUp.at(-1)?.at ?? this.lastStart?.period ?? null;
    const { retry, orphan } = this;
    const start: StartRecord = { at: highAt, era, periods: usedUp, retry, orphan, period, hasSucceeded: false };
    this.periods = this.periods
      .filter(({ at }) => at > lowAt && at <= highAt)
      .map((late) => ({ ...late, isCertain: false }));
    this.#usedUp = { lowAt: Math.max(this.#usedUp.lowAt, lowAt), highAt: Math.max(this.#usedUp.highAt, highAt) };
    this.retry = null;
    this.orphan = "no";
    this.lostCauses = false;
    this.lastStart = start;
    return start;
  }

  failed(now: number, cameInEra: number): void {
    this.retry = { untilAt: now + this.task.retryDelayMs, isReached: false, isCertain: true, cameInEra };
    this.#reachRetry(now);
  }

  /** The process died, or let go of the store, before the end of the last run was durable. */
  endWasLost(): void {
    if (this.orphan === "no") this.orphan = "possible";
    if (this.retry !== null) this.retry = { ...this.retry, isCertain: false };
  }

  wasCutOff(): void {
    this.orphan = "certain";
  }

  /** What was cut off may have ended, well or badly, after its process was taken for dead. */
  mayHaveEnded(): void {
    if (this.orphan === "certain") this.orphan = "possible";
  }

  /** It was owed a start when the process died, or the store failed: a claim may be durable without a run. */
  mayBeClaimed(now: number): void {
    if (!this.isExplained()) return;
    if (this.orphan === "no") this.orphan = "possible";
    this.#usedUp = { ...this.#usedUp, highAt: Math.max(this.#usedUp.highAt, now) };
  }

  /** A successful list contains the task. */
  listed(task: TraceTask, when: InitWindow, passages: readonly Passage[], timeZone: string, era: number): void {
    const isDoubtful = this.#doubts.size > 0 || this.#mayBeForgotten;
    if (!this.isKnown) this.#firstSight(when, isDoubtful, era);
    else if (isDoubtful) this.#resolveDoubts(task, when);
    else if (task.cron !== this.task.cron) this.#since = sinceOf(when);
    const isSame = this.isKnown && !isDoubtful && task.cron === this.task.cron;
    this.isKnown = true;
    this.task = task;
    this.#doubts = new Map();
    this.#mayBeForgotten = false;
    if (!isSame) this.#rebuildPeriods(when, passages, timeZone, era);
  }

  /** A successful list does not contain the task: its causes are forgotten (P16). */
  forget(): void {
    this.lostCauses ||= this.isKnown && (this.isExplained() || this.retry !== null);
    this.isKnown = false;
    this.periods = [];
    this.retry = null;
    this.orphan = "no";
    this.#since = { lowAt: Number.POSITIVE_INFINITY, highAt: Number.POSITIVE_INFINITY };
    this.#doubts = new Map();
    this.#mayBeForgotten = false;
  }

  /** An initialisation ended without an answer: it may or may not have taken effect. */
  maybeListed(task: TraceTask, when: InitWindow): void {
    const since = sinceOf(when);
    if (!this.isKnown) {
      this.task = task;
      this.#since = { lowAt: Math.min(this.#since.lowAt, since.lowAt), highAt: Number.POSITIVE_INFINITY };
    }
    if (!this.isKnown || task.cron !== this.task.cron) {
      this.#doubts.set(task.cron, span([since, this.#doubts.get(task.cron) ?? since]));
    }
  }

  maybeForgotten(): void {
    this.#mayBeForgotten = true;
    if (this.orphan === "certain") this.orphan = "possible";
    if (this.retry !== null) this.retry = { ...this.retry, isCertain: false };
    this.periods = this.periods.map((period) => ({ ...period, isCertain: false }));
  }

  #firstSight(when: InitWindow, isDoubtful: boolean, era: number): void {
    const { lowAt, highAt } = span([sinceOf(when), ...this.#doubts.values()]);
    this.#since = { lowAt, highAt: isDoubtful ? highAt + MINUTE_MS : highAt };
    this.seenInEra = era;
    // A run in this very minute counts for a task that was removed and added again; older history is forgotten.
    const lastAt = this.lastStart?.at ?? Number.NEGATIVE_INFINITY;
    const isThisMinute = lastAt >= lowAt && lastAt < highAt + MINUTE_MS;
    this.#usedUp = { ...this.#usedUp, lowAt: isThisMinute ? lastAt : Number.NEGATIVE_INFINITY };
    if (this.lostCauses) this.#since = { ...this.#since, highAt: highAt + MINUTE_MS };
  }

  #resolveDoubts(task: TraceTask, when: InitWindow): void {
    const possible = [sinceOf(when)];
    if (task.cron === this.task.cron) possible.push(this.#since);
    const doubted = this.#doubts.get(task.cron);
    if (doubted !== undefined) possible.push(doubted);
    const { lowAt, highAt } = span(possible);
    this.#since = { lowAt, highAt: highAt + MINUTE_MS };
  }

  #rebuildPeriods(when: InitWindow, passages: readonly Passage[], timeZone: string, era: number): void {
    this.periods = [];
    const { lowAt } = this.#since;
    for (const passage of passages) {
      const after = Math.max(passage.after, lowAt - 1);
      if (after >= passage.upTo) continue;
      for (const at of namedMinutes(this.task.cron, passage.timeZone, after, passage.upTo)) {
        this.#addPeriod(at, passage.timeZone === timeZone, false, era, at >= sinceOf(when).lowAt);
      }
      if (passage.timeZone === timeZone) continue;
      for (const at of namedMinutes(this.task.cron, timeZone, after, passage.upTo)) {
        this.#addPeriod(at, false, false, era);
      }
    }
    // The civil minute of the first sight is read in the zone in force now, even if that is newer than the minute.
    const { lowAt: bootAt } = sinceOf(when);
    for (const at of namedMinutes(this.task.cron, timeZone, bootAt - 1, when.highAt)) {
      this.#addPeriod(at, true, false, era, true);
    }
    this.periods.sort((a, b) => a.at - b.at);
  }

  #addPeriod(at: number, mayBeCertain: boolean, cameDuringRun: boolean, cameInEra: number, isBoot = false): void {
    if (at <= this.#usedUp.lowAt || at < this.#since.lowAt) return;
    const last = this.periods.at(-1);
    if (last !== undefined && at <= last.at && this.periods.some((period) => period.at === at)) return;
    const isCertain = mayBeCertain && at > this.#usedUp.highAt && at >= this.#since.highAt;
    this.periods.push({ at, isCertain, cameDuringRun, isBoot, cameInEra });
  }

  #reachRetry(now: number): number | null {
    if (this.retry === null || this.retry.isReached || this.retry.untilAt > now) return null;
    this.retry = { ...this.retry, isReached: true };
    return this.retry.untilAt;
  }
}

function span(ranges: readonly WallRange[]): WallRange {
  return {
    lowAt: Math.min(...ranges.map((range) => range.lowAt)),
    highAt: Math.max(...ranges.map((range) => range.highAt)),
  };
}

/** Nothing before the minute of first sight, or of a change of the expression, is ever owed. */
function sinceOf(when: InitWindow): WallRange {
  const doubtMs = when.isZoneSteady ? 0 : MINUTE_MS;
  return { lowAt: floorToMinute(when.lowAt), highAt: floorToMinute(when.highAt) + doubtMs };
}
