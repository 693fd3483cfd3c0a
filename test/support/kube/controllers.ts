/**
 * What stands around an API server: the job controller that makes pods of released Jobs and counts how they end, the
 * garbage collector, and the clean-up after a time to live. Driven by changes; it does what a real one does, at once.
 */
import type { Clock } from "../../../src/actors/clock.js";
import {
  type Change,
  type Fields,
  fieldsOf,
  RESOURCES,
  type Resource,
  type Store,
  type StoredObject,
} from "./store.js";

const PODS = RESOURCES.find(({ name }) => name === "pods") as Resource;

/** What a template that says nothing gets. */
const BACKOFF_LIMIT = 6;
const RETRY_MS = { first: 10_000, longest: 600_000 } as const;

export class Controllers {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Of Jobs that try again: by uid and how often they have failed. */
  readonly #turns = new Set<string>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    store.listeners.add((change) => queueMicrotask(() => this.#follow(change)));
  }

  #follow({ resource, type, object }: Change): void {
    if (resource === "jobs") {
      if (type === "DELETED") this.#collect(object);
      else this.#syncJob(object.metadata.namespace, object.metadata.name);
    } else if (resource === "pods") {
      const owner = ownerOf(object);
      if (owner !== null) this.#syncJob(object.metadata.namespace, owner.name);
    } else if (resource === "kronjobs" && type === "DELETED") this.#collect(object);
  }

  #syncJob(namespace: string, name: string): void {
    const job = this.#store.find("jobs", namespace, name);
    if (job === null) return;
    const pods = this.#podsOf(job);
    if (job.metadata["deletionTimestamp"] !== undefined) {
      // Foreground: it goes when its pods have gone.
      if (pods.length === 0) this.#store.remove("jobs", job);
      else for (const pod of pods) deletePod(this.#store, pod);
      return;
    }
    const { suspend } = fieldsOf(job["spec"]);
    const status = fieldsOf(job["status"]);
    if (isFinished(job)) return;
    if (suspend === true) {
      this.#noteSuspension(job, "True", "JobSuspended");
      return;
    }
    if (status["startTime"] === undefined) {
      const resumed = this.#noteSuspension(job, "False", "JobResumed");
      this.#setStatus(resumed, {
        ...fieldsOf(resumed["status"]),
        startTime: this.#store.timestamp(),
        active: 1,
      });
      this.#startPod(job);
      return;
    }
    const phases = pods.map((pod) => fieldsOf(pod["status"])["phase"]);
    if (phases.includes("Succeeded")) this.#finish(job, "Complete", "CompletionsReached");
    else if (phases.includes("Failed")) this.#tryAgain(job, phases);
  }

  /** Again and again by itself, later each time, unless its template says how often. */
  #tryAgain(job: StoredObject, phases: readonly unknown[]): void {
    const { backoffLimit = BACKOFF_LIMIT } = fieldsOf(job["spec"]);
    const failed = phases.filter((phase) => phase === "Failed").length;
    if (failed > Number(backoffLimit)) {
      this.#finish(job, "Failed", "BackoffLimitExceeded");
      return;
    }
    const { namespace, name, uid } = job.metadata;
    const turn = `${uid} ${failed}`;
    if (phases.length > failed || this.#turns.has(turn)) return;
    this.#turns.add(turn);
    this.#clock.after(Math.min(RETRY_MS.first * 2 ** (failed - 1), RETRY_MS.longest), () => {
      const found = this.#store.find("jobs", namespace, name);
      const isOpen = found?.metadata.uid === uid && found.metadata["deletionTimestamp"] === undefined;
      if (isOpen && !isFinished(found)) this.#startPod(found);
    });
  }

  /** A write of the controller's own: whoever holds the version from before has an old one. */
  #noteSuspension(job: StoredObject, is: "True" | "False", reason: string): StoredObject {
    const status = fieldsOf(job["status"]);
    const [known] = conditionsOf(job);
    if (known?.["status"] === is || (known === undefined && is === "False")) return job;
    const at = this.#store.timestamp();
    const condition = { type: "Suspended", status: is, reason, message: "", lastProbeTime: at, lastTransitionTime: at };
    return this.#store.replace("jobs", { ...job, status: { ...status, conditions: [condition] } });
  }

  #startPod(job: StoredObject): void {
    const { metadata, spec } = fieldsOf(fieldsOf(job["spec"])["template"]);
    const { annotations, labels } = fieldsOf(metadata);
    const ownerReferences = [
      { apiVersion: "batch/v1", kind: "Job", name: job.metadata.name, uid: job.metadata.uid, controller: true },
    ];
    const body = { metadata: { generateName: `${job.metadata.name}-`, annotations, labels, ownerReferences }, spec };
    const pod = this.#store.create(PODS, job.metadata.namespace, body, false);
    this.#setPhase(pod, "Pending");
  }

  #setPhase(pod: StoredObject, phase: string): void {
    this.#store.replace("pods", { ...pod, status: { phase } });
  }

  #finish(job: StoredObject, type: string, reason: string): void {
    const at = this.#store.timestamp();
    const condition = { type, status: "True", reason, message: "", lastProbeTime: at, lastTransitionTime: at };
    const { active: _, ...status } = fieldsOf(job["status"]);
    const more = type === "Complete" ? { completionTime: at, succeeded: 1 } : { failed: 1 };
    this.#setStatus(job, { ...status, ...more, conditions: [...conditionsOf(job), condition] });
    const ttl = fieldsOf(job["spec"])["ttlSecondsAfterFinished"];
    if (typeof ttl !== "number") return;
    const { namespace, name, uid } = job.metadata;
    this.#clock.after(ttl * 1000, () => {
      const found = this.#store.find("jobs", namespace, name);
      if (found?.metadata.uid === uid) this.#store.remove("jobs", found);
    });
  }

  #setStatus(job: StoredObject, status: Fields): void {
    this.#store.replace("jobs", { ...job, status });
  }

  #podsOf({ metadata }: StoredObject): readonly StoredObject[] {
    return this.#store.list("pods", metadata.namespace).filter((pod) => ownerOf(pod)?.uid === metadata.uid);
  }

  /** Background: whoever depended on it goes afterwards. */
  #collect(owner: StoredObject): void {
    const { namespace, uid } = owner.metadata;
    for (const job of this.#store.list("jobs", namespace)) {
      if (ownerOf(job)?.uid === uid) this.#store.remove("jobs", job);
    }
    for (const pod of this.#store.list("pods", namespace)) if (ownerOf(pod)?.uid === uid) deletePod(this.#store, pod);
  }
}

/** A pod that no node has taken goes at once; a bound one waits for its kubelet. */
export function deletePod(store: Store, pod: StoredObject): void {
  const isBound = fieldsOf(pod["spec"])["nodeName"] !== undefined;
  const phase = fieldsOf(pod["status"])["phase"];
  const isOver = phase === "Succeeded" || phase === "Failed";
  if (!isBound || isOver) store.remove("pods", pod);
  else if (pod.metadata["deletionTimestamp"] === undefined) {
    store.replace("pods", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: store.timestamp() } });
  }
}

function isFinished(job: StoredObject): boolean {
  return conditionsOf(job).some(({ type }) => type === "Complete" || type === "Failed");
}

function conditionsOf(job: StoredObject): readonly Fields[] {
  const { conditions } = fieldsOf(job["status"]);
  return Array.isArray(conditions) ? conditions.map(fieldsOf) : [];
}

export function ownerOf({ metadata }: StoredObject): { readonly name: string; readonly uid: string } | null {
  const { ownerReferences } = metadata;
  const owner = Array.isArray(ownerReferences) ? fieldsOf(ownerReferences[0]) : {};
  return typeof owner["uid"] === "string" ? { name: String(owner["name"]), uid: owner["uid"] } : null;
}
