/**
 * One look at a KronJob, as a value that can be stopped anywhere: the effect that comes next, and what follows from its
 * result. Pure: production carries the effects out over HTTP, a model check over every order in which leaders can meet.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { JobView } from "../job-view.js";
import type { KronJob, KronJobStatus } from "../kube/types.js";
import { OPERATOR_LIMITS } from "../limits.js";
import type { DeleteReason, Effect, EffectResult, Observed, TemplateVerdict } from "./effects.js";
import { denied, granted, type Memory, type Write } from "./memory.js";
import { reconcile } from "./reconcile.js";

export interface Pass {
  readonly observed: Observed;
  /** Of what is on record: it may be kept, whatever becomes of what is pending. */
  readonly memory: Memory;
  /** What takes its place when the status is written; null: nothing that it rests upon has to be. */
  readonly next: Memory | null;
  readonly pending: readonly Effect[];
  readonly rounds: number;
  readonly lookAgainAt: EpochMs | null;
  /** rest: nothing is left to do; again: it has to begin anew, from a direct read. */
  readonly end: "rest" | "again" | null;
}

export function beginPass(observed: Observed, memory: Memory, now: EpochMs): Pass {
  return thought({ observed, memory, next: null, pending: [], rounds: 0, lookAgainAt: null, end: null }, now);
}

/** null: the pass has ended. */
export function nextEffect({ end, pending }: Pass): Effect | null {
  return end === null ? (pending[0] ?? null) : null;
}

/** The first pending effect was carried out, and this came of it. `lost`: of the time that it took, too. */
export function folded(pass: Pass, result: EffectResult, now: EpochMs, lost = pass.observed.lost): Pass {
  const [effect, ...rest] = pass.pending;
  if (effect === undefined) throw new Error("invariant broken: a result without an effect");
  const next = taken(withObserved({ ...pass, pending: rest }, { lost }), effect, result, now);
  return next.end === null && next.pending.length === 0 ? thought(next, now) : next;
}

function thought(pass: Pass, now: EpochMs): Pass {
  if (pass.rounds >= OPERATOR_LIMITS.rounds) return { ...pass, end: "again" };
  const { effects, memory: planned, isOnRecord, lookAgainAt } = reconcile(pass.observed, pass.memory, now);
  const end = effects.length === 0 ? "rest" : null;
  const known = isOnRecord ? { memory: planned, next: null } : { next: planned };
  return { ...pass, ...known, lookAgainAt, pending: effects, rounds: pass.rounds + 1, end };
}

function taken(pass: Pass, effect: Effect, result: EffectResult, now: EpochMs): Pass {
  switch (effect.type) {
    case "lookUp":
      return result.kind === "job"
        ? withJob(pass, effect.name, result.job, true)
        : withJob(pass, effect.name, null, true);
    case "checkTemplate":
      return withTemplate(pass, templateVerdict(result));
    case "createGate":
      return created(pass, effect, result, now);
    case "writeStatus":
      if (result.kind === "kronJob") return written(pass, effect.status, result.kronJob);
      return { ...pass, end: result.kind === "gone" ? "rest" : "again" };
    case "go":
      return released(pass, effect, result, now);
    case "deleteJob":
      return removed(pass, effect, result, now);
    case "tell":
      return pass;
  }
}

function written(pass: Pass, status: KronJobStatus, kronJob: KronJob): Pass {
  const lost = Object.keys(status).find((field) => !Object.hasOwn(kronJob.status ?? {}, field));
  if (lost !== undefined) throw notKept(lost);
  return { ...withObserved(pass, { kronJob }), memory: pass.next ?? pass.memory, next: null };
}

/** What a schema does not name is dropped without a word: it would be written again and again. */
function notKept(field: string): KronError {
  const message = `the API server does not keep status.${field}: its CRD is older than this operator`;
  const hint = "kubectl apply -f deploy/operator/crd.yaml";
  return new KronError("status-refused", message, { component: "executor", operation: "writeStatus", hint });
}

function created(
  pass: Pass,
  effect: Extract<Effect, { readonly type: "createGate" }>,
  result: EffectResult,
  now: EpochMs,
): Pass {
  const { name } = effect;
  if (result.kind === "exists") return { ...pass, pending: [{ type: "lookUp", name }] };
  if (result.kind === "refused") return refused(pass, effect, result, now);
  if (result.kind !== "job") return { ...pass, end: "again" };
  if (result.isSuspended) return withJob(pass, name, result.job, true);
  // It runs already, and nobody has claimed it: the one thing that must not be.
  const { uid } = result.job;
  const news = { kind: "gate_bypassed", job: name } as const;
  const bypassed = withTemplate(withJob(pass, name, null, true), { kind: "bypassed" });
  const hindrance = { code: "gate-bypassed", message: "it was not created suspended", isAhead: false } as const;
  return {
    ...remembering(bypassed, (memory) => ({ ...memory, hindrance })),
    pending: [
      { type: "deleteJob", name, uid, resourceVersion: null, propagation: "Background", reason: "bypassed" },
      { type: "tell", news: [news] },
    ],
  };
}

/** The machines are told (S24); ahead of its second it costs the period nothing. */
function refused(
  pass: Pass,
  { name, occasion }: Extract<Effect, { readonly type: "createGate" }>,
  { code, message }: Extract<EffectResult, { readonly kind: "refused" }>,
  now: EpochMs,
): Pass {
  const isAhead = occasion.source === null && now < occasion.chosenAt;
  const what = isAhead ? { hindrance: { code, message, isAhead } } : { refusal: { name, code, message } };
  const news = { kind: "not_created", job: name, periodId: occasion.periodId, code, message } as const;
  return { ...remembering(pass, (memory) => ({ ...memory, ...what })), pending: [{ type: "tell", news: [news] }] };
}

/** Of both: nobody knows yet which of them will be true. */
function remembering(pass: Pass, change: (memory: Memory) => Memory): Pass {
  return { ...pass, memory: change(pass.memory), next: pass.next === null ? null : change(pass.next) };
}

function released(
  pass: Pass,
  { name, uid, startByAt }: Extract<Effect, { readonly type: "go" }>,
  result: EffectResult,
  now: EpochMs,
): Pass {
  if (result.kind === "job") return withGrant(withJob(pass, name, result.job, true), "release");
  if (result.kind === "refused") return withDenial(pass, "release", name, result, startByAt, now);
  if (result.kind === "late") return { ...pass, pending: [] };
  if (result.kind !== "gone") return { ...pass, end: "again" };
  return { ...withLostGate(withJob(pass, name, null, true), uid), pending: [] };
}

function withLostGate(pass: Pass, uid: string): Pass {
  return remembering(pass, (memory) => ({ ...memory, lostGates: [...memory.lostGates, uid] }));
}

/** What had changed since it was seen is read again before anything else is done about it. */
function removed(
  pass: Pass,
  { name, uid, reason, resourceVersion }: Extract<Effect, { readonly type: "deleteJob" }>,
  result: EffectResult,
  now: EpochMs,
): Pass {
  if (result.kind === "refused") return withDenial(pass, "remove", name, result, Number.POSITIVE_INFINITY, now);
  const granted = withGrant(pass, "remove");
  const isClaimed = reason === "late" || reason === "replaced";
  // In the very state in which nobody had released it: it never will be.
  const isHeldBack = isClaimed && resourceVersion !== null && result.kind === "done";
  return afterRemoval(isHeldBack ? withLostGate(granted, uid) : granted, name, reason, resourceVersion, result);
}

function afterRemoval(
  pass: Pass,
  name: string,
  reason: DeleteReason,
  resourceVersion: string | null,
  result: EffectResult,
): Pass {
  if (result.kind === "gone") return withJob(pass, name, null, true);
  const mustLookAgain = reason === "outdated" || (result.kind === "conflict" && resourceVersion !== null);
  if (mustLookAgain) return { ...pass, pending: [{ type: "lookUp", name }] };
  if (result.kind === "conflict") return pass;
  const job = pass.observed.jobs.get(name);
  return job === undefined || job === null ? pass : withJob(pass, name, { ...job, isDeleting: true }, false);
}

/** What was to follow rested on it: everything is thought through once more, without it. */
function withDenial(
  pass: Pass,
  write: Write,
  job: string,
  { code, message }: Extract<EffectResult, { readonly kind: "refused" }>,
  limitAt: EpochMs,
  now: EpochMs,
): Pass {
  const news = { kind: "denied", write, job, code, message } as const;
  const next = remembering(pass, (memory) => denied(memory, write, { code, message }, limitAt, now));
  return { ...next, pending: [{ type: "tell", news: [news] }] };
}

function withGrant(pass: Pass, write: Write): Pass {
  return remembering(pass, (memory) => granted(memory, write));
}

function templateVerdict(result: EffectResult): TemplateVerdict {
  if (result.kind === "refused") return { kind: "refused", code: result.code, message: result.message };
  return result.kind === "job" && !result.isSuspended ? { kind: "bypassed" } : { kind: "fine" };
}

function withTemplate(pass: Pass, template: TemplateVerdict): Pass {
  return withObserved(pass, { template });
}

function withJob(pass: Pass, name: string, job: JobView | null, isDirect: boolean): Pass {
  const { jobs, direct } = pass.observed;
  const next = { jobs: new Map(jobs).set(name, job) };
  return withObserved(pass, isDirect ? { ...next, direct: new Set(direct).add(name) } : next);
}

function withObserved(pass: Pass, more: Partial<Observed>): Pass {
  return { ...pass, observed: { ...pass.observed, ...more } };
}
