/**
 * One look at a KronJob, as a value that can be stopped anywhere: the effect that comes next, and what follows from its
 * result. Pure: production carries the effects out over HTTP, a model check over every order in which leaders can meet.
 */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { EpochMs } from "../../core/time/instant.js";
import { ANNOTATION } from "../identity.js";
import type { JobView } from "../job-view.js";
import { OPERATOR_LIMITS } from "../limits.js";
import type { DeleteReason, Effect, EffectResult, Observed, Occasion, TemplateVerdict } from "./effects.js";
import { denied, failed, granted, type Memory, type Write } from "./memory.js";
import { reconcile } from "./reconcile.js";

export interface Pass {
  readonly observed: Observed;
  readonly memory: Memory;
  readonly pending: readonly Effect[];
  readonly rounds: number;
  readonly lookAgainAt: EpochMs | null;
  /** rest: nothing is left to do; again: it has to begin anew, from a direct read. */
  readonly end: "rest" | "again" | null;
}

export function beginPass(observed: Observed, memory: Memory, now: EpochMs): Pass {
  return thought({ observed, memory, pending: [], rounds: 0, lookAgainAt: null, end: null }, now);
}

/** null: the pass has ended. */
export function nextEffect({ end, pending }: Pass): Effect | null {
  return end === null ? (pending[0] ?? null) : null;
}

/** The first pending effect was carried out, and this came of it. */
export function folded(pass: Pass, result: EffectResult, now: EpochMs): Pass {
  const [effect, ...rest] = pass.pending;
  if (effect === undefined) throw new Error("invariant broken: a result without an effect");
  const next = taken({ ...pass, pending: rest }, effect, result, now);
  return next.end === null && next.pending.length === 0 ? thought(next, now) : next;
}

function thought(pass: Pass, now: EpochMs): Pass {
  if (pass.rounds >= OPERATOR_LIMITS.rounds) return { ...pass, end: "again" };
  const { effects, memory, lookAgainAt } = reconcile(pass.observed, pass.memory, now);
  const end = effects.length === 0 ? "rest" : null;
  return { ...pass, memory, lookAgainAt, pending: effects, rounds: pass.rounds + 1, end };
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
      if (result.kind === "kronJob") return withObserved(pass, { kronJob: result.kronJob });
      return { ...pass, end: result.kind === "gone" ? "rest" : "again" };
    case "go":
      return released(pass, effect, result, now);
    case "deleteJob":
      return removed(pass, effect, result, now);
    case "tell":
      return pass;
  }
}

function created(
  pass: Pass,
  effect: Extract<Effect, { readonly type: "createGate" }>,
  result: EffectResult,
  now: EpochMs,
): Pass {
  const { name, occasion } = effect;
  if (result.kind === "exists") return { ...pass, pending: [{ type: "lookUp", name }] };
  if (result.kind === "refused") return refused(pass, effect, result, now);
  if (result.kind !== "job") return { ...pass, end: "again" };
  if (result.isSuspended) return withJob(pass, name, result.job, true);
  // It runs already, and nobody has claimed it: the one thing that must not be.
  const { uid } = result.job;
  const news = { kind: "gate_bypassed", job: name } as const;
  const bypassed = { ...withTemplate(withJob(pass, name, null, true), { kind: "bypassed" }) };
  const memory = failed(bypassed.memory, "gate-bypassed", "it was not created suspended", occasion.chosenAt, now);
  return {
    ...bypassed,
    memory,
    pending: [
      { type: "deleteJob", name, uid, resourceVersion: null, propagation: "Background", reason: "bypassed" },
      { type: "tell", news: [news] },
    ],
  };
}

/** S24: the period stays open; a wish to run now was refused, and may be uttered again. */
function refused(
  pass: Pass,
  { name, occasion }: Extract<Effect, { readonly type: "createGate" }>,
  { code, message }: Extract<EffectResult, { readonly kind: "refused" }>,
  now: EpochMs,
): Pass {
  const { memory, observed } = pass;
  const refusedRun = observed.kronJob.metadata.annotations?.[ANNOTATION.run] ?? null;
  const isPeriod = occasion.source === null;
  const next = isPeriod ? refusedPeriod(memory, code, message, occasion, now) : { ...memory, refusedRun };
  const news = { kind: "not_created", job: name, periodId: occasion.periodId, code, message } as const;
  return { ...pass, memory: next, pending: [{ type: "tell", news: [news] }] };
}

/** Ahead of its second a refusal costs nothing: in it there may be room. */
function refusedPeriod(memory: Memory, code: ErrorCode, message: string, occasion: Occasion, now: EpochMs): Memory {
  const next = failed(memory, code, message, occasion.retryUntilAt, now);
  if (next.failure === null || now >= occasion.chosenAt) return next;
  return { ...next, failure: { ...next.failure, retryAt: occasion.chosenAt } };
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
  const { memory } = pass;
  return {
    ...withJob(pass, name, null, true),
    memory: { ...memory, lostGates: [...memory.lostGates, uid] },
    pending: [],
  };
}

/** What had changed since it was seen is read again before anything else is done about it. */
function removed(
  pass: Pass,
  { name, reason, resourceVersion }: Extract<Effect, { readonly type: "deleteJob" }>,
  result: EffectResult,
  now: EpochMs,
): Pass {
  if (result.kind === "refused") return withDenial(pass, "remove", name, result, Number.POSITIVE_INFINITY, now);
  return afterRemoval(withGrant(pass, "remove"), name, reason, resourceVersion, result);
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
  const memory = denied(pass.memory, write, code, message, limitAt, now);
  return { ...pass, memory, pending: [{ type: "tell", news: [news] }] };
}

function withGrant(pass: Pass, write: Write): Pass {
  return { ...pass, memory: granted(pass.memory, write) };
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
