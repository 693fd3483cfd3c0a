/**
 * The status of a KronJob is its state document: what was handled, what is claimed, since when the definition stands.
 * Transitions are pure, each gives the whole next status; whether it becomes true decides the API server, by the
 * resourceVersion that the write carries.
 */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import type { Decision } from "../core/decision/model.js";
import { isHandled } from "../core/period/periods.js";
import type { ActiveRun, JobStanding } from "../core/period/policy.js";
import { type EpochMs, formatInstant, formatSecond, parseInstant } from "../core/time/instant.js";
import { ANNOTATION } from "./identity.js";
import type { JobView } from "./job-view.js";
import type { ActiveJob, HistoryItem, KronJob, KronJobStatus } from "./kube/types.js";
import { OPERATOR_LIMITS } from "./limits.js";
import type { RunResult } from "./plan/news.js";
import { oddField } from "./status-shape.js";

export const MANUAL = "manual";

/** S12, S14, S17: what the core wants to know. Fails when the status holds what the operator never wrote (S32). */
export function standingOf(kronJob: KronJob, status: KronJobStatus, now: EpochMs): Result<JobStanding, Problem> {
  const lastHandled = instant(status.lastPeriodID, "lastPeriodID");
  const defined = instant(status.definedAt, "definedAt");
  const carried = instant(status.carriedPeriodID, "carriedPeriodID");
  for (const read of [lastHandled, defined, carried]) if (!read.ok) return read;
  const odd = oddField(status);
  if (odd !== null) return err(odd);
  const definedAt = valueIn(defined);
  return ok({
    lastHandledAt: valueIn(lastHandled),
    // S14: a clock that ran ahead silences nothing.
    definedAt: definedAt === null ? null : Math.min(definedAt, now),
    carriedAt: valueIn(carried),
    pausedUntilAt: pausedUntilAt(kronJob),
  });
}

/** S17: written by people; what cannot be read does not pause. */
export function pausedUntilAt({ metadata }: KronJob): EpochMs | null {
  const until = parseInstant(metadata.annotations?.[ANNOTATION.pauseUntil] ?? "");
  return until.ok ? until.value : null;
}

/** Newest first, as the policy wants them. A uid is no process id, but tells runs apart just as well. */
export function activeRuns(status: KronJobStatus): readonly ActiveRun[] {
  return [...(status.active ?? [])].reverse().map(({ periodID, source }) => ({
    attemptId: null,
    source: source ?? null,
    periodId: periodID,
    pid: 0,
    slotAt: instantOf(periodID),
  }));
}

/** The uid of the Job is the proof: it is written together with the outcome, or nothing is. */
export function claimed(
  status: KronJobStatus,
  decision: Decision,
  job: JobView,
  startByAt: EpochMs,
  now: EpochMs,
): KronJobStatus {
  const entry = entryOf(job, decision.periodId, decision.chosenAt ?? decision.nominalAt, startByAt, now);
  return withActive({ ...handled(status, decision, "executed", null), lastStartTime: formatSecond(now) }, [
    ...(status.active ?? []),
    entry,
  ]);
}

/** S40: counts as active, handles nothing. */
export function claimedSlot(
  status: KronJobStatus,
  slotAt: EpochMs,
  job: JobView,
  startByAt: EpochMs,
  now: EpochMs,
): KronJobStatus {
  const slot = formatInstant(slotAt);
  const entry = { ...entryOf(job, slot, slotAt, startByAt, now), source: MANUAL };
  const next = { ...status, lastSlot: { ...status.lastSlot, [MANUAL]: slot }, lastStartTime: formatSecond(now) };
  return withActive(next, [...(status.active ?? []), entry]);
}

/** Skipped, missed, unschedulable: nothing was started, and what runs goes on (S22). */
export function closed(
  status: KronJobStatus,
  decision: Decision,
  outcome: "skipped" | "missed" | "unschedulable",
  reason: string,
  now: EpochMs,
): KronJobStatus {
  const next = handled(status, decision, outcome, reason);
  return withHistory(next, {
    periodID: decision.periodId,
    outcome,
    reason,
    ...(decision.chosenAt === null ? {} : { chosenTime: formatInstant(decision.chosenAt) }),
    completedAt: formatSecond(now),
  });
}

export interface Ended {
  readonly result: RunResult;
  readonly reason: string | null;
  /** As the API server says it; null: nobody saw it. */
  readonly at: string | null;
}

/** Only the entry of exactly this Job is cleared. */
export function completed(status: KronJobStatus, run: ActiveJob, ended: Ended, now: EpochMs): KronJobStatus {
  const rest = (status.active ?? []).filter(({ uid }) => uid !== run.uid);
  const completedAt = ended.at ?? formatSecond(now);
  const next = withHistory(withActive(status, rest), {
    periodID: run.periodID,
    outcome: "executed",
    ...(ended.reason === null ? {} : { reason: ended.reason }),
    chosenTime: run.chosenTime,
    startedAt: run.startedAt,
    completedAt,
    result: ended.result,
    job: run.name,
    ...(run.source === undefined ? {} : { source: run.source }),
  });
  return ended.result === "Succeeded" ? { ...next, lastSuccessfulTime: completedAt } : next;
}

/**
 * S14: the definition in force, and since when. The first spec of a KronJob stands since its creation, whenever it is seen;
 * one that takes the place of a spec that could not be read stands from now on.
 */
export function defined({ metadata }: KronJob, status: KronJobStatus, ruleHash: string, now: EpochMs): KronJobStatus {
  if (status.definitionHash === ruleHash) return status;
  const { carriedPeriodID: _, ...rest } = status;
  const isFirst = status.definitionHash === undefined;
  const carried = isFirst ? null : carriedPeriod(status, now);
  const isUnchanged = isFirst && (metadata.generation ?? 1) === 1;
  return {
    ...rest,
    definedAt: isUnchanged ? (metadata.creationTimestamp ?? formatSecond(now)) : formatSecond(now),
    definitionHash: ruleHash,
    ...(carried === null ? {} : { carriedPeriodID: carried }),
  };
}

/** The period that was live under the rule before, as that rule's own status says: its window had opened. */
function carriedPeriod({ nextPeriodID, nextWindowStart, lastPeriodID }: KronJobStatus, now: EpochMs): string | null {
  if (nextPeriodID === undefined || nextWindowStart === undefined) return null;
  const [opened, nominal] = [parseInstant(nextWindowStart), parseInstant(nextPeriodID)];
  const last = parseInstant(lastPeriodID ?? "");
  if (!opened.ok || !nominal.ok || opened.value > now) return null;
  return isHandled(last.ok ? last.value : null, nominal.value) ? null : nextPeriodID;
}

function handled(status: KronJobStatus, decision: Decision, outcome: string, reason: string | null): KronJobStatus {
  const { lastReason: _reason, lastChosenTime: _chosen, ...rest } = status;
  const last = parseInstant(status.lastPeriodID ?? "");
  if (last.ok && decision.nominalAt <= last.value) {
    throw new Error(`invariant broken: ${decision.identity}: ${decision.periodId} is handled already`);
  }
  return {
    ...rest,
    lastPeriodID: decision.periodId,
    lastNominalTime: decision.periodId,
    ...(decision.chosenAt === null ? {} : { lastChosenTime: formatInstant(decision.chosenAt) }),
    lastOutcome: outcome,
    ...(reason === null ? {} : { lastReason: reason }),
    lastSeedHash: decision.seedHash,
  };
}

function entryOf(job: JobView, periodId: string, chosenAt: EpochMs, startByAt: EpochMs, now: EpochMs): ActiveJob {
  return {
    uid: job.uid,
    name: job.name,
    periodID: periodId,
    chosenTime: formatInstant(chosenAt),
    startedAt: formatSecond(now),
    startBy: formatSecond(startByAt),
  };
}

function withActive(status: KronJobStatus, active: readonly ActiveJob[]): KronJobStatus {
  const { active: _, ...rest } = status;
  return active.length === 0 ? rest : { ...rest, active };
}

/** Oldest first; the oldest are dropped. For people: no rule reads it. */
function withHistory(status: KronJobStatus, item: HistoryItem): KronJobStatus {
  return { ...status, history: [...(status.history ?? []), item].slice(-OPERATOR_LIMITS.history) };
}

function instant(text: string | undefined, field: string): Result<EpochMs | null, Problem> {
  if (text === undefined) return ok(null);
  const at = parseInstant(text);
  return at.ok ? at : err({ ...at.error, path: ["status", ...field.split(".")] });
}

function valueIn(result: Result<EpochMs | null, Problem>): EpochMs | null {
  return result.ok ? result.value : null;
}

/** Of a status that `standingOf` has read. */
export function instantOf(text: string): EpochMs {
  const at = parseInstant(text);
  if (!at.ok) throw new Error(`invariant broken: the status holds the timestamp ${JSON.stringify(text)}`);
  return at.value;
}
