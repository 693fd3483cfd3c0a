/** A Job as far as scheduling is concerned: a row of a few fields, never the object. */
import { parseInstant } from "../core/time/instant.js";
import { ANNOTATION, GATE_READY, KIND } from "./identity.js";
import type { Job } from "./kube/types.js";

export interface JobEnding {
  readonly isSuccess: boolean;
  readonly reason: string | null;
  /** As the API server says it. */
  readonly at: string;
}

/** Of a Job that is gone: how it ended, or that nobody had released it. */
export type Tombstone = JobEnding | "unreleased";

export interface JobView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** uid of the KronJob that controls it; null: not ours. */
  readonly ownerUid: string | null;
  readonly periodId: string;
  /** null: of the KronJob's own periods (S40). */
  readonly source: string | null;
  /** Of the KronJob's spec from which it was made. */
  readonly generation: number;
  /** It waits for its claim: nobody has released it. */
  readonly isGated: boolean;
  readonly isDeleting: boolean;
  readonly ending: JobEnding | null;
}

export function viewOf({ metadata, spec, status }: Job): JobView {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const notes = metadata.annotations ?? {};
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    ownerUid: owner?.kind === KIND ? owner.uid : null,
    periodId: notes[ANNOTATION.periodId] ?? "",
    source: notes[ANNOTATION.source] ?? null,
    generation: Number(notes[ANNOTATION.generation] ?? Number.NaN),
    isGated: notes[ANNOTATION.gate] === GATE_READY && spec.suspend === true,
    isDeleting: metadata.deletionTimestamp !== undefined,
    ending: endingOf(status),
  };
}

function endingOf(status: Job["status"]): JobEnding | null {
  const condition = status?.conditions?.find(({ type, status: is }) => is === "True" && isFinal(type));
  if (condition === undefined) return null;
  const isSuccess = condition.type === "Complete";
  return {
    isSuccess,
    reason: isSuccess ? null : condition.reason || null,
    at: status?.completionTime ?? condition.lastTransitionTime,
  };
}

function isFinal(type: string): boolean {
  return type === "Complete" || type === "Failed";
}

/** Whether the two differ in anything that somebody would have to act upon. */
export function isSameView(one: JobView, other: JobView): boolean {
  return (
    one.uid === other.uid &&
    one.isGated === other.isGated &&
    one.isDeleting === other.isDeleting &&
    (one.ending === null) === (other.ending === null)
  );
}

/** The instant of its period or slot; NaN when it does not say. */
export function slotAtOf({ periodId }: JobView): number {
  const at = parseInstant(periodId);
  return at.ok ? at.value : Number.NaN;
}
