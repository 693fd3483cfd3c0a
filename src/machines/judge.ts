/**
 * The live period of an activation: which one it is, what is to be done about it, when to look again. Works on the draft
 * of one step.
 */
import { deadlineAt, retryAt, retryDelayMs, startLimitAfterReplace } from "../core/period/lateness.js";
import type { PeriodGap } from "../core/period/periods.js";
import { dueAt, type Verdict } from "../core/period/policy.js";
import { standingOf } from "../core/state/document.js";
import { type EpochMs, floorToSecond } from "../core/time/instant.js";
import type { Elder } from "./activation.js";
import { type Draft, isUnclaimed } from "./draft.js";

/** A bound on the periods that one step may settle; the next wake goes on where it ended. */
export const PERIODS_PER_STEP = 64;

/** S13: what is eligible is evaluated in nominal order, each period once, until one takes its time. */
export function evaluate(draft: Draft, isReturning: boolean): void {
  draft.mustReturn ||= isReturning;
  planLive(draft);
  for (let settled = 0; settled < PERIODS_PER_STEP && judgeLive(draft); settled++) {
    planLive(draft);
  }
}

/** Judges anew, as the policy sees it. True: the period is settled or passed, look at the next. */
function judgeLive(draft: Draft): boolean {
  const { period, scope, moment, engine, document, active } = draft;
  if (period === null || isUnderWay(draft) || isResting(draft)) {
    return false;
  }
  const { decision, heldUntilAt, failures } = period.context;
  const verdict = engine.verdict(standingOf(document), decision, scope.policy, active, moment.now, {
    startGraceMs: scope.startGraceMs,
    heldUntilAt,
    successorDueAt: failures > 0 ? successorDueAt(draft) : null,
  });
  return apply(draft, verdict);
}

/** Carries a verdict to the period. True: the period is settled or passed, look at the next. */
export function apply(draft: Draft, verdict: Verdict): boolean {
  const decision = draft.period?.context.decision;
  if (decision === undefined) {
    return false;
  }
  const wasPlanned = draft.period?.matches("planned") === true;
  draft.tellPeriod({ type: "JUDGED", verdict, now: draft.moment.now });
  if (wasPlanned && draft.period?.matches("eligible") === true) {
    draft.tellJob({ type: "DUE" });
  }
  if (verdict.kind === "nothing" && (verdict.reason === "already_handled" || verdict.reason === "before_definition")) {
    passOver(draft, verdict.reason);
  }
  return draft.period === null;
}

/** S14: what is not triggered gets no outcome; why is for the ledger. */
function passOver(draft: Draft, reason: "already_handled" | "before_definition"): void {
  const context = draft.period?.context;
  if (context === undefined) {
    return;
  }
  // Once, when the definition comes into force: every later return passes it over again.
  const isNews = standingOf(draft.document).definedAt === floorToSecond(draft.moment.now);
  if (reason === "before_definition" && isNews) {
    const { identity, periodId } = context.decision;
    draft.tellJob({ type: "NOTED", fact: { kind: "before_definition", identity, periodId, at: draft.moment.now } });
  }
  draft.pass(context, null);
  draft.tellJob({ type: "PASSED" });
}

/** S24, S25: nothing was started; the period stays open until its deadline has passed. */
export function failStart(draft: Draft): void {
  const { period, scope, moment } = draft;
  const chosenAt = period?.context.decision.chosenAt ?? null;
  if (period === null || chosenAt === null || !isUnderWay(draft)) {
    return;
  }
  const limitAt = deadlineAt(chosenAt, scope.policy.deadlineMs, period.context.heldUntilAt);
  draft.tellPeriod({ type: "START_FAILED", retryAt: retryAt(period.context.failures + 1, limitAt, moment.now) });
}

/** S25: once nothing that was claimed is left, the start grace counts anew and the start proceeds. */
export function startIfCleared(draft: Draft): void {
  const verdict = draft.period?.context.verdict;
  const isCleared = draft.attempts.every(({ execution }) => isUnclaimed(execution));
  if (verdict?.kind === "replace" && draft.period?.matches({ eligible: "clearing" }) === true && isCleared) {
    const { startGraceMs } = draft.scope;
    const startByAt = startLimitAfterReplace(verdict.startByAt, draft.moment.now, startGraceMs);
    draft.tellPeriod({ type: "CLEARED", startByAt });
  }
}

/** Gives up what is not on record: the live period, and the gate that was made for it. */
export function dropLive(draft: Draft): void {
  for (const { execution } of draft.attempts) {
    const { attemptId, source } = execution.context.attempt;
    if (source === null && isUnclaimed(execution)) {
      draft.tellAttempt(attemptId, { type: "CLOSE" });
    }
  }
  draft.leave(null);
  draft.undecided = null;
  draft.tellJob({ type: "PASSED" });
}

/** S13: when the period after the live one is due; a period that failed is open no longer than that. */
export function successorDueAt(draft: Draft): EpochMs | null {
  const { period, scope, engine, document } = draft;
  if (period === null) {
    return null;
  }
  const nextAt = engine.planAfter(scope.compiled, standingOf(document), period.context.decision.nominalAt);
  return nextAt === null ? null : dueAt(engine.decide(scope.compiled, nextAt));
}

/** Finds the live period where there is none, and looks for it anew on return (S13). */
function planLive(draft: Draft): void {
  const { document, undecided, moment, passedAt, engine, scope } = draft;
  if (document.RemovedAt !== undefined) {
    return;
  }
  if ((draft.mustReturn && isUntouched(draft)) || (draft.period === null && undecided === null && passedAt === null)) {
    planReturn(draft);
    return;
  }
  if (draft.period !== null || (undecided !== null && moment.now < undecided.retryAt)) {
    return;
  }
  if (undecided !== null) {
    take(draft, undecided.nominalAt);
    return;
  }
  take(draft, passedAt === null ? null : engine.planAfter(scope.compiled, standingOf(document), passedAt));
}

function planReturn(draft: Draft): void {
  const { scope, engine, moment, document } = draft;
  const plan = engine.planOnReturn(scope.compiled, standingOf(document), moment.now);
  draft.mustReturn = false;
  draft.leave(null);
  draft.undecided = null;
  if (plan.isStateAhead) {
    draft.outward.push({ type: "stateAhead", params: { lastHandledPeriodId: document.LastHandledPeriodID } });
  }
  if (plan.gap !== null) {
    noteGap(draft, plan.gap);
  }
  take(draft, plan.liveAt);
}

/** One line for the whole gap, and another only when it has grown. */
function noteGap(draft: Draft, gap: PeriodGap): void {
  if (draft.notedGapAt === null || gap.lastAt > draft.notedGapAt) {
    const { identity } = draft.scope.compiled.rule;
    draft.tellJob({ type: "NOTED", fact: { kind: "periods_not_evaluated", identity, ...gap, at: draft.moment.now } });
    draft.notedGapAt = gap.lastAt;
  }
}

/** Makes the period with this nominal time the live one. */
export function take(draft: Draft, nominalAt: EpochMs | null): void {
  if (nominalAt === null) {
    return;
  }
  const { engine, scope } = draft;
  const elder = elderOf(draft);
  try {
    const decision = engine.decide(scope.compiled, nominalAt);
    const heldUntilAt = elder !== null && dueAt(decision) < elder.dueAt ? elder.madeWayAt : null;
    draft.period = engine.period.resolveState({
      value: "planned",
      context: { decision, heldUntilAt, verdict: null, failures: 0, retryAt: null, ending: null },
    });
    draft.undecided = null;
    draft.tellJob({ type: "PLANNED" });
  } catch (error) {
    postpone(draft, nominalAt, error);
  }
}

/** S11: what is to be taken now had to wait for it, if it was due before it. */
function elderOf({ elder, undecided }: Draft): Elder | null {
  return elder ?? undecided?.elder ?? null;
}

/** S18: not handled, and tried again with the same inputs. */
function postpone(draft: Draft, nominalAt: EpochMs, error: unknown): void {
  const failures = (draft.undecided?.failures ?? 0) + 1;
  const message = error instanceof Error ? error.message : String(error);
  const dueAgainAt = draft.moment.now + retryDelayMs(failures);
  draft.undecided = { nominalAt, elder: elderOf(draft), failures, retryAt: dueAgainAt };
  draft.outward.push({ type: "undecided", params: { nominalAt, failures, message } });
}

/** A gate is being made or victims are being ended: what comes of it will be told. */
function isUnderWay({ period }: Draft): boolean {
  return period?.matches({ eligible: "starting" }) === true || period?.matches({ eligible: "clearing" }) === true;
}

/** Waits for its time, or after a failure, and nothing has come up that ends the waiting. */
function isResting(draft: Draft): boolean {
  const { period, moment } = draft;
  if (period?.matches("planned") === true) {
    return moment.now < dueAt(period.context.decision);
  }
  if (period?.matches({ eligible: "retrying" }) !== true || moment.now >= (period.context.retryAt ?? moment.now)) {
    return false;
  }
  const successorAt = successorDueAt(draft);
  return successorAt === null || moment.now < successorAt;
}

/** Never tried: on return it may make room for the period that is current by now. */
function isUntouched({ period }: Draft): boolean {
  return (
    period === null ||
    period.matches("planned") ||
    (period.matches({ eligible: "judging" }) && period.context.failures === 0)
  );
}
