/**
 * An activation while one step of it is being taken: tells the charts what happened, and routes what they ask of each
 * other. What is left over are the effects that leave the activation. It lives for one step and is seen by nothing else.
 */
import type { ErrorCode } from "../core/base/errors/registry.js";
import type { LostTime } from "../core/period/cause.js";
import { isOwnSource, type OccasionSource, recordedSource } from "../core/period/occasion.js";
import type { PeriodGap } from "../core/period/periods.js";
import type { ActiveRun, RunKey } from "../core/period/policy.js";
import { activeRuns, isSameRun, type StateDocument, standingOf } from "../core/state/document.js";
import type { Ending } from "../core/state/ending.js";
import type { Closing } from "../core/state/period-transitions.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Activation, Attempt, Elder, JobScope, Undecided } from "./activation.js";
import { advance, begin } from "./advance.js";
import type { AttemptParams, Effect, OutwardEffect } from "./effects.js";
import type { Engine } from "./engine.js";
import type { ExecutionSnapshot } from "./execution.machine.js";
import { type ExecutionEvent, runKeyOf } from "./execution-logic.js";
import { type JobSnapshot, jobSnapshotOf } from "./job.machine.js";
import type { JobEvent } from "./job-logic.js";
import type { PeriodSnapshot } from "./period.machine.js";
import type { PeriodContext, PeriodEvent } from "./period-logic.js";

/** A gate that was made ahead of its second, for exactly this period or slot (S23). */
export interface GateAhead {
  readonly attemptId: string;
  /** null for a period of the job's own schedule. */
  readonly source: string | null;
  readonly periodId: string;
}

/** What a step may know of the outside: one instant, the gate that waits, and ids that were never used before. */
export interface Moment {
  readonly now: EpochMs;
  /** The attempt that it was made for takes its id, and no other one does. */
  readonly gate: GateAhead | null;
  /** When nobody could look, and why; oldest first. Absent: never. */
  readonly lost?: readonly LostTime[];
  /**
   * S16: the job has not been told the definition in force yet, or that it is gone: what happened is put on record, and
   * nothing is begun for it. Absent: it has.
   */
  readonly isUntold?: boolean;
  /** Of the attempt at this period or slot. */
  freshId(of: Pick<AttemptParams, "source" | "periodId">): string;
}

/** What came to its end in a step, as it was then: the activation holds none of it any more. */
export interface Ended {
  /** With the end of the period that each one has claimed. */
  readonly attempts: readonly Attempt[];
  /** Periods that were never claimed. */
  readonly periods: readonly EndedPeriod[];
}

export interface EndedPeriod {
  readonly period: PeriodSnapshot;
  /** null: it was given up, or passed over, without an outcome. */
  readonly closing: Closing | null;
}

export class Draft {
  readonly engine: Engine;
  readonly scope: JobScope;
  readonly moment: Moment;
  readonly outward: OutwardEffect[] = [];
  readonly #endedAttempts: Attempt[] = [];
  readonly #endedPeriods: EndedPeriod[] = [];
  job: JobSnapshot;
  period: PeriodSnapshot | null;
  undecided: Undecided | null;
  attempts: readonly Attempt[];
  passedAt: EpochMs | null;
  mustReturn: boolean;
  notedGapAt: EpochMs | null;
  /** S11: the period that was passed last in this step. */
  elder: Elder | null = null;
  /** A start failed in this step, and why; the live period is open again. */
  failure: ErrorCode | null = null;
  /** The clock came for what was waited for: what it has missed by then, it has missed because the clock came late. */
  isAwaited = false;
  #pausedTime: LostTime | null = null;
  #pauseCatchesUp = false;

  constructor(engine: Engine, scope: JobScope, moment: Moment, from: Activation) {
    this.engine = engine;
    this.scope = scope;
    this.moment = moment;
    this.job = from.job;
    this.period = from.period;
    this.undecided = from.undecided;
    this.attempts = from.attempts;
    this.passedAt = from.passedAt;
    this.mustReturn = from.mustReturn;
    this.notedGapAt = from.notedGapAt;
  }

  get document(): StateDocument {
    return this.job.context.document;
  }

  /**
   * What runs, as the policy is to see it. For `replace` that includes runs which ended but whose tree is not verified gone
   * (S25): their record is closed, yet nothing may start beside them.
   */
  get active(): readonly ActiveRun[] {
    const onRecord = activeRuns(this.document);
    if (this.scope.policy.concurrency !== "replace") {
      return onRecord;
    }
    const lingering = this.attempts.filter(({ execution }) => execution.matches("terminating"));
    const runs = lingering.map(({ execution: { context } }) => ({
      ...runKeyOf(context),
      slotAt: context.attempt.slotAt,
    }));
    return [...onRecord, ...runs.filter((run) => !onRecord.some((known) => isSameRun(known, run)))];
  }

  /** When nobody could look. */
  get lost(): readonly LostTime[] {
    const { lost = [] } = this.moment;
    return this.#pausedTime === null ? lost : [...lost, this.#pausedTime];
  }

  /** The same for a gap, by when it ended: what a pause has passed over for good is told with the end of the pause (S17). */
  get lostToGap(): readonly LostTime[] {
    const { lost = [] } = this.moment;
    return this.#pauseCatchesUp ? this.lost.toSorted((one, other) => one.untilAt - other.untilAt) : lost;
  }

  /** S17: a pause ends in this step. */
  notePause(untilAt: EpochMs): void {
    const { pausedFromAt = null, catchesUp } = standingOf(this.document);
    if (pausedFromAt === null) return;
    this.#pausedTime = { cause: "paused", fromAt: pausedFromAt, untilAt };
    this.#pauseCatchesUp = catchesUp === true;
  }

  /** It is told: once for as long as it does not grow. */
  noteGap(gap: PeriodGap | null): void {
    if (gap !== null) this.notedGapAt = Math.max(gap.lastAt, this.notedGapAt ?? gap.lastAt);
  }

  result(): Activation {
    const { job, period, undecided, attempts, passedAt, mustReturn, notedGapAt } = this;
    return { job, period, undecided, attempts, passedAt, mustReturn, notedGapAt };
  }

  /** A period that is live again by now has not ended. */
  get ended(): Ended {
    const periods = this.#endedPeriods.filter(({ period }) => !this.#holds(period.context.occasion.periodId));
    return { attempts: this.#endedAttempts, periods };
  }

  tellJob(event: JobEvent): void {
    const { snapshot, effects } = advance(this.engine.job, this.job, event);
    this.job = snapshot;
    this.#route(effects, null);
  }

  /** Somebody else has written the document: this one takes the place of what the job knew. */
  reread(document: StateDocument): void {
    const { historyLimit, policy } = this.scope;
    this.job = jobSnapshotOf({ document, historyLimit, isSuspended: policy.suspend }, this.engine.job);
  }

  tellPeriod(event: PeriodEvent): void {
    if (this.period !== null) {
      const { snapshot, effects } = advance(this.engine.period, this.period, event);
      this.period = snapshot;
      this.#route(effects, null);
    }
  }

  /** A report about an attempt that is over changes nothing. */
  tellAttempt(attemptId: string, event: ExecutionEvent): void {
    const attempt = this.attempt(attemptId);
    if (attempt !== undefined) {
      const { snapshot, effects } = advance(this.engine.execution, attempt.execution, event);
      this.#replace({ ...attempt, execution: snapshot });
      this.#route(effects, attemptId);
      if (snapshot.matches("ended")) {
        this.#endedAttempts.push(...this.attempts.filter((other) => idOf(other) === attemptId));
        this.attempts = this.attempts.filter((other) => idOf(other) !== attemptId);
      }
    }
  }

  /** The period behind a claimed attempt goes on with it: running, then completed. */
  tellClaimedPeriod(attemptId: string, event: PeriodEvent): void {
    const attempt = this.attempt(attemptId);
    if (attempt !== undefined && attempt.period !== null) {
      this.#replace({ ...attempt, period: advance(this.engine.period, attempt.period, event).snapshot });
    }
  }

  attempt(attemptId: string): Attempt | undefined {
    return this.attempts.find((attempt) => idOf(attempt) === attemptId);
  }

  /** A new attempt, whose gate is being made. */
  arm(params: Omit<AttemptParams, "attemptId">, startByAt: EpochMs): void {
    const { killGraceMs, timeoutMs } = this.scope;
    const attempt = { ...params, attemptId: this.#attemptIdFor(params) };
    const { snapshot, effects } = begin(this.engine.execution, { attempt, startByAt, killGraceMs, timeoutMs });
    this.attempts = [...this.attempts, { execution: snapshot, period: null }];
    this.#route(effects, attempt.attemptId);
  }

  /** The live period is handled, or passed over, or given up. */
  leave(closing: Closing | null): void {
    if (this.period !== null) {
      this.#endedPeriods.push({ period: this.period, closing });
      this.period = null;
    }
  }

  /** The live period was handled, or needs no outcome: the next one follows it. */
  pass({ occasion, heldUntilAt }: PeriodContext, closing: Closing | null): void {
    if (occasion.source === "cron") {
      const elderDueAt = Math.max(occasion.dueAt, heldUntilAt ?? Number.NEGATIVE_INFINITY);
      this.elder = { dueAt: elderDueAt, madeWayAt: this.moment.now };
      this.passedAt = occasion.slotAt;
    }
    this.leave(closing);
  }

  /** The claim goes into the transaction: from here on the period belongs to its attempt. */
  handOver(attemptId: string, period: PeriodSnapshot): void {
    const attempt = this.attempt(attemptId);
    if (attempt !== undefined) {
      this.#replace({ ...attempt, period });
    }
    this.pass(period.context, null);
  }

  #holds(periodId: string): boolean {
    const claimed = this.attempts.map(({ period }) => period);
    return [this.period, ...claimed].some((period) => period?.context.occasion.periodId === periodId);
  }

  #attemptIdFor({ source, periodId }: Omit<AttemptParams, "attemptId">): string {
    const { gate } = this.moment;
    const isAhead = gate !== null && gate.source === source && gate.periodId === periodId;
    return isAhead ? gate.attemptId : this.moment.freshId({ source, periodId });
  }

  #replace(changed: Attempt): void {
    this.attempts = this.attempts.map((attempt) => (idOf(attempt) === idOf(changed) ? changed : attempt));
  }

  #route(effects: readonly Effect[], attemptId: string | null): void {
    for (const effect of effects) {
      this.#routeOne(effect, attemptId ?? "");
    }
  }

  #routeOne(effect: Effect, attemptId: string): void {
    switch (effect.type) {
      case "startAttempt":
        this.#startLive(effect.params.startByAt);
        return;
      case "endVictims":
        this.#endVictims(effect.params.victims);
        return;
      case "settle":
        this.#settle(effect.params.closing);
        return;
      case "recordStart":
        this.#recordStart(attemptId);
        return;
      case "recordEnd":
        this.#recordEnd(attemptId, effect.params.ending);
        return;
      case "refuse":
        if (this.#isForLive(attemptId)) this.failure = effect.params.code;
        return;
      case "persist":
        // Without a fact nothing changed: a repeated report costs no transaction.
        if (effect.params.facts.length > 0) {
          this.outward.push(effect);
        }
        return;
      default:
        this.outward.push(effect);
    }
  }

  #isForLive(attemptId: string): boolean {
    const attempt = this.attempt(attemptId)?.execution.context.attempt;
    return attempt !== undefined && isOwnSource(attempt.source);
  }

  #startLive(startByAt: EpochMs): void {
    const occasion = this.period?.context.occasion;
    if (occasion === undefined || occasion.chosenAt === null) {
      throw new Error("invariant broken: an attempt without an occasion that can be started");
    }
    const { source, periodId, slotAt, chosenAt } = occasion;
    this.arm({ source: recordedSource(source), periodId, slotAt, chosenAt, ...this.#followed(source) }, startByAt);
  }

  /** S43: what a further attempt is one of. */
  #followed(source: OccasionSource): Pick<AttemptParams, "retry"> {
    const { Retry } = this.document;
    return source !== "retry" || Retry === undefined
      ? {}
      : { retry: { periodId: Retry.PeriodID, attempt: Retry.Attempt } };
  }

  #endVictims(victims: readonly RunKey[]): void {
    for (const attempt of this.attempts) {
      const run = runKeyOf(attempt.execution.context);
      if (victims.some((victim) => isSameRun(victim, run))) {
        this.tellAttempt(idOf(attempt), { type: "END", reason: "replaced" });
      }
    }
  }

  #settle(closing: Closing): void {
    const context = this.period?.context;
    if (context === undefined) return;
    const { occasion } = context;
    const { now } = this.moment;
    if (occasion.decision === null) this.tellJob({ type: "CLOSE_SLOT", slot: occasion, closing, now });
    else this.tellJob({ type: "CLOSE", decision: occasion.decision, closing, now });
    this.pass(context, closing);
  }

  #recordStart(attemptId: string): void {
    const execution = this.attempt(attemptId)?.execution;
    if (execution !== undefined) {
      this.tellJob({ type: "RUN_CONFIRMED", run: runKeyOf(execution.context) });
    }
  }

  #recordEnd(attemptId: string, ending: Ending): void {
    const execution = this.attempt(attemptId)?.execution;
    if (execution !== undefined) {
      const retry = this.scope.policy.retry ?? null;
      const { compiled } = this.scope;
      this.tellJob({
        type: "RUN_ENDED",
        run: runKeyOf(execution.context),
        ending,
        retry,
        compiled,
        stop: this.scope.policy.stop,
        now: this.moment.now,
      });
      this.tellClaimedPeriod(attemptId, { type: "COMPLETED", ending });
    }
  }
}

export function idOf({ execution }: Pick<Attempt, "execution">): string {
  return execution.context.attempt.attemptId;
}

/** Nothing of it is on record yet, so that it may still be given up without a trace. */
export function isUnclaimed(execution: ExecutionSnapshot): boolean {
  return execution.matches("arming") || execution.matches({ gated: "waiting" });
}
