/**
 * What is to be done about one KronJob, from what is observed and the time: the heart of the operator, and pure. Its status
 * is the document of Kron's machines, and what they are told is read off its Jobs; when a period is due, whether it may start
 * and what becomes of it they say themselves, as in every other host. It is asked again after every answer of the API server,
 * so that each step follows from what is, and none from who did the step before. Two leaders may both ask: at most one of
 * them gets its status written, and the other begins anew from what is on record then.
 */

import type { Problem } from "../../core/base/problem.js";
import type { StateDocument } from "../../core/state/document.js";
import { standingOf } from "../../core/state/document.js";
import type { EpochMs } from "../../core/time/instant.js";
import { type Activation, liveNominalAt, nextWakeAt } from "../../machines/activation.js";
import { type KronDefinition, problemText, readKronJob, standIn } from "../definition.js";
import { mergePatch } from "../merge-patch.js";
import { carriedAt, documentOf, firstSeen, instantOf, isOnRecord, wantedPause } from "../status.js";
import { type Standing, withConditions } from "./conditions.js";
import { describe, isBypassed, withoutNext } from "./describe.js";
import type { Effect, Observed } from "./effects.js";
import { makeGates, tellOfGates, tellOfWish } from "./gates.js";
import { judgedIfDue, type Memory, NOTHING_KNOWN, remembered, ticked } from "./memory.js";
import { schedulingError } from "./readiness.js";
import { record } from "./record.js";
import { areKnown, tellOfEnded, tellOfRuns, tend } from "./runs.js";
import { Sketch } from "./sketch.js";
import { tidy } from "./tidy.js";

export interface Plan {
  /** In order. Each is to be carried out before the next; a conflict ends them all. */
  readonly effects: readonly Effect[];
  /** What is to be remembered, once the status is written if that is among the effects. */
  readonly memory: Memory;
  /** Whether it is true already: nothing that it rests upon is still to be written. */
  readonly isOnRecord: boolean;
  /** When the clock alone may change something. */
  readonly lookAgainAt: EpochMs | null;
}

export function reconcile(observed: Observed, memory: Memory, now: EpochMs): Plan {
  const known = remembered(memory, observed.kronJob.metadata.generation ?? 0);
  const sketch = new Sketch(observed, ticked(known, now), now);
  if (observed.kronJob.metadata.deletionTimestamp !== undefined) return planOf(sketch);
  const document = documentOf(observed.kronJob);
  if (!document.ok) return refused(sketch, "StatusUnreadable", [document.error]);
  if (!areKnown(sketch)) return planOf(sketch);
  const definition = readKronJob(observed.kronJob);
  if (!definition.ok) {
    tendWithoutRule(sketch, document.value);
    return refused(sketch, "InvalidSpec", definition.error);
  }
  if (sketch.isNewGeneration && observed.template === null) {
    sketch.asks.push({ type: "checkTemplate" });
    return planOf(sketch);
  }
  sketch.begin(firstSeen(document.value, observed.kronJob, definition.value.ruleHash, now), definition.value);
  return scheduled(sketch, definition.value, document.value);
}

/** S16: what was claimed is still tended. A pause goes on: when it ends, there has to be a rule again. */
function tendWithoutRule(sketch: Sketch, { Pause: _, ...document }: StateDocument): void {
  const { pause } = sketch.before;
  sketch.remember({ activation: null });
  sketch.begin(document, standIn());
  sketch.isUntold = true;
  tellOfRuns(sketch);
  record(sketch, standIn(), document);
  if (pause !== undefined) sketch.status = { ...sketch.status, pause };
  tend(sketch);
}

function scheduled(sketch: Sketch, definition: KronDefinition, read: StateDocument): Plan {
  const isHeld = isBypassed(sketch);
  sketch.isUntold = isHeld || sketch.isNewGeneration;
  tellOfRuns(sketch);
  tellOfPause(sketch);
  sketch.isUntold = isHeld;
  if (sketch.isNewGeneration) define(sketch, definition);
  else if (!isHeld) wake(sketch);
  if (!isHeld) {
    tellOfEnded(sketch);
    tellOfWish(sketch);
    tellOfGates(sketch);
  }
  record(sketch, definition, read);
  tend(sketch);
  if (!isHeld) makeGates(sketch);
  settle(sketch);
  describe(sketch, definition);
  tidy(sketch);
  return planOf(sketch);
}

/** S14, S16. */
function define(sketch: Sketch, { ruleHash }: KronDefinition): void {
  sketch.tell({ type: "DEFINE", hash: ruleHash, carriedAt: carriedAt(sketch.kronJob, sketch.now) });
}

/** S17: people write it down as an annotation, and take that away again. */
function tellOfPause(sketch: Sketch): void {
  const { memory, kronJob, now } = sketch;
  const { Pause } = sketch.document;
  const wanted = wantedPause(kronJob, now);
  if (wanted === null) {
    if (Pause !== undefined) sketch.tell({ type: "RESUME" });
    return;
  }
  const { untilAt, reason } = wanted;
  if (Pause !== undefined && instantOf(Pause.Until) === untilAt && Pause.Reason === reason) return;
  const isNew = memory.isAttended && (Pause === undefined || Pause.Since !== undefined);
  sketch.tell({ type: "PAUSE", untilAt, reason, isNew });
}

/** S2, S13: what was found due in a tick is judged by that tick, unless its start has failed since. */
function wake(sketch: Sketch): void {
  const { liveAt, judgedAt, mustReturn, hindrance } = sketch.memory;
  const isUntried = sketch.isFresh && (hindrance === null || hindrance.isAhead);
  if (isUntried && liveAt !== null && judgedAt !== null && judgedAt < sketch.now) {
    sketch.tell({ type: "WAKE", isReturning: false, nominalAt: liveAt }, judgedAt);
  }
  sketch.tell({ type: "WAKE", isReturning: mustReturn, nominalAt: liveAt });
}

/** What a leader has to remember of all that. */
function settle(sketch: Sketch): void {
  const { activation, memory, now } = sketch;
  const { period, undecided, attempts } = activation;
  const liveAt = liveNominalAt(activation);
  const wakeAt = nextWakeAt(activation, sketch.successorDueAt);
  if (wakeAt !== null) sketch.lookAgain(wakeAt);
  // S17: of one that is suspended as well nothing else comes to an end.
  const { pausedUntilAt } = standingOf(sketch.document);
  if (pausedUntilAt !== null && pausedUntilAt > now) sketch.lookAgain(pausedUntilAt);
  const isSame = liveAt !== null && liveAt === memory.liveAt;
  const { hindrance, lostGates, clearing } = memory;
  const wasUndecided = hindrance?.code === "decision-failed";
  // Of a period that was not known before, what hinders it was found out in this look.
  const isOver = wasUndecided ? undecided === null : !isSame && memory.liveAt !== null;
  const isClearing = attempts.some(({ execution }) => execution.matches("terminating"));
  const next: Memory = {
    ...memory,
    activation: isForgettable(activation) ? null : activation,
    liveAt,
    dueAt: period?.context.occasion.dueAt ?? null,
    judgedAt: isSame ? memory.judgedAt : null,
    mustReturn: false,
    isAttended: true,
    refusal: null,
    clearing: isClearing ? clearing : NOTHING_KNOWN.clearing,
    hindrance: isOver ? null : hindrance,
    hasRecovered: memory.hasRecovered || (wasUndecided && undecided === null),
    lostGates: sketch.before.active === undefined ? NOTHING_KNOWN.lostGates : lostGates,
  };
  sketch.memory = judgedIfDue(next, now);
}

/** The document, and the period that is waited for, are all there is to keep. */
function isForgettable({ period, undecided, attempts, mustReturn }: Activation): boolean {
  const isAtRest = (period === null || period.matches("planned")) && undecided === null && !mustReturn;
  return (
    isAtRest &&
    attempts.every(({ execution }) => {
      const hasEnded = execution.matches({ terminating: "stubborn" }) && execution.context.ending !== null;
      return hasEnded || execution.matches("running");
    })
  );
}

/** ERROR-MODEL: the resource is marked, and nothing more is decided for it. */
function refused(sketch: Sketch, why: "InvalidSpec" | "StatusUnreadable", problems: readonly Problem[]): Plan {
  const message = problems.map(problemText).join("; ");
  const code = problems[0]?.code ?? "field-type";
  const isInvalid = why === "InvalidSpec";
  const { generation } = sketch;
  const was = sketch.before.conditions?.find(({ type }) => type === (isInvalid ? "InvalidSpec" : "SchedulingError"));
  if (sketch.isNewGeneration || was?.status !== "True") sketch.news.push({ kind: "invalid", code, message });
  const conditions: readonly Standing[] = [
    { type: "Ready", isTrue: false, reason: why, message },
    { type: "InvalidSpec", isTrue: isInvalid, reason: isInvalid ? code : "Valid", message: isInvalid ? message : "" },
    isInvalid ? schedulingError(sketch, null) : { type: "SchedulingError", isTrue: true, reason: why, message },
  ];
  const activeCount = sketch.status.active?.length ?? 0;
  const status = { ...withoutNext(sketch.status), observedGeneration: generation, activeCount };
  sketch.status = withConditions(status, conditions, generation, sketch.now);
  sketch.remember({ activation: null, liveAt: null, dueAt: null, judgedAt: null, mustReturn: true, hindrance: null });
  return planOf(sketch);
}

/** What has to be asked or made first is not mixed with what is only described, and may be another thing afterwards. */
function planOf(sketch: Sketch): Plan {
  const { first, asks, last, news, loose, facts, lookAgainAt, before, status } = sketch;
  const isChanged = mergePatch({ ...before }, { ...status }) !== null;
  const mustWrite = isChanged && sketch.isLive && (facts.length > 0 || !isOnRecord(before, sketch.document));
  const isWritten = mustWrite || (isChanged && asks.length === 0);
  const written: readonly Effect[] = isWritten ? [{ type: "writeStatus", status, news }] : [];
  const told: readonly Effect[] = loose.length === 0 ? [] : [{ type: "tell", news: loose }];
  return {
    effects: [...first, ...written, ...told, ...asks, ...(asks.length === 0 ? last : [])],
    memory: sketch.isLive ? { ...sketch.memory, wakeAt: lookAgainAt } : sketch.memory,
    isOnRecord: !mustWrite,
    lookAgainAt,
  };
}
