/**
 * What stands in for a job's schedule for a while, a pause (S17) or hints (S41), and what passes with it: how each of them
 * begins, gives way and ends. Works on the draft of one step.
 */
import type { HintsInForce } from "../core/governor/governor.js";
import type { Hint, HintKind } from "../core/governor/hint.js";
import { isHinted } from "../core/period/governed.js";
import type { Aftermath } from "../core/state/aftermath.js";
import { standingOf } from "../core/state/document.js";
import { hintedFromAt, hintsAfter } from "../core/state/hint-transitions.js";
import { isToEnd } from "../core/state/stop.js";
import type { EpochMs } from "../core/time/instant.js";
import type { Draft } from "./draft.js";
import { closeTried, evaluate } from "./judge.js";
import { aftermathOf } from "./plan.js";

const NOT_PAUSED = { pausedUntilAt: null };

/** S17: a pause ends by itself. What passed in it is told, and the job looks at where it is. */
export function endPause(draft: Draft): void {
  const { document, moment } = draft;
  const { pausedUntilAt } = document.Pause === undefined ? NOT_PAUSED : standingOf(document);
  if (pausedUntilAt === null || moment.now < pausedUntilAt) {
    return;
  }
  draft.notePause(pausedUntilAt);
  closeTried(draft, pausedUntilAt);
  const aftermath = aftermathOfPause(draft, pausedUntilAt);
  draft.tellJob({ type: "TICK", aftermath, now: moment.now });
  draft.noteGap(aftermath?.gap ?? null);
  draft.mustReturn = true;
}

/** S51: from its last instant on a job is paused, whatever it is told; what runs goes on. */
export function endForGood(draft: Draft): void {
  const { document, moment, scope } = draft;
  const { stop } = scope.policy;
  if (stop !== undefined && isToEnd(document, stop, moment.now)) {
    draft.tellJob({ type: "STOPPED", stop, now: moment.now });
  }
}

export function resume(draft: Draft): void {
  const { document, moment } = draft;
  const { pausedUntilAt } = standingOf(document);
  const endedAt = Math.min(moment.now, pausedUntilAt ?? moment.now);
  draft.notePause(endedAt);
  closeTried(draft, endedAt);
  const aftermath = document.Pause === undefined ? null : aftermathOfPause(draft, endedAt);
  draft.tellJob({ type: "RESUMED", aftermath, now: moment.now });
  draft.noteGap(aftermath?.gap ?? null);
}

/** S17: null also where it catches up. */
function aftermathOfPause(draft: Draft, endedAt: EpochMs): Aftermath | null {
  const { pausedFromAt = null, catchesUp } = standingOf(draft.document);
  return catchesUp === true ? null : aftermathOf(draft, { fromAt: pausedFromAt, endedAt, toldAt: pausedFromAt });
}

/** S41: one that stands in for the schedule already gives way: what passed in it passed, whatever comes of the new one. */
export function hint(draft: Draft, wanted: Hint): void {
  expireHints(draft);
  const { document, moment } = draft;
  const isInForce = isHinted(standingOf(document), moment.now);
  const aftermath = isInForce ? aftermathOfHints(draft, undefined, moment.now) : null;
  draft.tellJob({ type: "HINTED", hint: wanted, aftermath, now: moment.now });
  evaluate(draft, false);
}

/** null also where another hint goes on. */
export function aftermathOfHints(draft: Draft, left: HintsInForce | undefined, endedAt: EpochMs): Aftermath | null {
  const { document, moment } = draft;
  if (left !== undefined && isHinted({ ...standingOf(document), hints: left }, moment.now)) return null;
  return aftermathOf(draft, { fromAt: hintedFromAt(document), endedAt, toldAt: null });
}

/** S41: at the moment a hint's TTL has passed the job goes by what is left. What is being started goes on. */
export function expireHints(draft: Draft): void {
  const { document, moment } = draft;
  if (document.Hints === undefined) {
    return;
  }
  const { left, endedAt } = hintsAfter(document, "expired", moment.now);
  if (endedAt === null) {
    return;
  }
  draft.tellJob({ type: "HINTS_EXPIRED", aftermath: aftermathOfHints(draft, left, endedAt), now: moment.now });
  dropHinted(draft);
}

export function endHints(draft: Draft, kind: HintKind | "all"): void {
  const { document, moment } = draft;
  const { left, endedAt } = hintsAfter(document, kind, moment.now);
  if (endedAt === null) {
    return;
  }
  draft.tellJob({ type: "UNHINTED", kind, aftermath: aftermathOfHints(draft, left, endedAt), now: moment.now });
  dropHinted(draft);
  evaluate(draft, false);
}

/** What a hint had planned goes with it, unless it is being started. The job looks at where its schedule is. */
function dropHinted(draft: Draft): void {
  const { period } = draft;
  draft.mustReturn = true;
  const source = period?.context.occasion.source;
  const isIdle =
    period?.matches({ eligible: "starting" }) !== true && period?.matches({ eligible: "clearing" }) !== true;
  if (isIdle && (source === "hint-interval" || source === "hint-oneshot")) {
    draft.leave(null);
    draft.tellJob({ type: "PASSED" });
  }
}
