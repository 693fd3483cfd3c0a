/**
 * Everything that is live of one identity, as one value: its job, its live period, its attempts. A resting job is only
 * its document and an entry in the timeline; when it is due, an activation is made of both, and afterwards dropped again.
 */
import type { CompiledRule } from "../core/decision/model.js";
import type { Policy } from "../core/job/definition.js";
import { nextHintEndAt } from "../core/period/governed.js";
import { type ActiveState, activeStates, hintsOf, holderOf, type StateDocument } from "../core/state/document.js";
import { retryField } from "../core/state/facts.js";
import { type EpochMs, instantOrNull } from "../core/time/instant.js";
import { resolve } from "./advance.js";
import { ENGINE, type Engine } from "./engine.js";
import { type ExecutionSnapshot, executionMachine } from "./execution.machine.js";
import { type JobSnapshot, jobSnapshotOf } from "./job.machine.js";
import type { PeriodSnapshot } from "./period.machine.js";

/** The definition in force, as far as it matters for what is triggered. */
export interface JobScope {
  readonly compiled: CompiledRule;
  readonly policy: Policy;
  readonly timeoutMs: number | null;
  readonly startGraceMs: number;
  readonly killGraceMs: number;
  readonly historyLimit: number;
}

export interface Attempt {
  readonly execution: ExecutionSnapshot;
  /** The period that this attempt has claimed; null before the claim, for slots, and for adopted runs. */
  readonly period: PeriodSnapshot | null;
}

/** S11: the older period that went before. One that was due before it had to wait until it made way. */
export interface Elder {
  /** When it was due; or, where it had waited itself, until when. */
  readonly dueAt: EpochMs;
  readonly madeWayAt: EpochMs;
}

/** S18: a period whose decision could not be computed. */
export interface Undecided {
  readonly nominalAt: EpochMs;
  readonly elder: Elder | null;
  readonly failures: number;
  readonly retryAt: EpochMs;
}

export interface Activation {
  readonly job: JobSnapshot;
  /** The first period that is not handled; null when there is none, or when none was planned yet. */
  readonly period: PeriodSnapshot | null;
  readonly undecided: Undecided | null;
  readonly attempts: readonly Attempt[];
  /** The last period that was handled or passed over in this activation: the next one follows it (S13). */
  readonly passedAt: EpochMs | null;
  /**
   * S13: time was lost while the live period was being started or retried. Once that is settled, only the period that is
   * current then is evaluated, not the ones in between.
   */
  readonly mustReturn: boolean;
  /** Last period of the gap that was noted last, so that it is noted once for as long as it does not grow. */
  readonly notedGapAt: EpochMs | null;
}

/** From the durable document alone: every activation is a recovery. What ran is to be adopted before anything else. */
export function activate(document: StateDocument, scope: JobScope, engine: Engine = ENGINE): Activation {
  const { historyLimit, policy } = scope;
  return {
    job: jobSnapshotOf({ document, historyLimit, isSuspended: policy.suspend }, engine.job),
    period: null,
    undecided: null,
    attempts: activeStates(document).map((active) => ({ execution: adopted(active, scope), period: null })),
    passedAt: null,
    mustReturn: false,
    notedGapAt: null,
  };
}

export function documentOfActivation({ job }: Activation): StateDocument {
  return job.context.document;
}

/** Nothing is under way: the document and the next instant are all there is to keep. */
export function isResting({ period, attempts }: Activation): boolean {
  return attempts.length === 0 && (period === null || period.matches("planned"));
}

/** The nominal time to come back with; null when there is none left. */
export function liveNominalAt({ period, undecided }: Activation): EpochMs | null {
  const occasion = period?.context.occasion;
  return (occasion?.source === "cron" ? occasion.slotAt : undecided?.nominalAt) ?? null;
}

/** The next instant at which the clock alone changes something; null: only an event does. */
export function nextWakeAt(activation: Activation, successorDueAt: EpochMs | null): EpochMs | null {
  const hintEndAt = nextHintEndAt(hintsOf(documentOfActivation(activation)));
  const instants = [periodWakeAt(activation, successorDueAt), activation.undecided?.retryAt ?? null, hintEndAt];
  for (const { execution } of activation.attempts) {
    instants.push(execution.matches("running") ? execution.context.timeoutAt : null);
  }
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function periodWakeAt(activation: Activation, successorDueAt: EpochMs | null): EpochMs | null {
  const { job, period } = activation;
  if (period === null || job.matches({ standing: "suspended" })) {
    return null;
  }
  if (waitsForRun(activation)) {
    return wantedUntilAt(period);
  }
  const pausedUntilAt = pauseEndAt(job);
  if (period.matches({ eligible: "retrying" })) {
    const endsAt = [period.context.retryAt, successorDueAt, wantedUntilAt(period)].filter((at) => at !== null);
    return Math.min(...endsAt);
  }
  const isWaiting = period.matches("planned") || period.matches({ eligible: "judging" });
  return isWaiting ? Math.max(period.context.occasion.dueAt, pausedUntilAt) : null;
}

/** S43: from then on it is not wanted any more; null: always. */
export function wantedUntilAt({ context: { occasion } }: PeriodSnapshot): EpochMs | null {
  return occasion.source === "cron" ? null : (occasion.untilAt ?? null);
}

/** S41: a slot that is due beside a run: the end of the run is told, and the clock changes nothing until then. */
function waitsForRun({ period, attempts }: Activation): boolean {
  const verdict = period?.context.verdict;
  const isBusy = verdict?.kind === "nothing" && verdict.reason === "busy";
  return isBusy && period?.matches({ eligible: "judging" }) === true && attempts.length > 0;
}

function pauseEndAt(job: JobSnapshot): EpochMs {
  return instantOrNull(job.context.document.Pause?.Until) ?? Number.NEGATIVE_INFINITY;
}

/** S29: the process was started by an earlier daemon, so its gate is long behind it or closed. */
function adopted(active: ActiveState, scope: JobScope): ExecutionSnapshot {
  const startedAt = instantOrNull(active.StartedAt);
  return resolve(executionMachine, {
    value: { running: active.Confirmed === true ? "confirmed" : "released" },
    context: {
      attempt: {
        attemptId: attemptIdOf(active),
        source: active.Source ?? null,
        periodId: active.PeriodID,
        slotAt: instantOrNull(active.PeriodID) ?? 0,
        chosenAt: instantOrNull(active.ChosenTime) ?? 0,
        ...retryField(active),
      },
      startByAt: 0,
      killGraceMs: scope.killGraceMs,
      timeoutMs: scope.timeoutMs,
      holder: holderOf(active),
      timeoutAt: startedAt === null || scope.timeoutMs === null ? null : startedAt + scope.timeoutMs,
      endReason: null,
      ending: null,
    },
  });
}

/** A document of another implementation may name no attempt: period and process name it as well. */
function attemptIdOf(active: ActiveState): string {
  return active.AttemptID ?? `${active.Source ?? "period"}:${active.PeriodID}:${active.PID}`;
}
