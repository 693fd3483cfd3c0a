/**
 * What is to be done about one KronJob, from what is observed and the time: the heart of the operator, and pure. It is
 * asked again after every answer of the API server, so that each step follows from what is, and none from who did the
 * step before. Two leaders may both ask: at most one of them gets its status written. What is done here on top of the core
 * the supervisor's machines do in their own form; test/operator/same-as-machines.test.ts holds the two to the same outcomes.
 */

import type { Problem } from "../../core/base/problem.js";
import { decide } from "../../core/decision/decide.js";
import { dueAt } from "../../core/period/occasion.js";
import { openingAt, planAfter } from "../../core/period/periods.js";
import type { JobStanding } from "../../core/period/policy.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { type KronDefinition, problemText, readKronJob } from "../definition.js";
import type { KronJobStatus } from "../kube/types.js";
import { mergePatch } from "../merge-patch.js";
import { defined, pausedUntilAt, standingOf } from "../status.js";
import { type Standing, withConditions } from "./conditions.js";
import type { Effect, Observed } from "./effects.js";
import { judgeLive } from "./live.js";
import { failed, type Memory, returning } from "./memory.js";
import { readiness, schedulingError, unschedulable } from "./readiness.js";
import { settleManual } from "./settle.js";
import { Sketch } from "./sketch.js";
import { tend } from "./tend.js";
import { tidy } from "./tidy.js";

export interface Plan {
  /** In order. Each is to be carried out before the next; a conflict ends them all. */
  readonly effects: readonly Effect[];
  readonly memory: Memory;
  /** When the clock alone may change something. */
  readonly lookAgainAt: EpochMs | null;
}

export function reconcile(observed: Observed, memory: Memory, now: EpochMs): Plan {
  try {
    return planFor(new Sketch(observed, memory, now));
  } catch (error) {
    return undecided(new Sketch(observed, memory, now), error);
  }
}

function planFor(sketch: Sketch): Plan {
  const { observed, now } = sketch;
  if (observed.kronJob.metadata.deletionTimestamp !== undefined) return planOf(sketch);
  const standing = standingOf(sketch.kronJob, sketch.status, now);
  if (!standing.ok) return refuse(sketch, "StatusUnreadable", [standing.error]);
  if (!tend(sketch)) return planOf(sketch);
  const definition = readKronJob(sketch.kronJob);
  if (!definition.ok) return refuse(sketch, "InvalidSpec", definition.error);
  return schedule(sketch, definition.value);
}

function schedule(sketch: Sketch, definition: KronDefinition): Plan {
  const isNew = isNewGeneration(sketch);
  if (isNew && sketch.observed.template === null) {
    sketch.first.push({ type: "checkTemplate" });
    return planOf(sketch);
  }
  if (isNew) sketch.memory = returning(sketch.memory);
  sketch.status = defined(sketch.kronJob, sketch.status, definition.ruleHash, sketch.now);
  if (!isBypassed(sketch)) judge(sketch, definition);
  describe(sketch, definition);
  tidy(sketch);
  return planOf(sketch);
}

/** S18: a decision that cannot be computed leaves the period open, and is tried again with the same inputs. */
function judge(sketch: Sketch, definition: KronDefinition): void {
  const { failure } = sketch.memory;
  if (failure?.code === "decision-failed" && sketch.now < failure.retryAt) {
    sketch.lookAgain(failure.retryAt);
    return;
  }
  try {
    if (!settleManual(sketch)) judgeLive(sketch, definition, standingNow(sketch));
    if (sketch.memory.failure?.code === "decision-failed") sketch.memory = { ...sketch.memory, hasRecovered: true };
  } catch (error) {
    noteUndecided(sketch, error);
  }
}

/** S18: told once a try, and tried again after 1 s doubling to 60 s. */
function noteUndecided(sketch: Sketch, error: unknown): void {
  const known = sketch.memory.failure;
  if (known?.code !== "decision-failed" || sketch.now >= known.retryAt) {
    const message = error instanceof Error ? error.message : String(error);
    const memory = failed(sketch.memory, "decision-failed", message, Number.POSITIVE_INFINITY, sketch.now);
    sketch.memory = { ...memory, hasRecovered: false };
    sketch.loose.push({ kind: "undecided", periodId: sketch.before.nextPeriodID ?? "", message });
  }
  sketch.lookAgain(sketch.memory.failure?.retryAt ?? sketch.now);
}

/** Something in between could not be thought through: that stands in the status, and what was claimed is still tended. */
function undecided(sketch: Sketch, error: unknown): Plan {
  noteUndecided(sketch, error);
  if (!tend(sketch)) return planOf(sketch);
  const generation = sketch.before.observedGeneration ?? 0;
  const standings = [readiness(sketch, false, null, false), schedulingError(sketch, null)];
  sketch.status = withConditions(sketch.status, standings, generation, sketch.now);
  return planOf(sketch);
}

function standingNow({ kronJob, status, now }: Sketch): JobStanding {
  const standing = standingOf(kronJob, status, now);
  if (!standing.ok) throw new Error(`invariant broken: ${problemText(standing.error)}`);
  return standing.value;
}

function isNewGeneration({ kronJob, before }: Sketch): boolean {
  return before.observedGeneration !== (kronJob.metadata.generation ?? 0);
}

/** Durable, as long as the spec is the same: a gate that does not hold would run before its claim. */
function isBypassed(sketch: Sketch): boolean {
  const { template } = sketch.observed;
  if (template !== null) return template.kind === "bypassed";
  const ready = sketch.before.conditions?.find(({ type }) => type === "Ready");
  return ready?.reason === "GateBypassed";
}

/** What is for people: derived, and written with what is not. */
function describe(sketch: Sketch, definition: KronDefinition): void {
  const { policy, compiled } = definition;
  const { mode, durationMs } = compiled.rule.window;
  const { observed, before } = sketch;
  if (before.suspended !== undefined && before.suspended !== policy.suspend) {
    sketch.news.push({ kind: policy.suspend ? "suspended" : "resumed" });
  }
  tellTemplate(sketch);
  const window = durationMs === 0 ? "0s" : `${mode} ${formatDuration(durationMs)}`;
  const activeCount = sketch.status.active?.length ?? 0;
  const observedGeneration = sketch.kronJob.metadata.generation ?? 0;
  const isRunnable = !policy.suspend && !isBypassed(sketch);
  sketch.status = {
    ...withoutNext(sketch.status),
    observedGeneration,
    window,
    suspended: policy.suspend,
    activeCount,
    ...(isRunnable ? nextOf(sketch, definition) : {}),
  };
  const conditions: readonly Standing[] = [
    readiness(sketch, policy.suspend, pausedUntilAt(sketch.kronJob), isBypassed(sketch)),
    { type: "InvalidSpec", isTrue: false, reason: "Valid", message: "" },
    schedulingError(sketch, observed.template),
    unschedulable(sketch.status),
  ];
  sketch.status = withConditions(sketch.status, conditions, observedGeneration, sketch.now);
}

function tellTemplate(sketch: Sketch): void {
  const { template } = sketch.observed;
  if (!isNewGeneration(sketch) || template === null || template.kind === "fine") return;
  if (template.kind === "bypassed") sketch.news.push({ kind: "gate_bypassed", job: null });
  else sketch.news.push({ kind: "template_refused", code: template.code, message: template.message });
}

function withoutNext(status: KronJobStatus): KronJobStatus {
  const {
    nextPeriodID: _id,
    nextNominalTime: _nominal,
    nextWindowStart: _start,
    nextChosenTime: _at,
    ...rest
  } = status;
  return rest;
}

function nextOf(sketch: Sketch, { compiled }: KronDefinition): Partial<KronJobStatus> {
  const { liveAt, failure } = sketch.memory;
  if (liveAt === null || failure?.code === "decision-failed") return {};
  const standing = standingNow(sketch);
  const isOpen = standing.lastHandledAt === null || liveAt > standing.lastHandledAt;
  const nextAt = isOpen ? liveAt : planAfter(compiled, standing, liveAt);
  if (nextAt === null) return {};
  const decision = decide(compiled, nextAt);
  if (sketch.lookAgainAt === null && !isOpen) sketch.lookAgain(dueAt(decision));
  return {
    nextPeriodID: decision.periodId,
    nextNominalTime: decision.periodId,
    nextWindowStart: formatInstant(openingAt(compiled, nextAt)),
    ...(decision.chosenAt === null ? {} : { nextChosenTime: formatInstant(decision.chosenAt) }),
  };
}

/** ERROR-MODEL: the resource is marked, and nothing more is decided for it. What was claimed is still tended. */
function refuse(sketch: Sketch, why: "InvalidSpec" | "StatusUnreadable", problems: readonly Problem[]): Plan {
  const message = problems.map(problemText).join("; ");
  const code = problems[0]?.code ?? "field-type";
  const isInvalid = why === "InvalidSpec";
  const generation = sketch.kronJob.metadata.generation ?? 0;
  const was = sketch.before.conditions?.find(({ type }) => type === (isInvalid ? "InvalidSpec" : "SchedulingError"));
  if (isNewGeneration(sketch) || was?.status !== "True") sketch.news.push({ kind: "invalid", code, message });
  const conditions: readonly Standing[] = [
    { type: "Ready", isTrue: false, reason: why, message },
    { type: "InvalidSpec", isTrue: isInvalid, reason: isInvalid ? code : "Valid", message: isInvalid ? message : "" },
    isInvalid ? schedulingError(sketch, null) : { type: "SchedulingError", isTrue: true, reason: why, message },
  ];
  const activeCount = sketch.status.active?.length ?? 0;
  const status = { ...withoutNext(sketch.status), observedGeneration: generation, activeCount };
  sketch.status = withConditions(status, conditions, generation, sketch.now);
  sketch.memory = returning(sketch.memory);
  return planOf(sketch);
}

/** What has to be asked or made first is not mixed with what will be written when the answer is known. */
function planOf(sketch: Sketch): Plan {
  const { last, news, loose, memory, lookAgainAt, before, status } = sketch;
  const told: readonly Effect[] = loose.length === 0 ? [] : [{ type: "tell", news: loose }];
  const first = [...told, ...sketch.first];
  const isAsking = first.some(({ type }) => type === "lookUp" || type === "checkTemplate" || type === "createGate");
  if (isAsking) return { effects: first, memory, lookAgainAt };
  const isChanged = mergePatch({ ...before }, { ...status }) !== null;
  const written: readonly Effect[] = isChanged ? [{ type: "writeStatus", status, news }] : [];
  return { effects: [...first, ...written, ...last], memory, lookAgainAt };
}
