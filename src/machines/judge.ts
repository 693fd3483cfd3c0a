/**
 * The live occasion of an activation: what is to be done about it, and what becomes of a start that failed. Which one it
 * is, is found in `plan.ts`. Works on the draft of one step.
 */
import type { ErrorCode } from "../core/base/errors/registry.js";
import { type LostTime, missedCause } from "../core/period/cause.js";
import { isPast, isRetryDue, retryAt, startLimitAfterReplace } from "../core/period/lateness.js";
import { isOwnSource, type Occasion } from "../core/period/occasion.js";
import { triedUntilAt, type Verdict } from "../core/period/policy.js";
import { standingOf } from "../core/state/document.js";
import { isStartFailureKnown } from "../core/state/start-failure.js";
import { type EpochMs, floorToSecond } from "../core/time/instant.js";
import { wantedUntilAt } from "./activation.js";
import { type Draft, isUnclaimed } from "./draft.js";
import type { PeriodContext } from "./period-logic.js";
import { isReplaced, planLive, successorDueAt } from "./plan.js";

/** A bound on the periods that one step may settle; the next wake goes on where it ended. */
const PERIODS_PER_STEP = 64;

/** S13: what is eligible is evaluated in nominal order, each period once, until one takes its time. */
export function evaluate(draft: Draft, isReturning: boolean): void {
  draft.mustReturn ||= isReturning;
  if (draft.moment.isUntold === true) return;
  planLive(draft);
  for (let settled = 0; settled < PERIODS_PER_STEP && judgeLive(draft); settled++) {
    planLive(draft);
  }
}

/** Judges anew, as the policy sees it. True: the occasion is settled or passed, look at the next. */
function judgeLive(draft: Draft): boolean {
  const { period, scope, moment, engine, document, active } = draft;
  if (period === null || isUnderWay(draft) || isResting(draft)) {
    return false;
  }
  const { occasion, heldUntilAt, failures } = period.context;
  const verdict = engine.verdict(standingOf(document), occasion, scope.policy, active, moment.now, {
    startGraceMs: scope.startGraceMs,
    heldUntilAt,
    successorDueAt: failures > 0 ? successorDueAt(draft) : null,
  });
  return apply(draft, verdict.kind === "missed" ? explained(draft, verdict) : verdict);
}

/**
 * S13, S24: a period that was tried before a pause, and others were due in it: it is closed as it would be without one. To
 * be called when the pause is over, and still on record.
 */
export function closeTried(draft: Draft, endedAt: EpochMs): void {
  const { period, document } = draft;
  const { pausedFromAt = null, catchesUp } = standingOf(document);
  if (period === null || period.context.failures === 0 || pausedFromAt === null || catchesUp === true) return;
  const { occasion } = period.context;
  const nextAt = successorDueAt(draft);
  const isOvertaken = nextAt !== null && nextAt < endedAt;
  if (occasion.source !== "cron" || occasion.dueAt >= pausedFromAt || !isOvertaken || isUnderWay(draft)) return;
  const limitAt = limitOf(draft, period.context);
  const reason = limitAt !== null && limitAt < nextAt ? "deadline" : "superseded";
  apply(draft, explained(draft, { kind: "missed", reason }));
}

/** S24: not only that the deadline has passed, but what for. */
function explained(draft: Draft, judged: Extract<Verdict, { kind: "missed" }>): Verdict {
  const { period } = draft;
  const limitAt = period === null ? null : limitOf(draft, period.context);
  if (period === null || limitAt === null) return judged;
  const { occasion, failure } = period.context;
  const late: readonly LostTime[] = draft.isAwaited
    ? [{ cause: "stalled", fromAt: occasion.dueAt, untilAt: draft.moment.now }]
    : [];
  const lost = [...late, ...draft.lost];
  return { kind: "missed", ...missedCause(judged.reason, { limitAt, failure, lost }) };
}

/** S20: null: there is no limit. */
function limitOf({ scope }: Draft, { occasion, heldUntilAt }: PeriodContext): EpochMs | null {
  const limitAt = triedUntilAt(occasion, scope.policy, heldUntilAt);
  return Number.isFinite(limitAt) ? limitAt : null;
}

/** Carries a verdict to the occasion. True: it is settled or passed, look at the next. */
export function apply(draft: Draft, verdict: Verdict): boolean {
  const { period } = draft;
  if (period === null) {
    return false;
  }
  if (verdict.kind === "nothing") {
    return leave(draft, verdict.reason);
  }
  const wasPlanned = period.matches("planned");
  draft.tellPeriod({ type: "JUDGED", verdict, now: draft.moment.now });
  if (wasPlanned && draft.period?.matches("eligible") === true) {
    draft.tellJob({ type: "DUE" });
  }
  return draft.period === null;
}

/** Nothing is done about it: it waits where it is, so that a job that may not start anything can rest; or it is passed. */
function leave(draft: Draft, reason: Extract<Verdict, { kind: "nothing" }>["reason"]): boolean {
  switch (reason) {
    case "already_handled":
    case "before_definition":
    case "not_evaluated":
    case "superseded":
      passOver(draft, reason);
      return true;
    default:
      // One that was being started is judged again from the beginning when it may be; one that waits for a run says so.
      if (draft.period?.matches("planned") === false || reason === "busy") {
        draft.tellPeriod({ type: "JUDGED", verdict: { kind: "nothing", reason }, now: draft.moment.now });
      }
      return false;
  }
}

type PassedReason = "already_handled" | "before_definition" | "not_evaluated" | "superseded";

/** S14: what is not triggered gets no outcome; why is for the ledger. */
function passOver(draft: Draft, reason: PassedReason): void {
  const context = draft.period?.context;
  if (context === undefined) {
    return;
  }
  // Once, when the definition comes into force: every later return passes it over again.
  const isNews = standingOf(draft.document).definedAt === floorToSecond(draft.moment.now);
  if (reason === "before_definition" && isNews) {
    const { identity } = draft.scope.compiled.rule;
    const { periodId } = context.occasion;
    draft.tellJob({ type: "NOTED", fact: { kind: "before_definition", identity, periodId, at: draft.moment.now } });
  }
  draft.pass(context, null);
  draft.tellJob({ type: "PASSED" });
}

/** S24, S25: nothing was started; the occasion stays open until its deadline has passed, if it has one. */
export function failStart(draft: Draft, code: ErrorCode): void {
  const { period, moment } = draft;
  const occasion = period?.context.occasion;
  if (period === null || occasion === undefined || !isUnderWay(draft)) {
    return;
  }
  const limitAt = triedUntilAt(occasion, draft.scope.policy, period.context.heldUntilAt);
  const dueAgainAt = retryAt(period.context.failures + 1, limitAt, moment.now);
  draft.tellPeriod({ type: "START_FAILED", code, retryAt: dueAgainAt });
  // What is not tried again is missed by then, and says it itself.
  if (!isPast(limitAt, dueAgainAt) && !isReplaced(draft)) noteFailure(draft, occasion, code);
}

/** S24, S46: told when its starts begin to fail, and of another cause; not of each start. */
function noteFailure(draft: Draft, occasion: Occasion, code: ErrorCode): void {
  if (isStartFailureKnown(draft.document, occasion, code)) return;
  const { source, slotAt } = occasion;
  draft.tellJob({ type: "START_FAILED", source, slotAt, code, now: draft.moment.now });
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

/** Gives up what is not on record: the live occasion, and the gate that was made for it. */
export function dropLive(draft: Draft): void {
  for (const { execution } of draft.attempts) {
    const { attemptId, source } = execution.context.attempt;
    if (isOwnSource(source) && isUnclaimed(execution)) {
      draft.tellAttempt(attemptId, { type: "CLOSE" });
    }
  }
  draft.leave(null);
  draft.undecided = null;
  draft.tellJob({ type: "PASSED" });
}

/** A gate is being made or victims are being ended: what comes of it will be told. */
function isUnderWay({ period }: Draft): boolean {
  return period?.matches({ eligible: "starting" }) === true || period?.matches({ eligible: "clearing" }) === true;
}

/** Waits for its time, or after a failure, and nothing has come up that ends the waiting. */
function isResting(draft: Draft): boolean {
  const { period, moment } = draft;
  if (period?.matches("planned") === true) {
    return moment.now < period.context.occasion.dueAt;
  }
  if (
    period?.matches({ eligible: "retrying" }) !== true ||
    isRetryDue(period.context.retryAt ?? moment.now, moment.now)
  ) {
    return false;
  }
  const endsAt = successorDueAt(draft) ?? wantedUntilAt(period);
  return endsAt === null || moment.now < endsAt;
}
