/**
 * The status of a KronJob is its state document (STATE), in the words of Kubernetes: what was handled, what is claimed, since
 * when the definition stands. What changes it are the transitions of the core; here it is only read and written. Whether a
 * change becomes true decides the API server, by the resourceVersion that the write carries.
 */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { isHandled } from "../core/period/periods.js";
import {
  type ActiveState,
  activeStates,
  newDocument,
  type PauseState,
  type StateDocument,
} from "../core/state/document.js";
import { type EpochMs, floorToSecond, formatSecond, parseInstant } from "../core/time/instant.js";
import { ANNOTATION, identityOf } from "./identity.js";
import type { ActiveJob, KronJob, KronJobStatus, PauseStatus } from "./kube/types.js";
import { mergePatch } from "./merge-patch.js";
import { oddField } from "./status-shape.js";

export const MANUAL = "manual";

/** Fails when the status holds what the operator never wrote (S32). */
export function documentOf(kronJob: KronJob): Result<StateDocument, Problem> {
  const { status = {} } = kronJob;
  const odd = oddField(status);
  if (odd !== null) return err(odd);
  const { pause } = status;
  const [newest = null, ...older] = [...(status.active ?? [])].reverse().map(activeStateOf);
  return ok({
    ...newDocument(identityOf(kronJob)),
    LastHandledPeriodID: status.lastPeriodID ?? "",
    LastOutcome: (status.lastOutcome ?? "") as StateDocument["LastOutcome"],
    LastChosenTime: status.lastChosenTime ?? "",
    LastNominalTime: status.lastNominalTime ?? "",
    ActiveExecution: newest,
    ...(older.length === 0 ? {} : { OtherActive: older }),
    ...(status.lastSlot === undefined ? {} : { LastSlot: status.lastSlot }),
    ...(status.lastReason === undefined ? {} : { LastReason: status.lastReason }),
    ...(status.definedAt === undefined ? {} : { DefinedAt: status.definedAt }),
    ...(status.definitionHash === undefined ? {} : { DefinitionHash: status.definitionHash }),
    ...(status.carriedPeriodID === undefined ? {} : { CarriedPeriodID: status.carriedPeriodID }),
    ...(pause === undefined ? {} : { Pause: pauseStateOf(pause) }),
    ...(status.lastStartTime === undefined ? {} : { LastRunAt: status.lastStartTime }),
    ...(status.evaluatesFrom === undefined ? {} : { EvaluatesFrom: status.evaluatesFrom }),
  });
}

/** The run is known by the name of its Job, which follows from its period; the uid is what is released or ended. */
function activeStateOf({ name, periodID, startedAt, chosenTime, source }: ActiveJob): ActiveState {
  return {
    PeriodID: periodID,
    PID: 0,
    StartedAt: startedAt,
    ChosenTime: chosenTime,
    AttemptID: name,
    ...(source === undefined ? {} : { Source: source }),
    Holder: "job",
  };
}

function pauseStateOf({ until, reason, since }: PauseStatus): PauseState {
  return { Until: until, Reason: reason, ...(since === undefined ? {} : { Since: since }) };
}

/**
 * S14: the first spec of a KronJob stands since its creation, whoever sees it first, and whenever. One that takes the place
 * of a spec that could not be read does not.
 */
export function firstSeen(document: StateDocument, { metadata }: KronJob, hash: string, now: EpochMs): StateDocument {
  if (document.DefinitionHash !== undefined || (metadata.generation ?? 1) !== 1) return document;
  const created = parseInstant(metadata.creationTimestamp ?? "");
  const definedAt = created.ok ? Math.min(created.value, floorToSecond(now)) : now;
  return { ...document, DefinedAt: formatSecond(definedAt), DefinitionHash: hash };
}

/** S14: the period that was live under the rule before, as that rule's own status says: its window had opened. */
export function carriedAt({ status = {} }: KronJob, now: EpochMs): EpochMs | null {
  const { definitionHash, nextPeriodID = "", nextWindowStart = "", lastPeriodID = "" } = status;
  const [opened, nominal] = [parseInstant(nextWindowStart), parseInstant(nextPeriodID)];
  if (definitionHash === undefined || !opened.ok || !nominal.ok || opened.value > now) return null;
  const last = parseInstant(lastPeriodID);
  return isHandled(last.ok ? last.value : null, nominal.value) ? null : nominal.value;
}

/** What the protocol needs to know of a Job beside its run. */
export interface Claimed {
  readonly uid: string;
  /** S20: until when it may be released. */
  readonly startByAt: EpochMs;
}

/** The status with this document in it. `claimOf`: of a run that is not in the status yet, by the name of its Job. */
export function withDocument(
  status: KronJobStatus,
  document: StateDocument,
  claimOf: (name: string) => Claimed | null,
): KronJobStatus {
  const known = new Map((status.active ?? []).map((entry) => [entry.name, entry]));
  const runs = activeStates(document).map((run) => known.get(run.AttemptID ?? "") ?? entryOf(run, claimOf));
  const { Pause: pause } = document;
  const next = {
    ...status,
    lastPeriodID: document.LastHandledPeriodID || undefined,
    lastNominalTime: document.LastNominalTime || undefined,
    lastChosenTime: document.LastChosenTime || undefined,
    lastOutcome: document.LastOutcome || undefined,
    lastReason: document.LastReason,
    lastStartTime: document.LastRunAt,
    lastSlot: document.LastSlot,
    definedAt: document.DefinedAt,
    definitionHash: document.DefinitionHash,
    carriedPeriodID: document.CarriedPeriodID,
    evaluatesFrom: document.EvaluatesFrom,
    pause: pause === undefined ? undefined : pauseOf(pause),
    active: runs.length === 0 ? undefined : runs.reverse(),
  };
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
}

function pauseOf({ Until: until, Reason: reason, Since: since }: PauseState): PauseStatus {
  return { until, reason, ...(since === undefined ? {} : { since }) };
}

function entryOf(run: ActiveState, claimOf: (name: string) => Claimed | null): ActiveJob {
  const name = run.AttemptID ?? "";
  const { uid = "", startByAt = 0 } = claimOf(name) ?? {};
  return {
    uid,
    name,
    periodID: run.PeriodID,
    chosenTime: run.ChosenTime,
    startedAt: run.StartedAt,
    startBy: formatSecond(startByAt),
    ...(run.Source === undefined ? {} : { source: run.Source }),
  };
}

/** Whether the document is what the status says. */
export function isOnRecord(status: KronJobStatus, document: StateDocument): boolean {
  return mergePatch({ ...status }, { ...withDocument(status, document, () => null) }) === null;
}

/** S17: written by people; what cannot be read does not pause. */
export function wantedPause({ metadata }: KronJob, now: EpochMs): { readonly untilAt: EpochMs; reason: string } | null {
  const { annotations = {} } = metadata;
  const until = parseInstant(annotations[ANNOTATION.pauseUntil] ?? "");
  if (!until.ok || until.value <= now) return null;
  return { untilAt: floorToSecond(until.value), reason: annotations[ANNOTATION.pauseReason] ?? "" };
}

/** Of a status that `documentOf` has read. */
export function instantOf(text: string): EpochMs {
  const at = parseInstant(text);
  if (!at.ok) throw new Error(`invariant broken: the status holds the timestamp ${JSON.stringify(text)}`);
  return at.value;
}
