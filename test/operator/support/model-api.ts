/**
 * An API server as a value: one KronJob and its Jobs, with the rules that the protocol rests on (resourceVersion, uid,
 * names). It answers an effect at once, so that every order of requests can be tried.
 */

import { readKronJob } from "../../../src/operator/definition.js";
import { gatedJob, releaseOf } from "../../../src/operator/job-manifest.js";
import { type JobView, viewOf } from "../../../src/operator/job-view.js";
import type { Job, KronJob } from "../../../src/operator/kube/types.js";
import type { Effect, EffectResult, Observed } from "../../../src/operator/plan/effects.js";

export interface ModelState {
  readonly kronJob: KronJob | null;
  readonly jobs: Readonly<Record<string, Job>>;
  readonly nextUid: number;
  /** Pods that began: by period, the uids of their Jobs. */
  readonly ran: Readonly<Record<string, readonly string[]>>;
}

export function modelOf(kronJob: KronJob): ModelState {
  return { kronJob, jobs: {}, nextUid: 1, ran: {} };
}

/** A direct read of the KronJob, and a cache of Jobs that may know nothing yet. */
export function observe(state: ModelState, cached: Readonly<Record<string, Job>> = state.jobs): Observed | null {
  if (state.kronJob === null) return null;
  const views = Object.values(cached).map((job): [string, JobView] => [job.metadata.name, viewOf(job)]);
  return {
    kronJob: state.kronJob,
    jobs: new Map(views),
    direct: new Set(),
    tombstones: new Map(),
    lost: [],
    template: null,
  };
}

export type Answer = readonly [state: ModelState, result: EffectResult];

export function perform(state: ModelState, effect: Effect, read: KronJob, now: number): Answer {
  switch (effect.type) {
    case "lookUp": {
      const job = state.jobs[effect.name];
      return [state, job === undefined ? { kind: "gone" } : jobResult(job)];
    }
    case "checkTemplate":
    case "tell":
      return [state, { kind: "done" }];
    case "createGate":
      return create(state, effect, read);
    case "writeStatus":
      return write(state, effect, read);
    case "go":
      return now >= effect.startByAt + 1000 ? [state, { kind: "late" }] : release(state, effect, read);
    case "deleteJob":
      return remove(state, effect);
  }
}

function create(state: ModelState, effect: Extract<Effect, { type: "createGate" }>, read: KronJob): Answer {
  if (state.jobs[effect.name] !== undefined) return [state, { kind: "exists" }];
  const definition = readKronJob(read);
  if (!definition.ok) throw new Error("a gate for a spec that cannot be read");
  const manifest = gatedJob({
    kronJob: read,
    definition: definition.value,
    occasion: effect.occasion,
    tzVersion: "test",
  });
  const job: Job = {
    ...manifest,
    metadata: { ...manifest.metadata, uid: `job-${state.nextUid}`, resourceVersion: "1" },
  };
  const jobs = { ...state.jobs, [effect.name]: job };
  return [{ ...state, jobs, nextUid: state.nextUid + 1 }, jobResult(job)];
}

function write(state: ModelState, effect: Extract<Effect, { type: "writeStatus" }>, read: KronJob): Answer {
  const { kronJob } = state;
  if (kronJob === null) return [state, { kind: "gone" }];
  if (kronJob.metadata.resourceVersion !== read.metadata.resourceVersion) return [state, { kind: "conflict" }];
  const [was, is] = [kronJob.status ?? {}, effect.status];
  if (was.lastPeriodID !== undefined && !((is.lastPeriodID ?? "") >= was.lastPeriodID)) {
    throw new Error("lastPeriodID never decreases");
  }
  if (was.lastPeriodID !== undefined && was.lastPeriodID === is.lastPeriodID && was.lastOutcome !== is.lastOutcome) {
    throw new Error("a period has one outcome");
  }
  const next = { ...kronJob, status: is, metadata: bumped(kronJob.metadata) };
  return [
    { ...state, kronJob: next },
    { kind: "kronJob", kronJob: next },
  ];
}

function release(state: ModelState, { name, uid }: Extract<Effect, { type: "go" }>, read: KronJob): Answer {
  const job = state.jobs[name];
  if (job === undefined || job.metadata.uid !== uid) return [state, { kind: "gone" }];
  const { "kron.io/gate": _, ...annotations } = job.metadata.annotations ?? {};
  const { suspend } = releaseOf(read.spec.jobTemplate);
  const next = { ...job, metadata: { ...bumped(job.metadata), annotations }, spec: { ...job.spec, suspend } };
  const period = annotations["kron.io/period-id"] ?? "";
  const pods = state.ran[period] ?? [];
  const ran = pods.includes(uid) ? state.ran : { ...state.ran, [period]: [...pods, uid] };
  return [{ ...state, jobs: { ...state.jobs, [name]: next }, ran }, jobResult(next)];
}

function remove(state: ModelState, effect: Extract<Effect, { type: "deleteJob" }>): Answer {
  const job = state.jobs[effect.name];
  if (job === undefined) return [state, { kind: "gone" }];
  const { uid, resourceVersion } = job.metadata;
  const isRefused =
    uid !== effect.uid || (effect.resourceVersion !== null && effect.resourceVersion !== resourceVersion);
  return isRefused ? [state, { kind: "conflict" }] : [without(state, effect.name), { kind: "done" }];
}

export function without(state: ModelState, name: string): ModelState {
  const { [name]: _, ...jobs } = state.jobs;
  return { ...state, jobs };
}

export function finished(state: ModelState, name: string): ModelState {
  const job = state.jobs[name];
  if (job === undefined) return state;
  const condition = {
    type: "Complete",
    status: "True" as const,
    reason: "CompletionsReached",
    message: "",
    lastTransitionTime: "2026-03-01T00:05:30Z",
  };
  const next = { ...job, metadata: bumped(job.metadata), status: { conditions: [condition] } };
  return { ...state, jobs: { ...state.jobs, [name]: next } };
}

function bumped<M extends { readonly resourceVersion: string }>(metadata: M): M {
  return { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) };
}

function jobResult(job: Job): EffectResult {
  return { kind: "job", job: viewOf(job), isSuspended: job.spec.suspend === true };
}
