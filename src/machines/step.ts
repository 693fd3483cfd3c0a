/**
 * One event in the life of one identity: the next activation, and the effects that leave it, as values. Pure: the same
 * arguments give the same step, so that a crash, a replay and a model check all meet the code that runs in production.
 */
import type { ErrorCode } from "../core/base/errors/registry.js";
import type { Clamp } from "../core/governor/governor.js";
import type { Hint, HintKind } from "../core/governor/hint.js";
import { isGoverned } from "../core/period/governed.js";
import {
  type AskedSource,
  hintedAtOf,
  isAskedSource,
  isOwnSource,
  isPeriod,
  type Occasion,
  recordedSource,
  type SlotOccasion,
  slotOccasion,
} from "../core/period/occasion.js";
import { isDatedAhead, USUAL } from "../core/period/policy.js";
import { birthBy } from "../core/state/definition-transitions.js";
import { activeRuns, type StateDocument, standingOf } from "../core/state/document.js";
import type { Ending, Holder } from "../core/state/ending.js";
import { isClearHeld, isHintHeld, isPauseHeld } from "../core/state/held-by-person.js";
import { hintsAfter, isOneshotOf } from "../core/state/hint-transitions.js";
import { type SlotClaim, withSlotUsed } from "../core/state/period-transitions.js";
import { type EpochMs, floorToSecond } from "../core/time/instant.js";
import type { Activation, Attempt, JobScope } from "./activation.js";
import { Draft, type Ended, idOf, type Moment } from "./draft.js";
import type { OutwardEffect } from "./effects.js";
import { ENGINE, type Engine } from "./engine.js";
import { apply, dropLive, evaluate, failStart, startIfCleared } from "./judge.js";
import { closeLeftOpen } from "./left-open.js";
import { successorDueAt, take } from "./plan.js";
import { aftermathOfHints, endForGood, endHints, endPause, expireHints, hint, resume } from "./stand-ins.js";

export type ActivationEvent =
  /**
   * The clock. `isReturning`: after a boot, a resume, a clock jump or a late wake (S13). `nominalAt`: the live period of a
   * job that rested, from the timeline; null: not known.
   */
  | { readonly type: "WAKE"; readonly isReturning: boolean; readonly nominalAt: EpochMs | null }
  | { readonly type: "READY"; readonly attemptId: string; readonly holder: Holder }
  | { readonly type: "FAILED"; readonly attemptId: string; readonly code: ErrorCode }
  | { readonly type: "DURABLE"; readonly attemptId: string }
  /** Somebody else has what was claimed. `document`: what is on record of the job now. */
  | { readonly type: "REFUSED"; readonly attemptId: string; readonly document: StateDocument }
  | { readonly type: "STARTED"; readonly attemptId: string }
  | { readonly type: "NOT_RUN"; readonly attemptId: string; readonly reason: "late" | "unconfirmed" }
  | { readonly type: "EXITED"; readonly attemptId: string; readonly ending: Ending }
  | { readonly type: "LOST"; readonly attemptId: string }
  | { readonly type: "TERMINATED"; readonly attemptId: string; readonly isGone: boolean }
  /** Cancel what was started. */
  | { readonly type: "END"; readonly attemptId: string; readonly reason: string }
  /** S40: run now, outside the job's own periods. */
  | { readonly type: "RUN"; readonly source: AskedSource; readonly slotAt: EpochMs; readonly onlyIfIdle?: true }
  /**
   * The scope of this step is a new one: another rule, policy or command. `hash` names the scheduling rule; `carriedAt` is
   * the period that was live under the old one (`carriedPeriod`).
   */
  | { readonly type: "DEFINE"; readonly hash: string; readonly carriedAt: EpochMs | null }
  | { readonly type: "REMOVE" }
  /** S44: the boot of the machine that this is. `isPast`: the definition is younger than the daemon's first look in it. */
  | { readonly type: "BOOT"; readonly bootId: string; readonly isPast: boolean }
  /** `isNew` false: it was asked for while nobody looked, and may have begun long ago. */
  | {
      readonly type: "PAUSE";
      readonly untilAt: EpochMs;
      readonly reason: string;
      readonly catchesUp?: boolean;
      readonly isNew?: boolean;
      /** Absent: whoever runs the daemon. What a planner wants stands back behind what a person has said. */
      readonly by?: string;
    }
  | { readonly type: "RESUME"; readonly by?: string }
  /** S41: from here on, and until its TTL, this says when the job runs. */
  | { readonly type: "HINT"; readonly hint: Hint }
  | { readonly type: "UNHINT"; readonly kind: HintKind | "all"; readonly by?: string };

export interface Step {
  readonly activation: Activation;
  /** In order. Nothing may be done before what stands before it, and GO not before its claim is durable. */
  readonly effects: readonly OutwardEffect[];
  readonly ended: Ended;
  /** S13: for `nextWakeAt`. */
  readonly successorDueAt: EpochMs | null;
}

export type Stepper = (scope: JobScope, activation: Activation, event: ActivationEvent, moment: Moment) => Step;

export function createStepper(engine: Engine): Stepper {
  return (scope, activation, event, moment) => {
    const draft = new Draft(engine, scope, moment, activation);
    receive(draft, event);
    lookAround(draft, event);
    return {
      activation: draft.result(),
      effects: draft.outward,
      ended: draft.ended,
      successorDueAt: draft.period?.matches({ eligible: "retrying" }) === true ? successorDueAt(draft) : null,
    };
  };
}

export const step: Stepper = createStepper(ENGINE);

/** Whether somebody wants of the job what a person in force has said otherwise: then nothing comes of it. */
export function isHeldByPerson(document: StateDocument, event: ActivationEvent, now: EpochMs): boolean {
  switch (event.type) {
    case "HINT":
      return isHintHeld(document, event.hint.by, now);
    case "PAUSE":
      return isPauseHeld(document, event.by, now);
    case "UNHINT":
      return isClearHeld(document, event.by, event.kind);
    case "RESUME":
      return isClearHeld(document, event.by, "pause");
    default:
      return false;
  }
}

/** What is heard of a pause after it is over finds it ended first; these two have no use for that. */
const LEAVES_PAUSE: ReadonlySet<ActivationEvent["type"]> = new Set(["REMOVE", "RESUME"]);

/** S14, S24: what was tried under the rule before goes with it. */
function isOtherRule({ document }: Draft, event: ActivationEvent): boolean {
  return event.type === "DEFINE" && event.hash !== document.DefinitionHash;
}

function isResuming({ document, moment }: Draft, event: ActivationEvent): boolean {
  return event.type === "RESUME" && !isHeldByPerson(document, event, moment.now);
}

function receive(draft: Draft, event: ActivationEvent): void {
  if (!isOtherRule(draft, event)) closeLeftOpen(draft, isResuming(draft, event));
  if (!LEAVES_PAUSE.has(event.type)) {
    endPause(draft);
  }
  if (event.type !== "REMOVE") endForGood(draft);
  if (isHeldByPerson(draft.document, event, draft.moment.now)) {
    // Nothing comes of it, but whoever resumes is not woken before (S13).
    if (event.type === "RESUME") evaluate(draft, true);
    return;
  }
  switch (event.type) {
    case "WAKE":
      wake(draft, event.isReturning, event.nominalAt);
      return;
    case "RUN":
      run(draft, event);
      return;
    case "DEFINE":
      define(draft, event.hash, event.carriedAt);
      return;
    case "REMOVE":
      remove(draft);
      return;
    case "BOOT":
      noteBoot(draft, event.bootId, event.isPast);
      return;
    case "PAUSE":
      draft.tellJob({ ...event, type: "PAUSED", now: draft.moment.now });
      // S41: a job at rest that more than its schedule governs finds out only now what it waits for.
      if (isGoverned(draft.scope.compiled, standingOf(draft.document))) evaluate(draft, false);
      return;
    case "RESUME":
      resume(draft);
      endForGood(draft);
      evaluate(draft, true);
      return;
    case "HINT":
      hint(draft, event.hint);
      return;
    case "UNHINT":
      endHints(draft, event.kind);
      return;
    default:
      report(draft, event);
      return;
  }
}

/**
 * What an activation does not know it does not wait for: whatever a job at rest hears, and whether or not anything came of
 * that, it knows afterwards what is next. Only what is gone waits for nothing.
 */
function lookAround(draft: Draft, { type }: ActivationEvent): void {
  if (draft.period === null && draft.undecided === null && type !== "REMOVE") evaluate(draft, false);
}

function wake(draft: Draft, isReturning: boolean, nominalAt: EpochMs | null): void {
  const { now } = draft.moment;
  draft.isAwaited = draft.period === null ? nominalAt !== null : draft.period.matches("planned");
  if (isReturning) {
    redate(draft);
  }
  for (const attempt of draft.attempts) {
    draft.tellAttempt(idOf(attempt), { type: "TICK", now });
  }
  expireHints(draft);
  const hasReturned = isReturning || draft.mustReturn;
  const isResting = draft.period === null && draft.undecided === null && draft.document.RemovedAt === undefined;
  if (!hasReturned && isResting && !isGoverned(draft.scope.compiled, standingOf(draft.document))) {
    take(draft, nominalAt);
  }
  evaluate(draft, hasReturned);
}

/** S14, S32: nothing would run until the clock has caught up with it, and nobody would know why. */
function redate(draft: Draft): void {
  const { document, moment } = draft;
  const { LastHandledPeriodID: lastHandledPeriodId, DefinedAt: definedAt } = document;
  if (document.RemovedAt !== undefined || !isDatedAhead(standingOf(document), moment.now)) {
    return;
  }
  const dated = (standingOf(document).definedAt ?? 0) > moment.now && definedAt !== undefined ? { definedAt } : {};
  draft.outward.push({ type: "stateAhead", params: { lastHandledPeriodId, ...dated } });
  draft.tellJob({ type: "REDATED", now: moment.now });
}

/** What the launcher or the store says about one attempt. */
function report(draft: Draft, event: Extract<ActivationEvent, { readonly attemptId: string }>): void {
  const { attemptId } = event;
  if (event.type === "READY") {
    claim(draft, attemptId, event.holder);
    return;
  }
  if (event.type === "REFUSED") {
    giveUp(draft, attemptId, event.document);
    return;
  }
  if (event.type === "DURABLE") {
    draft.tellClaimedPeriod(attemptId, { type: "CLAIMED" });
    draft.tellAttempt(attemptId, { type: "DURABLE", now: draft.moment.now });
  } else {
    draft.tellAttempt(attemptId, event);
  }
  const isStubborn = event.type === "TERMINATED" && !event.isGone;
  if (draft.failure !== null) {
    failStart(draft, draft.failure);
  } else if (isStubborn && draft.period?.matches({ eligible: "clearing" }) === true) {
    failStart(draft, "replace-not-terminated");
  }
  startIfCleared(draft);
  // S41: a run that has ended may be what the next slot was waiting for.
  if (event.type !== "DURABLE" && isGoverned(draft.scope.compiled, standingOf(draft.document))) {
    evaluate(draft, false);
  }
}

/**
 * The run is somebody else's, and what the job knew is not what is on record: it goes on from there, after the period that
 * was not its own. Nothing is said of that one.
 */
function giveUp(draft: Draft, attemptId: string, document: StateDocument): void {
  const refused = draft.attempt(attemptId)?.execution.context.attempt;
  draft.tellAttempt(attemptId, { type: "REFUSED" });
  dropLive(draft);
  const { source = null, slotAt = 0 } = refused ?? {};
  draft.reread(source === null ? document : withSlotUsed(document, source, slotAt));
  draft.passedAt = refused !== undefined && isPeriod(refused.source) ? refused.slotAt : null;
  evaluate(draft, false);
}

/** The gate is ready: judged once more, then claimed, or closed again (S20, S23). */
function claim(draft: Draft, attemptId: string, holder: Holder): void {
  draft.tellAttempt(attemptId, { type: "READY", holder });
  const attempt = draft.attempt(attemptId);
  if (attempt === undefined || !attempt.execution.matches({ gated: "waiting" })) {
    // A gate that nobody waits for: made for a period that was given up meanwhile.
    draft.outward.push({ type: "closeGate", params: { attemptId } });
    return;
  }
  if (isOwnSource(attempt.execution.context.attempt.source)) {
    claimLive(draft, attempt, holder);
  } else {
    claimAsked(draft, attempt, holder);
  }
}

function claimLive(draft: Draft, { execution }: Attempt, holder: Holder): void {
  const { period, engine, scope, moment, document } = draft;
  const { attempt, startByAt } = execution.context;
  const { attemptId } = attempt;
  const occasion = period?.context.occasion;
  const isFor = occasion?.periodId === attempt.periodId && recordedSource(occasion.source) === attempt.source;
  if (period === null || occasion === undefined || !isFor) {
    draft.tellAttempt(attemptId, { type: "CLOSE" });
    return;
  }
  const standing = standingOf(document);
  const active = activeRuns(document);
  const verdict = engine.claimVerdict(standing, occasion, scope.policy, active, moment.now, startByAt);
  if (verdict.kind === "start") {
    const claimed = { holder, attemptId, ...movedBy(occasion), stop: scope.policy.stop, now: moment.now };
    if (occasion.source === "cron") draft.tellJob({ type: "CLAIM", decision: occasion.decision, ...claimed });
    else draft.tellJob({ type: "CLAIM_SLOT", ...slotOf(draft, occasion), ...claimed });
    draft.tellAttempt(attemptId, { type: "CLAIM" });
    draft.handOver(attemptId, period);
    // S42: the schedule is back, where the run took the hint with it.
    evaluate(draft, occasion.source === "hint-oneshot");
    return;
  }
  draft.tellAttempt(attemptId, { type: "CLOSE" });
  if (apply(draft, verdict)) {
    evaluate(draft, false);
  }
}

/** Which bound of the pace has moved it goes on record with the claim. */
function movedBy({ clamped }: Occasion): { readonly clamped?: Clamp } {
  return clamped === undefined ? {} : { clamped };
}

/** S42: the run that a one-shot hint asked for takes the hint with it, in the transaction that claims it. */
function slotOf(draft: Draft, occasion: SlotOccasion): Omit<SlotClaim, "attemptId" | "holder"> {
  const { document, moment } = draft;
  const { source, slotAt, chosenAt } = occasion;
  const hintedAt = hintedAtOf(occasion);
  const slot = { source, slotAt, chosenAt };
  if (source !== "hint-oneshot" || !isOneshotOf(document, hintedAt)) return { ...slot, aftermath: null };
  const { left } = hintsAfter(document, "oneshot", moment.now);
  return { ...slot, aftermath: aftermathOfHints(draft, left, moment.now) };
}

/** S40: what somebody asked for is no live occasion, and is judged as one all the same (S21). */
function claimAsked(draft: Draft, { execution }: Attempt, holder: Holder): void {
  const { document, engine, moment, scope } = draft;
  const { attempt, startByAt } = execution.context;
  const { attemptId, source, slotAt, chosenAt } = attempt;
  const slot = isAskedSource(source) ? slotOccasion(source, slotAt, moment.now) : null;
  const asked = slot === null ? null : { ...slot, chosenAt, ...wishOf(attempt) };
  const [standing, active] = [standingOf(document), activeRuns(document)];
  const verdict = asked && engine.claimVerdict(standing, asked, scope.policy, active, moment.now, startByAt);
  if (asked === null || verdict?.kind !== "start") {
    draft.tellAttempt(attemptId, { type: "CLOSE" });
    return;
  }
  const { stop } = scope.policy;
  draft.tellJob({ type: "CLAIM_SLOT", ...slotOf(draft, asked), holder, attemptId, stop, now: moment.now });
  draft.tellAttempt(attemptId, { type: "CLAIM" });
}

/** Judged when it is asked for, and again when it is claimed: what begins in between counts too. */
function wishOf({ onlyIfIdle }: { readonly onlyIfIdle?: true }): Pick<SlotOccasion, "onlyIfIdle"> {
  return onlyIfIdle === undefined ? {} : { onlyIfIdle };
}

function run(draft: Draft, event: Extract<ActivationEvent, { readonly type: "RUN" }>): void {
  const { source, slotAt } = event;
  const { attempts, document, engine, moment, scope } = draft;
  const isAsked = attempts.some(
    ({ execution: { context } }) => context.attempt.source === source && context.attempt.slotAt === slotAt,
  );
  if (isAsked) {
    return;
  }
  // Where it is named after an older one, that name lies ahead: it is due now all the same.
  const chosenAt = Math.min(slotAt, moment.now);
  const asked = { ...slotOccasion(source, slotAt, moment.now), chosenAt, ...wishOf(event) };
  const circumstances = { ...USUAL, startGraceMs: scope.startGraceMs };
  const standing = standingOf(document);
  const verdict = engine.verdict(standing, asked, scope.policy, activeRuns(document), moment.now, circumstances);
  if (verdict.kind === "start") {
    draft.arm({ source, periodId: asked.periodId, slotAt, chosenAt, ...wishOf(event) }, verdict.startByAt);
  }
}

/** S16: the decision of the first unhandled period is made anew, and a gate that was made for the old one is closed. */
function define(draft: Draft, hash: string, carriedAt: EpochMs | null): void {
  const { policy, historyLimit } = draft.scope;
  const { now } = draft.moment;
  const isOtherRule = draft.document.DefinitionHash !== hash;
  const isRetryLive = draft.period?.context.occasion.source === "retry";
  dropLive(draft);
  draft.tellJob({ type: "CONFIGURED", isSuspended: policy.suspend, historyLimit });
  draft.tellJob({ type: "DEFINED", hash, carriedAt, birth: birthBy(draft.scope.compiled, now), now });
  redate(draft);
  // S14, S43: what was due under the rule before, and was not live any more, is the past.
  const { retry } = standingOf(draft.document);
  if (isOtherRule && !isRetryLive && retry !== undefined && retry.at < floorToSecond(now)) {
    draft.tellJob({ type: "RETRY_DROPPED", now });
  }
  draft.passedAt = null;
  evaluate(draft, true);
}

/** S44: what was pending of the boot before is given up with it. */
function noteBoot(draft: Draft, bootId: string, isPast: boolean): void {
  if (draft.document.Boot?.ID === bootId) {
    return;
  }
  dropLive(draft);
  draft.tellJob({ type: "BOOTED", bootId, isPast, now: draft.moment.now });
  evaluate(draft, false);
}

/** S16: nothing new is started; what runs is watched to its end. */
function remove(draft: Draft): void {
  dropLive(draft);
  for (const attempt of draft.attempts) {
    draft.tellAttempt(idOf(attempt), { type: "CLOSE" });
  }
  draft.tellJob({ type: "REMOVED", now: draft.moment.now });
}
