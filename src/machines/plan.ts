/**
 * Which occasion of a job is the live one: the next period of its schedule, or the slot that its interval, its pace or a
 * hint has planned (S13, S40, S41). Works on the draft of one step, and judges nothing.
 */
import { messageOf } from "../core/base/errors/message.js";
import { type Decision, hasPeriods } from "../core/decision/model.js";
import { gapCause } from "../core/period/cause.js";
import { governedOccasion, isGoverned } from "../core/period/governed.js";
import { isRetryDue, retryDelayMs } from "../core/period/lateness.js";
import { type CronOccasion, cronOccasion, dueAt, hintedAtOf, type Occasion } from "../core/period/occasion.js";
import { COUNTED_PERIODS, openingAt, type PeriodGap } from "../core/period/periods.js";
import { isPaused, passedOverReason } from "../core/period/policy.js";
import { isRetryWanted } from "../core/period/retried.js";
import type { Aftermath } from "../core/state/aftermath.js";
import { standingOf } from "../core/state/document.js";
import { startFailureOn } from "../core/state/start-failure.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Elder } from "./activation.js";
import { resolve } from "./advance.js";
import type { Draft } from "./draft.js";

/** Finds the live occasion where there is none, and looks for it anew on return (S13) and after every change (S41). */
export function planLive(draft: Draft): void {
  if (draft.document.RemovedAt !== undefined) {
    return;
  }
  dropRetry(draft);
  if (isGoverned(draft.scope.compiled, standingOf(draft.document))) {
    planGoverned(draft);
  } else {
    planPeriod(draft);
  }
}

/**
 * S43: there are not to be so many attempts any more, or the next period is due before this one could begin: it is given
 * up for good, whatever becomes of the schedule later (S14).
 */
function dropRetry(draft: Draft): void {
  const { document, scope, moment, period } = draft;
  const { retry } = standingOf(document);
  // What is being started is judged once more before it is claimed.
  if (retry === undefined || period?.context.occasion.source === "retry") return;
  const isAllowed = (document.Retry?.Attempt ?? 0) <= (scope.policy.retry?.limit ?? 0) + 1;
  if (isAllowed && isRetryWanted(scope.compiled, standingOf(document), retry, moment.now)) return;
  draft.tellJob({ type: "RETRY_DROPPED", now: moment.now });
}

/** S13: when the period after the live one is due; a period that failed is open no longer than that. */
export function successorDueAt(draft: Draft): EpochMs | null {
  const { period, scope, engine, document } = draft;
  if (period?.context.occasion.source !== "cron") {
    return null;
  }
  const nextAt = engine.planAfter(scope.compiled, standingOf(document), period.context.occasion.slotAt);
  try {
    return nextAt === null ? null : dueAt(engine.decide(scope.compiled, nextAt));
  } catch {
    // S18: that one is told of when it is its turn.
    return null;
  }
}

/** Makes the period with this nominal time the live one. */
export function take(draft: Draft, nominalAt: EpochMs | null): void {
  const decision = decideAt(draft, nominalAt);
  if (decision === null) {
    return;
  }
  const elder = elderOf(draft);
  const heldUntilAt = elder !== null && dueAt(decision) < elder.dueAt ? elder.madeWayAt : null;
  draft.undecided = null;
  live(draft, cronOccasion(decision), heldUntilAt);
}

/** What takes the place of the schedule: a pause, or hints. */
interface StandIn {
  /** null: nobody knows any more. */
  readonly fromAt: EpochMs | null;
  readonly endedAt: EpochMs;
  /** What lies before the period that was current then is on record already. null: nobody can tell. */
  readonly toldAt: EpochMs | null;
}

/**
 * S17, S41: a pause or a hint is about to end, by its time, by hand or by what it asked for. What the schedule had in the
 * meantime gets no outcome, and is not evaluated afterwards. null: nothing was passed over. What was due before and is
 * current still is judged by its own deadline (S24).
 */
export function aftermathOf(draft: Draft, { fromAt, endedAt, toldAt }: StandIn): Aftermath | null {
  const { scope, engine, document } = draft;
  if (!hasPeriods(scope.compiled) || document.RemovedAt !== undefined) return null;
  const marks = { ...standingOf(document), sinceAt: toldAt };
  const { liveAt, gap } = engine.planOnReturn(scope.compiled, marks, endedAt);
  const currentDueAt = liveAt === null || liveAt > endedAt + scope.compiled.leadMs ? null : openDueAt(draft, liveAt);
  const isDue = currentDueAt !== null && currentDueAt < endedAt;
  if (isDue && fromAt !== null && currentDueAt < fromAt) return null;
  const passed = isDue && liveAt !== null ? joined(gap, liveAt) : gap;
  // While it is suspended nothing is evaluated anyway, and that is what is to be said of these periods.
  return { fromAt: endedAt, gap: scope.policy.suspend ? null : passed };
}

function joined(gap: PeriodGap | null, lastAt: EpochMs): PeriodGap {
  if (gap === null) return { firstAt: lastAt, lastAt, count: 1, isCountExact: true };
  return { ...gap, lastAt, count: gap.count + 1 };
}

/** null: it was never to be (S14), was passed over before, or cannot be decided for now. */
function openDueAt({ engine, scope, document }: Draft, nominalAt: EpochMs): EpochMs | null {
  try {
    const decision = engine.decide(scope.compiled, nominalAt);
    return passedOverReason(standingOf(document), decision) === null ? dueAt(decision) : null;
  } catch {
    return null;
  }
}

function isPassedOver({ engine, scope, document }: Draft, nominalAt: EpochMs): boolean {
  try {
    return passedOverReason(standingOf(document), engine.decide(scope.compiled, nominalAt)) === "not_evaluated";
  } catch {
    return false;
  }
}

/** Nothing but the schedule. */
function planPeriod(draft: Draft): void {
  const { undecided, moment, passedAt, engine, scope, document } = draft;
  if (draft.period !== null && draft.period.context.occasion.source !== "cron" && isWaiting(draft)) {
    // What planned it is gone.
    draft.leave(null);
  }
  const hasNothing = draft.period === null && undecided === null;
  if ((draft.mustReturn && isUntouched(draft)) || (hasNothing && passedAt === null)) {
    planReturn(draft);
    return;
  }
  if (draft.period !== null || (undecided !== null && !isRetryDue(undecided.retryAt, moment.now))) {
    return;
  }
  if (undecided !== null) {
    take(draft, undecided.nominalAt);
    return;
  }
  take(draft, passedAt === null ? null : engine.planAfter(scope.compiled, standingOf(document), passedAt));
}

function planReturn(draft: Draft): void {
  const { scope, engine, document, moment } = draft;
  const rule = { compiled: scope.compiled, isSuspended: scope.policy.suspend };
  const look = engine.outlook(rule, standingOf(document), moment.now);
  if (look.kind === "rest" && look.passed === null) {
    draft.mustReturn = false;
    draft.leave(null);
    draft.undecided = null;
    if (look.occasion !== null) {
      live(draft, look.occasion, null);
    }
    return;
  }
  const nominalAt = returnAt(draft);
  draft.mustReturn = false;
  draft.leave(null);
  draft.undecided = null;
  take(draft, nominalAt);
}

/** The period to come back with; what lies between is told. */
function returnAt(draft: Draft): EpochMs | null {
  const { scope, engine, moment, document } = draft;
  const plan = engine.planOnReturn(scope.compiled, standingOf(document), moment.now);
  if (plan.isStateAhead) {
    draft.outward.push({ type: "stateAhead", params: { lastHandledPeriodId: document.LastHandledPeriodID } });
  }
  // S17: while it is suspended or paused nothing is evaluated, and that is what is to be said of these periods.
  if (plan.gap !== null && !scope.policy.suspend && !isPaused(standingOf(document), moment.now)) {
    const gap = untoldOf(draft, plan.gap);
    if (gap !== null) noteGap(draft, gap);
  }
  return plan.liveAt;
}

/**
 * S17, S41: a window may reach over the end of a pause or a hint. Where its period was due before that, it was told with it,
 * and what nobody was told of begins after it. As bounded as the count of a gap.
 */
function untoldOf(draft: Draft, gap: PeriodGap): PeriodGap | null {
  const { scope, engine, document } = draft;
  const { evaluatesFromAt = null } = standingOf(document);
  let left = gap;
  for (let told = 0; told < COUNTED_PERIODS; told++) {
    const isEarly = evaluatesFromAt !== null && openingAt(scope.compiled, left.firstAt) < evaluatesFromAt;
    if (!isEarly || !isPassedOver(draft, left.firstAt)) return left;
    if (left.firstAt >= left.lastAt) return null;
    const firstAt = engine.planAfter(scope.compiled, standingOf(document), left.firstAt) ?? left.lastAt;
    left = { ...left, firstAt, count: Math.max(1, left.count - 1) };
  }
  return left;
}

/**
 * S41: every change plans anew, but what is due stays due until it is claimed or closed, and what is under way is not
 * disturbed.
 */
function planGoverned(draft: Draft): void {
  const { scope, document, moment } = draft;
  if (isReplaced(draft)) {
    draft.leave(null);
    draft.tellJob({ type: "PASSED" });
  }
  if (draft.period !== null && !isAhead(draft)) {
    return;
  }
  const standing = standingOf(document);
  const occasion = governedOccasion(scope.compiled, standing, () => nextPeriodOf(draft), moment.now);
  draft.mustReturn = false;
  if (occasion !== null && isSame(draft.period?.context.occasion, occasion)) {
    return;
  }
  draft.leave(null);
  if (occasion === null) {
    return;
  }
  const isHeld = occasion.source === "cron" && occasion.dueAt > dueAt(occasion.decision);
  live(draft, occasion, isHeld ? occasion.dueAt : null);
}

/** S41: another one-shot has taken the place of the one that this slot is of. What is being started goes on. */
export function isReplaced({ period, document }: Draft): boolean {
  const { oneshot = null } = standingOf(document).hints ?? {};
  const occasion = period?.context.occasion;
  if (oneshot === null || occasion?.source !== "hint-oneshot") return false;
  if (oneshot.nextRunAt === hintedAtOf(occasion)) return false;
  return period?.matches({ eligible: "starting" }) !== true && period?.matches({ eligible: "clearing" }) !== true;
}

/** The period that the schedule alone would have next; null: none, or it cannot be decided for now. */
function nextPeriodOf(draft: Draft): CronOccasion | null {
  const { undecided, moment, passedAt, engine, scope, document } = draft;
  if (!hasPeriods(scope.compiled) || (undecided !== null && !isRetryDue(undecided.retryAt, moment.now))) {
    return null;
  }
  const isReturning = draft.mustReturn || passedAt === null;
  const nextAt = isReturning ? returnAt(draft) : engine.planAfter(scope.compiled, standingOf(document), passedAt);
  const decision = decideAt(draft, undecided?.nominalAt ?? nextAt);
  if (decision === null) {
    return null;
  }
  draft.undecided = null;
  return cronOccasion(decision);
}

/** S24: what was tried already, by a daemon before this one, is told so. */
function live(draft: Draft, occasion: Occasion, heldUntilAt: EpochMs | null): void {
  const failure = startFailureOn(draft.document, occasion);
  const failures = failure === null ? 0 : 1;
  draft.period = resolve(draft.engine.period, {
    value: "planned",
    context: { occasion, heldUntilAt, verdict: null, failures, failure, retryAt: null, ending: null },
  });
  draft.tellJob({ type: "PLANNED" });
}

/** One line for the whole gap, and another only when it has grown. */
function noteGap(draft: Draft, gap: PeriodGap): void {
  if (draft.notedGapAt === null || gap.lastAt > draft.notedGapAt) {
    const { identity } = draft.scope.compiled.rule;
    const about = { identity, ...gap, ...gapCause(gap, draft.lostToGap), at: draft.moment.now };
    draft.tellJob({ type: "NOTED", fact: { kind: "periods_not_evaluated", ...about } });
    draft.noteGap(gap);
  }
}

function decideAt(draft: Draft, nominalAt: EpochMs | null): Decision | null {
  if (nominalAt === null) {
    return null;
  }
  try {
    return draft.engine.decide(draft.scope.compiled, nominalAt);
  } catch (error) {
    postpone(draft, nominalAt, error);
    return null;
  }
}

/** S11: what is to be taken now had to wait for it, if it was due before it. */
function elderOf({ elder, undecided }: Draft): Elder | null {
  return elder ?? undecided?.elder ?? null;
}

/** S18: not handled, and tried again with the same inputs. */
function postpone(draft: Draft, nominalAt: EpochMs, error: unknown): void {
  const failures = (draft.undecided?.failures ?? 0) + 1;
  const message = messageOf(error);
  const dueAgainAt = draft.moment.now + retryDelayMs(failures);
  draft.undecided = { nominalAt, elder: elderOf(draft), failures, retryAt: dueAgainAt };
  draft.outward.push({ type: "undecided", params: { nominalAt, failures, message } });
}

/** Never tried: on return it may make room for the period that is current by now. */
function isUntouched({ period }: Draft): boolean {
  return period === null || isWaiting({ period });
}

function isWaiting({ period }: Pick<Draft, "period">): boolean {
  return (
    period?.matches("planned") === true ||
    (period?.matches({ eligible: "judging" }) === true && period.context.failures === 0)
  );
}

/**
 * Planned, and its time has not come. So is a slot that was due by a clock that has been set back since: it would be silent
 * until the clock has caught up.
 */
function isAhead({ period, moment }: Draft): boolean {
  if (period === null || moment.now >= period.context.occasion.dueAt) return false;
  const isOpen = period.matches({ eligible: "judging" }) || period.matches({ eligible: "retrying" });
  return period.matches("planned") || (isOpen && period.context.occasion.source !== "cron");
}

function isSame(one: Occasion | undefined, { source, slotAt, dueAt: at }: Occasion): boolean {
  return one?.source === source && one.slotAt === slotAt && one.dueAt === at;
}
