/**
 * The Jobs of attempts that are not claimed yet: each is made suspended, a few seconds ahead of its second where it can be,
 * and is READY as soon as it is seen so, whoever has made it.
 */

import { isPast } from "../../core/period/lateness.js";
import { type EpochMs, floorToSecond, formatInstant, parseInstant, SECOND_MS } from "../../core/time/instant.js";
import type { Attempt } from "../../machines/activation.js";
import type { AttemptParams } from "../../machines/effects.js";
import type { ActivationEvent } from "../../machines/step.js";
import { ANNOTATION, jobNameOf } from "../identity.js";
import type { JobView } from "../job-view.js";
import { OPERATOR_LIMITS, OPERATOR_TIMES } from "../limits.js";
import { MANUAL } from "../status.js";
import { deletion, type Occasion } from "./effects.js";
import { mustWait, type Trouble } from "./memory.js";
import type { Sketch } from "./sketch.js";

const HOLDER = { kind: "job", pid: 0 } as const;

/** READY and FAILED, until nothing more follows from what is known. */
export function tellOfGates(sketch: Sketch): void {
  for (let told = 0; told < OPERATOR_LIMITS.rounds; told++) {
    const event = nextOf(sketch);
    if (event === null) return;
    sketch.tell(event);
  }
}

function nextOf(sketch: Sketch): ActivationEvent | null {
  for (const attempt of arming(sketch)) {
    const { attempt: params, startByAt } = attempt.execution.context;
    const event = gateEvent(sketch, params, startByAt);
    if (event !== null) return event;
  }
  return null;
}

function arming({ activation }: Sketch): readonly Attempt[] {
  return activation.attempts.filter(({ execution }) => execution.matches("arming"));
}

function gateEvent(sketch: Sketch, attempt: AttemptParams, startByAt: EpochMs): ActivationEvent | null {
  const { attemptId, periodId } = attempt;
  const { refusal } = sketch.memory;
  if (refusal?.name === attemptId) {
    sketch.remember({ refusal: null });
    return failed(sketch, attempt, refusal);
  }
  const job = sketch.job(attemptId);
  if (job === undefined || job === null) return null;
  if (isOutdated(sketch, job) || job.isDeleting) {
    const message = `a Job named ${attemptId} is there that does not go`;
    return isPast(startByAt, sketch.now) ? failed(sketch, attempt, { code: "job-name-taken", message }) : null;
  }
  if (job.ownerUid === sketch.uid) {
    if (!job.isGated) sketch.news.push({ kind: "unexpected_job", job: attemptId, periodId });
    return { type: "READY", attemptId, holder: HOLDER };
  }
  if (!sketch.observed.direct.has(attemptId)) return null;
  const message = `a Job named ${attemptId} is there that belongs to somebody else`;
  sketch.loose.push({ kind: "not_created", job: attemptId, periodId, code: "job-name-taken", message });
  return failed(sketch, attempt, { code: "job-name-taken", message });
}

/** S24: not created, not executed. A wish to run now was refused, and may be uttered again. */
function failed(sketch: Sketch, { attemptId, source }: AttemptParams, { code, message }: Trouble): ActivationEvent {
  if (source === MANUAL) sketch.remember({ refusedRun: wishOf(sketch) ?? null });
  else sketch.remember({ hindrance: { code, message, isAhead: false } });
  return { type: "FAILED", attemptId, code };
}

/** What the attempts still lack, and the period that comes up soon. */
export function makeGates(sketch: Sketch): void {
  for (const attempt of arming(sketch)) {
    const { attemptId, source, periodId, slotAt: nominalAt, ...rest } = attempt.execution.context.attempt;
    const chosenAt = floorToSecond(rest.chosenAt);
    const live = sketch.activation.period?.context.occasion;
    const decision = live?.periodId === periodId && source === null ? live.decision : null;
    make(sketch, attemptId, { source, periodId, nominalAt, chosenAt, decision });
    const job = sketch.job(attemptId);
    if (job === undefined || job === null) continue;
    const isHearsay = job.ownerUid !== sketch.uid && !sketch.observed.direct.has(attemptId);
    if (job.isDeleting) sketch.lookAgain(sketch.now + SECOND_MS);
    else if (isHearsay) sketch.asks.push({ type: "lookUp", name: attemptId });
  }
  makeAhead(sketch);
}

/** Where a run still goes on under forbid it will probably not be needed. */
function makeAhead(sketch: Sketch): void {
  const { job, period } = sketch.activation;
  const occasion = period?.matches("planned") === true ? period.context.occasion : null;
  if (occasion?.source !== "cron" || occasion.chosenAt === null || !job.matches({ standing: "enabled" })) return;
  const { armAheadMs } = OPERATOR_TIMES;
  if (occasion.dueAt - sketch.now > armAheadMs) {
    sketch.lookAgain(occasion.dueAt - armAheadMs);
    return;
  }
  const isUnlikely = sketch.policy.concurrency === "forbid" && job.matches({ runs: "busy" });
  if (isUnlikely || sketch.memory.hindrance !== null) return;
  const { periodId, slotAt: nominalAt, chosenAt, decision } = occasion;
  const name = jobNameOf(sketch.kronJob, null, periodId);
  make(sketch, name, { source: null, periodId, nominalAt, chosenAt, decision });
}

function make(sketch: Sketch, name: string, occasion: Occasion): void {
  const job = sketch.job(name);
  if (job === undefined || job === null) {
    sketch.asks.push({ type: "createGate", name, occasion });
    return;
  }
  if (!isOutdated(sketch, job) || job.isDeleting) return;
  const { remove } = sketch.memory.denied;
  if (mustWait(remove, sketch.now)) sketch.lookAgain(remove.retryAt);
  else sketch.asks.push(deletion(job, "outdated"));
}

/** S16: made from another spec. */
function isOutdated(sketch: Sketch, job: JobView): boolean {
  return job.ownerUid === sketch.uid && job.isGated && job.generation !== sketch.generation;
}

function wishOf({ kronJob }: Sketch): string | undefined {
  return kronJob.metadata.annotations?.[ANNOTATION.run];
}

/** S40: run now, because somebody wrote so. */
export function tellOfWish(sketch: Sketch): void {
  const value = wishOf(sketch);
  if (value === undefined || value === sketch.memory.refusedRun) return;
  const slot = parseInstant(value);
  const lastSlot = parseInstant(sketch.document.LastSlot?.[MANUAL] ?? "");
  const lastAt = lastSlot.ok ? lastSlot.value : Number.NEGATIVE_INFINITY;
  if (slot.ok && slot.value === lastAt) return;
  const why = slot.ok ? refusalOf(slot.value, lastAt, sketch.now) : slot.error.message;
  if (slot.ok && why === null) {
    sketch.tell({ type: "RUN", source: MANUAL, slotAt: slot.value });
  } else {
    sketch.remember({ refusedRun: value });
    sketch.loose.push({ kind: "run_refused", value, why: why ?? "" });
  }
}

function refusalOf(slotAt: EpochMs, lastAt: EpochMs, now: EpochMs): string | null {
  const { runRequestMs, runRequestAheadMs } = OPERATOR_TIMES;
  if (isPast(slotAt + runRequestMs, now)) return "it is more than 10 minutes old";
  if (slotAt > now + runRequestAheadMs) return "it lies in the future";
  return slotAt < lastAt ? `it is older than the last one, ${formatInstant(lastAt)}` : null;
}
