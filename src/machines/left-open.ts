/**
 * A period that an earlier daemon has tried and could not start, and that is current no more when somebody looks again (S13,
 * S24). It was evaluated, so that it is none of those that nobody was there for: it is missed, for what stood in its way.
 */
import type { Decision } from "../core/decision/model.js";
import { isHandled } from "../core/period/periods.js";
import { isPaused, passedOverReason } from "../core/period/policy.js";
import { notStarted } from "../core/period/reasons.js";
import { standingOf } from "../core/state/document.js";
import { PERIOD_SOURCE, startFailureOn } from "../core/state/start-failure.js";
import { type EpochMs, instantOrNull } from "../core/time/instant.js";
import type { Draft } from "./draft.js";

/** `isResuming`: the pause that is still on record ends in this step. Nothing is closed while something holds the job (S17). */
export function closeLeftOpen(draft: Draft, isResuming = false): void {
  const { document, scope, moment } = draft;
  const { StartFailure } = document;
  // Nearly every step there is.
  if (StartFailure === undefined || StartFailure.Source !== PERIOD_SOURCE) return;
  const isHeld = scope.policy.suspend || (!isResuming && isPaused(standingOf(document), moment.now));
  if (isHeld || moment.isUntold === true || document.RemovedAt !== undefined) return;
  const nominalAt = instantOrNull(StartFailure.Slot);
  if (nominalAt === null) return;
  const failure = startFailureOn(document, { source: PERIOD_SOURCE, slotAt: nominalAt });
  const decision = leftOpen(draft, nominalAt);
  if (failure === null || decision === null) return;
  const closing = { outcome: "missed", reason: notStarted(failure) } as const;
  draft.tellJob({ type: "CLOSE", decision, closing, now: moment.now });
}

/** null: it is handled, is tried on, may be by its deadline, or is not one of the job any more. */
function leftOpen({ document, scope, engine, period, moment }: Draft, nominalAt: EpochMs): Decision | null {
  const standing = standingOf(document);
  const { compiled } = scope;
  if (period?.context.occasion.slotAt === nominalAt || isHandled(standing.lastHandledAt, nominalAt)) return null;
  const { liveAt } = engine.planOnReturn(compiled, standing, moment.now);
  if (liveAt === null || liveAt <= nominalAt || !compiled.schedule.matches(nominalAt)) return null;
  try {
    const decision = engine.decide(compiled, nominalAt);
    return passedOverReason(standing, decision) === null ? decision : null;
  } catch {
    // S18: what was decided before cannot be any more. Those who look at the schedule tell it.
    return null;
  }
}
