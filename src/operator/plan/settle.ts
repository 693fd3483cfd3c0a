/** How a KronJob's open occasion comes to its outcome: the two steps up to the claim, or the reason why there is none. */

import type { Decision } from "../../core/decision/model.js";
import { deadlineAt, deadlineMsOf, isPast, startLimitAfterReplace } from "../../core/period/lateness.js";
import { cronOccasion } from "../../core/period/occasion.js";
import { claimVerdict, type JobStanding, type Verdict } from "../../core/period/policy.js";
import { type EpochMs, floorToSecond, formatInstant, parseInstant, SECOND_MS } from "../../core/time/instant.js";
import type { KronDefinition } from "../definition.js";
import { ANNOTATION, jobNameOf } from "../identity.js";
import type { JobView } from "../job-view.js";
import { OPERATOR_TIMES } from "../limits.js";
import { activeRuns, claimed, claimedSlot, closed, MANUAL } from "../status.js";
import type { Occasion } from "./effects.js";
import { failed, mustWait } from "./memory.js";
import type { Sketch } from "./sketch.js";
import { withdraw } from "./tend.js";

/** What a verdict other than "nothing" leads to. */
export function settle(
  sketch: Sketch,
  definition: KronDefinition,
  standing: JobStanding,
  decision: Decision,
  verdict: Exclude<Verdict, { readonly kind: "nothing" }>,
): void {
  switch (verdict.kind) {
    case "start":
      start(sketch, definition, standing, decision, startBound(sketch, verdict.startByAt));
      return;
    case "replace":
      clear(sketch, decision);
      return;
    default:
      close(sketch, definition, decision, verdict.kind, verdict.reason);
  }
}

/** READY, then the claim: in two rounds, because the claim names the uid of the Job. */
function start(
  sketch: Sketch,
  definition: KronDefinition,
  standing: JobStanding,
  decision: Decision,
  startByAt: EpochMs,
): void {
  const runs = activeRuns(sketch.status);
  const verdict = claimVerdict(standing, cronOccasion(decision), definition.policy, runs, sketch.now, startByAt);
  if (verdict.kind === "missed" || verdict.kind === "skipped") {
    close(sketch, definition, decision, verdict.kind, verdict.reason);
    return;
  }
  if (verdict.kind !== "start") return;
  const { failure } = sketch.memory;
  if (failure !== null && sketch.now < failure.retryAt) {
    sketch.lookAgain(failure.retryAt);
    return;
  }
  const job = gate(sketch, occasionOf(sketch, definition, decision));
  if (job === null) return;
  sketch.status = claimed(sketch.status, decision, job, startByAt, sketch.now);
  if (!job.isGated) sketch.news.push({ kind: "unexpected_job", job: job.name, periodId: decision.periodId });
  tellOutcome(sketch, definition, decision, "executed", null, job.name);
}

export function occasionOf(sketch: Sketch, { policy }: KronDefinition, decision: Decision): Occasion {
  const { periodId, nominalAt, chosenAt: chosen } = decision;
  const chosenAt = chosen ?? nominalAt;
  const retryUntilAt = deadlineAt(chosenAt, deadlineMsOf(policy.deadlineMs, decision), sketch.memory.heldUntilAt);
  return { source: null, periodId, nominalAt, chosenAt, decision, retryUntilAt };
}

/** The Job that may be claimed for this occasion; null: not yet, and what it takes is under way. */
export function gate(sketch: Sketch, occasion: Occasion): JobView | null {
  const name = jobNameOf(sketch.kronJob, occasion.source, occasion.periodId);
  const job = sketch.job(name);
  if (job === undefined || job === null) {
    sketch.first.push({ type: "createGate", name, occasion });
    return null;
  }
  const isOutdated = job.isGated && job.generation !== (sketch.kronJob.metadata.generation ?? 0);
  if (isOutdated && !job.isDeleting) {
    const { remove: denied } = sketch.memory.denied;
    if (mustWait(denied, sketch.now)) {
      sketch.lookAgain(denied.retryAt);
      return null;
    }
    const { uid, resourceVersion } = job;
    sketch.first.push({ type: "deleteJob", name, uid, resourceVersion, propagation: "Background", reason: "outdated" });
    return null;
  }
  if (job.ownerUid === sketch.uid && !job.isDeleting) return job;
  hindered(sketch, occasion, job);
  return null;
}

/** Not ours, or on its way out: what a cache says of it is checked, and then it stands in the way (S24). */
function hindered(sketch: Sketch, occasion: Occasion, job: JobView): void {
  const { name, isDeleting } = job;
  const refusedRun = sketch.kronJob.metadata.annotations?.[ANNOTATION.run] ?? null;
  if (!sketch.observed.direct.has(name)) sketch.first.push({ type: "lookUp", name });
  else if (isDeleting) sketch.lookAgain(sketch.now + SECOND_MS);
  else {
    const message = `a Job named ${name} is there that belongs to somebody else`;
    sketch.memory =
      occasion.source === null
        ? failed(sketch.memory, "job-name-taken", message, occasion.retryUntilAt, sketch.now)
        : { ...sketch.memory, refusedRun };
    sketch.loose.push({ kind: "not_created", job: name, periodId: occasion.periodId, code: "job-name-taken", message });
    sketch.lookAgain(sketch.memory.failure?.retryAt ?? sketch.now);
  }
}

/** S25: the victims go with their pods; nothing starts before all of them are gone. */
function clear(sketch: Sketch, decision: Decision): void {
  const active = sketch.status.active ?? [];
  const { clearing } = sketch.memory;
  const untilAt = clearing?.untilAt ?? sketch.now + podGraceMs(sketch) + OPERATOR_TIMES.clearingMs;
  const isOverdue = sketch.now > untilAt;
  const { release, remove } = sketch.memory.denied;
  for (const run of active) {
    const { name, uid } = run;
    const job = sketch.job(name);
    if (job === null || job === undefined) continue;
    if (isOverdue && clearing?.isOverdue !== true) {
      sketch.loose.push({ kind: "replace_failed", job: name, periodId: decision.periodId });
    }
    if (job.isDeleting || mustWait(remove, sketch.now)) continue;
    if (job.isGated && mustWait(release, sketch.now)) {
      withdraw(sketch, run, job);
      continue;
    }
    const propagation = "Foreground";
    sketch.first.push({ type: "deleteJob", name, uid, resourceVersion: null, propagation, reason: "replaced" });
  }
  const uids = [...new Set([...(clearing?.uids ?? []), ...active.map(({ uid }) => uid)])];
  sketch.memory = { ...sketch.memory, clearing: { uids, untilAt, isOverdue } };
  sketch.lookAgain(sketch.now + SECOND_MS);
}

function podGraceMs({ kronJob }: Sketch): number {
  const seconds = kronJob.spec.jobTemplate.spec.template.spec["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds * SECOND_MS : OPERATOR_TIMES.defaultPodGraceMs;
}

/** S25: once the victims are gone the start grace counts anew. */
function startBound(sketch: Sketch, startByAt: EpochMs): EpochMs {
  const { clearing, clearedAt } = sketch.memory;
  if (clearing === null) return startByAt;
  const goneAt = clearedAt ?? sketch.now;
  if (clearedAt === null) sketch.memory = { ...sketch.memory, clearedAt: goneAt };
  return startLimitAfterReplace(startByAt, goneAt, OPERATOR_TIMES.startGraceMs);
}

function close(
  sketch: Sketch,
  definition: KronDefinition,
  decision: Decision,
  outcome: "skipped" | "missed" | "unschedulable",
  said: string,
): void {
  const { failure } = sketch.memory;
  // Where a better reason is known, lateness alone is none.
  const reason = outcome === "missed" && failure !== null ? `not_started:${failure.code}` : said;
  sketch.status = closed(sketch.status, decision, outcome, reason, sketch.now);
  tellOutcome(sketch, definition, decision, outcome, reason, null);
}

function tellOutcome(
  sketch: Sketch,
  { policy }: KronDefinition,
  decision: Decision,
  outcome: "executed" | "skipped" | "missed" | "unschedulable",
  reason: string | null,
  job: string | null,
): void {
  const { periodId, chosenAt, seedHash } = decision;
  const deadlineMs = deadlineMsOf(policy.deadlineMs, decision);
  sketch.news.push({ kind: "outcome", periodId, outcome, reason, chosenAt, deadlineMs, seedHash, job });
}

/** S40: run now, because somebody wrote so. True: something is being done about it. */
export function settleManual(sketch: Sketch): boolean {
  const value = sketch.kronJob.metadata.annotations?.[ANNOTATION.run];
  if (value === undefined || value === sketch.memory.refusedRun) return false;
  const slot = parseInstant(value);
  if (!slot.ok) return refuseRun(sketch, value, slot.error.message);
  const lastSlot = parseInstant(sketch.status.lastSlot?.[MANUAL] ?? "");
  if (lastSlot.ok && slot.value <= lastSlot.value) return false;
  const { runRequestMs, runRequestAheadMs, startGraceMs } = OPERATOR_TIMES;
  if (isPast(slot.value + runRequestMs, sketch.now)) return refuseRun(sketch, value, "it is more than 10 minutes old");
  if (slot.value > sketch.now + runRequestAheadMs) return refuseRun(sketch, value, "it lies in the future");
  const periodId = formatInstant(slot.value);
  const chosenAt = floorToSecond(slot.value);
  const retryUntilAt = slot.value + runRequestMs;
  const occasion = { source: MANUAL, periodId, nominalAt: slot.value, chosenAt, decision: null, retryUntilAt };
  const job = gate(sketch, occasion);
  if (job === null) return true;
  const startByAt = floorToSecond(Math.max(slot.value, sketch.now)) + startGraceMs;
  sketch.status = claimedSlot(sketch.status, slot.value, job, startByAt, sketch.now);
  sketch.news.push({ kind: "slot_claimed", source: MANUAL, periodId, job: job.name });
  return true;
}

function refuseRun(sketch: Sketch, value: string, why: string): false {
  sketch.memory = { ...sketch.memory, refusedRun: value };
  sketch.loose.push({ kind: "run_refused", value, why });
  return false;
}
