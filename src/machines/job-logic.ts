/** What the job chart knows, is told, and does to its document. */

import type { ErrorCode } from "../core/base/errors/registry.js";
import { assertNever } from "../core/base/result.js";
import type { CompiledRule, Decision } from "../core/decision/model.js";
import type { Clamp } from "../core/governor/governor.js";
import type { Hint, HintKind } from "../core/governor/hint.js";
import type { RetryRule, StopRule } from "../core/job/definition.js";
import type { OccasionSource, SlotOccasion } from "../core/period/occasion.js";
import { isPaused, type RunKey } from "../core/period/policy.js";
import type { Aftermath } from "../core/state/aftermath.js";
import { noteBoot } from "../core/state/boot.js";
import { type Birth, define, pause, redate, resume, retire } from "../core/state/definition-transitions.js";
import { activeStates, type StateDocument, standingOf } from "../core/state/document.js";
import type { Ending, Holder } from "../core/state/ending.js";
import type { LedgerFact } from "../core/state/facts.js";
import { clearHints, expireHints, setHint } from "../core/state/hint-transitions.js";
import {
  type Closing,
  claimPeriod,
  claimSlot,
  closePeriod,
  closeSlot,
  dropRetry,
  type SlotClaim,
} from "../core/state/period-transitions.js";
import { completeRun, confirmRun } from "../core/state/run-transitions.js";
import { noteStartFailure } from "../core/state/start-failure.js";
import { countClaim, countEnd, stopAtEnd } from "../core/state/stop.js";
import { type Transition, unchanged } from "../core/state/transition.js";
import type { EpochMs } from "../core/time/instant.js";
import type { EffectParams } from "./effects.js";

/** The document is the context: what the job knows is what is on record, so that the two cannot drift apart. */
export interface JobInput {
  readonly document: StateDocument;
  readonly historyLimit: number;
  /** `suspend` of the configuration (S17). */
  readonly isSuspended: boolean;
}

export interface JobContext extends JobInput {
  /** What the last event had to say to the ledger; emptied when it has been handed on. */
  readonly facts: readonly LedgerFact[];
  readonly claimedBy: string | null;
}

/** Events that change the document. */
export type RecordEvent =
  | {
      readonly type: "CLAIM";
      readonly decision: Decision;
      readonly holder: Holder;
      readonly attemptId: string;
      readonly clamped?: Clamp;
      readonly stop?: StopRule | undefined;
      readonly now: EpochMs;
    }
  /** S51, `stop`: the rule in force. Absent: it stops for nothing. */
  | ({ readonly type: "CLAIM_SLOT"; readonly stop?: StopRule | undefined; readonly now: EpochMs } & SlotClaim)
  | { readonly type: "CLOSE"; readonly decision: Decision; readonly closing: Closing; readonly now: EpochMs }
  | {
      readonly type: "CLOSE_SLOT";
      readonly slot: SlotOccasion;
      readonly closing: Closing;
      readonly now: EpochMs;
    }
  /** S44. */
  | { readonly type: "BOOTED"; readonly bootId: string; readonly isPast: boolean; readonly now: EpochMs }
  | { readonly type: "RUN_CONFIRMED"; readonly run: RunKey }
  | {
      readonly type: "RUN_ENDED";
      readonly run: RunKey;
      readonly ending: Ending;
      /** S43: the rule in force; absent or null: nothing is tried again. */
      readonly retry?: RetryRule | null;
      /** By which the next period is due, if another attempt would have to come before it. Absent: there is none. */
      readonly compiled?: CompiledRule;
      readonly stop?: StopRule | undefined;
      readonly now: EpochMs;
    }
  /** S51: its last instant has come. */
  | { readonly type: "STOPPED"; readonly stop: StopRule; readonly now: EpochMs }
  | { readonly type: "RETRY_DROPPED"; readonly now: EpochMs }
  /** S24, S46. */
  | {
      readonly type: "START_FAILED";
      readonly source: OccasionSource;
      readonly slotAt: EpochMs;
      readonly code: ErrorCode;
      readonly now: EpochMs;
    }
  | {
      readonly type: "DEFINED";
      readonly hash: string;
      readonly carriedAt: EpochMs | null;
      readonly birth: Birth;
      readonly now: EpochMs;
    }
  /** S14: the clock is behind what the document is dated. */
  | { readonly type: "REDATED"; readonly now: EpochMs }
  | { readonly type: "REMOVED"; readonly now: EpochMs }
  | {
      readonly type: "PAUSED";
      readonly untilAt: EpochMs;
      readonly reason: string;
      readonly catchesUp?: boolean;
      /** Absent: yes. */
      readonly isNew?: boolean;
      readonly by?: string;
      readonly now: EpochMs;
    }
  | { readonly type: "RESUMED"; readonly aftermath?: Aftermath | null; readonly now: EpochMs }
  | {
      readonly type: "HINTED";
      readonly hint: Hint;
      /** Of one that gives way. Absent or null: there was none. */
      readonly aftermath?: Aftermath | null;
      readonly now: EpochMs;
    }
  | {
      readonly type: "UNHINTED";
      readonly kind: HintKind | "all";
      readonly aftermath: Aftermath | null;
      readonly now: EpochMs;
    }
  | { readonly type: "HINTS_EXPIRED"; readonly aftermath: Aftermath | null; readonly now: EpochMs }
  /** Something for the ledger that changes nothing else: a gap (S13), a period before the definition (S14). */
  | { readonly type: "NOTED"; readonly fact: LedgerFact };

export type JobEvent =
  | RecordEvent
  | { readonly type: "CONFIGURED"; readonly isSuspended: boolean; readonly historyLimit: number }
  /** `aftermath`: if the pause is over by then. */
  | { readonly type: "TICK"; readonly aftermath?: Aftermath | null; readonly now: EpochMs }
  | { readonly type: "PLANNED" }
  | { readonly type: "DUE" }
  /** The live period needs no outcome, or is looked for anew. */
  | { readonly type: "PASSED" };

export function firstJob(input: JobInput): JobContext {
  return { ...input, facts: [], claimedBy: null };
}

/** The one place that changes a document. */
export function recorded(context: JobContext, event: JobEvent): Partial<JobContext> {
  const { document, facts } = documentAfter(context, event);
  return { document, facts, claimedBy: "attemptId" in event ? event.attemptId : null };
}

function documentAfter({ document, historyLimit }: JobContext, event: JobEvent): Transition {
  switch (event.type) {
    case "CLAIM":
      return countClaim(claimPeriod(document, event.decision, event, event.now), event.stop, null, event.now);
    case "CLAIM_SLOT":
      return countClaim(claimSlot(document, event, event.now), event.stop, event.source, event.now);
    case "CLOSE":
      return closePeriod(document, event.decision, event.closing, event.now, historyLimit);
    case "CLOSE_SLOT":
      return closeSlot(document, event.slot, event.closing, event.now, historyLimit);
    case "BOOTED":
      return noteBoot(document, event.bootId, event.isPast, event.now);
    case "RUN_CONFIRMED":
      return { document: confirmRun(document, event.run), facts: [] };
    case "RUN_ENDED":
      return runEnded(document, event, historyLimit);
    case "STOPPED":
      return stopAtEnd(document, event.stop, event.now);
    case "RETRY_DROPPED":
      return dropRetry(document, event.now);
    case "START_FAILED":
      return noteStartFailure(document, event, event.now);
    case "DEFINED":
      return define(document, event.hash, event.carriedAt, event.now, event.birth);
    case "REDATED":
      return redate(document, event.now);
    case "REMOVED":
      return retire(document, event.now);
    case "PAUSED":
      return pause(document, event.untilAt, event.reason, event.now, event.catchesUp, event.isNew, event.by);
    case "RESUMED":
      return resume(document, event.now, event.aftermath);
    case "HINTED":
      return setHint(document, event.hint, event.now, event.aftermath);
    case "UNHINTED":
      return clearHints(document, event.kind, event.aftermath, event.now);
    case "HINTS_EXPIRED":
      return expireHints(document, event.aftermath, event.now);
    case "TICK":
      return isPauseOver({ document }, event) ? resume(document, event.now, event.aftermath) : unchanged(document);
    case "NOTED":
      return { document, facts: [event.fact] };
    case "CONFIGURED":
    case "PLANNED":
    case "DUE":
    case "PASSED":
      return unchanged(document);
    default:
      return assertNever(event, "job event");
  }
}

function runEnded(
  document: StateDocument,
  event: Extract<JobEvent, { readonly type: "RUN_ENDED" }>,
  historyLimit: number,
): Transition {
  const retried = { rule: event.retry ?? null, compiled: event.compiled ?? null };
  const ended = completeRun(document, event.run, event.ending, event.now, historyLimit, retried);
  return countEnd(ended, event.stop, event.ending, event.now);
}

/** S17: a pause ends by itself. */
export function isPauseOver({ document }: Pick<JobContext, "document">, event: JobEvent): boolean {
  return event.type === "TICK" && document.Pause !== undefined && !isPaused(standingOf(document), event.now);
}

export function hasRuns({ document }: JobContext): boolean {
  return activeStates(document).length > 0;
}

export function isRemoved({ document }: JobContext): boolean {
  return document.RemovedAt !== undefined;
}

/** S17: suspend is named before pause. */
export function isHeldBySuspend(context: JobContext): boolean {
  return !isRemoved(context) && context.isSuspended;
}

export function isHeldByPause(context: JobContext): boolean {
  return !isRemoved(context) && !context.isSuspended && context.document.Pause !== undefined;
}

export function isFree(context: JobContext): boolean {
  return !isRemoved(context) && !isHeldBySuspend(context) && !isHeldByPause(context);
}

export function persistParams({ document, facts, claimedBy }: JobContext): EffectParams["persist"] {
  return { document, facts, claimedBy };
}
