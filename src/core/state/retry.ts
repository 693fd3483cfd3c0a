/**
 * Which ending of a run is followed by another attempt, and when (S43). It goes into the document with the ending itself,
 * so that no crash lies between the two.
 */
import { LIMITS } from "../base/limits.js";
import type { CompiledRule } from "../decision/model.js";
import type { RetryCause, RetryRule } from "../job/definition.js";
import { newestSlotAt } from "../period/policy.js";
import { isRetryWanted } from "../period/retried.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import { REBOOT_SOURCE } from "./boot.js";
import { type ActiveState, type RetryState, type StateDocument, standingOf } from "./document.js";
import { type Ending, isSuccess } from "./ending.js";

/** The source of an attempt that follows another one. */
export const RETRY_SOURCE = "retry";

/** Of attempts: the period (or the slot of the boot) that it is of, and the how manieth it is, from 1. */
interface AttemptOf {
  readonly periodId: string;
  readonly attempt: number;
}

/** null: no attempt of a period, but a run that something else asked for. */
function attemptOf({ PeriodID, Source, RetryOf, Attempt }: ActiveState): AttemptOf | null {
  if (Source === undefined || Source === REBOOT_SOURCE) return { periodId: PeriodID, attempt: 1 };
  if (Source !== RETRY_SOURCE || RetryOf === undefined || Attempt === undefined) return null;
  return { periodId: RetryOf, attempt: Attempt };
}

/** What decides whether another attempt follows. */
export interface Retried {
  /** null: none ever does. */
  readonly rule: RetryRule | null;
  /** By which the next period is due; null: there is none to wait for. */
  readonly compiled: CompiledRule | null;
}

export const NOT_RETRIED: Retried = { rule: null, compiled: null };

/**
 * null: none follows. It succeeded, or was ended by hand or for its successor; there were enough; or another period of the
 * job has been handled, or will be due before the attempt could begin; or the job is gone.
 */
export function retryAfter(
  document: StateDocument,
  ended: ActiveState,
  ending: Ending,
  { rule, compiled }: Retried,
  now: EpochMs,
): RetryState | null {
  const of = attemptOf(ended);
  if (rule === null || of === null || document.RemovedAt !== undefined) return null;
  if (of.attempt > rule.limit || !isNewest(document, of) || !isRetried(rule, ending)) return null;
  const restMs = Math.max(delayMs(rule, of.attempt), askedRestMs(ending));
  const at = Math.max(ceilToSecond(now + restMs), slotAfter(document));
  const again = { PeriodID: of.periodId, Attempt: of.attempt + 1, At: formatInstant(at) };
  return compiled === null || canBegin(document, compiled, again, now) ? again : null;
}

function canBegin(document: StateDocument, compiled: CompiledRule, Retry: RetryState, now: EpochMs): boolean {
  const { retry, ...standing } = standingOf({ ...document, Retry });
  return retry === undefined || isRetryWanted(compiled, standing, retry, now);
}

/** Nothing later has been handled, and no other boot has come (S44). */
function isNewest({ LastHandledPeriodID, LastSlot, Boot }: StateDocument, { periodId }: AttemptOf): boolean {
  return periodId === LastHandledPeriodID || (periodId === LastSlot?.[REBOOT_SOURCE] && Boot?.Due === undefined);
}

export function isRetried({ on }: RetryRule, ending: Ending): boolean {
  const cause = causeOf(ending);
  if (cause === null) return false;
  return on.some((each) => (typeof each === "number" ? isExit(ending, each) : each === cause));
}

/** How it failed; null: it did not, or it was made to end. */
function causeOf(ending: Ending): RetryCause | null {
  if (isSuccess(ending) || ending.reason === "cancelled" || ending.reason === "replaced") return null;
  switch (ending.kind) {
    case "exited":
      return ending.reason === "timeout" ? "timeout" : "exit";
    case "answered":
      return "answered";
    case "failed":
      return ending.reason === "timeout" ? "timeout" : "failed";
    case "unseen":
      return "unseen";
    default:
      return null;
  }
}

function isExit(ending: Ending, code: number): boolean {
  return ending.kind === "exited" && ending.reason !== "timeout" && ending.code === code;
}

/** Doubles from attempt to attempt. */
export function delayMs({ backoffMs, maxBackoffMs }: RetryRule, failed: number): number {
  return Math.min(backoffMs * 2 ** (failed - 1), maxBackoffMs);
}

/** What the other side asks for is given to it, within what may be asked of a retry at all. */
function askedRestMs(ending: Ending): number {
  const { retryAfterMs = 0 } = ending.kind === "answered" ? ending : {};
  return Math.min(retryAfterMs, LIMITS.retryDelayMs.max);
}

/** S40: slots of a source only go forward, whatever the clock does. */
function slotAfter({ LastSlot }: StateDocument): EpochMs {
  const newestAt = newestSlotAt(LastSlot, RETRY_SOURCE);
  return newestAt === null ? Number.NEGATIVE_INFINITY : ceilToSecond(newestAt + SECOND_MS);
}

function ceilToSecond(at: EpochMs): EpochMs {
  return Math.ceil(at / SECOND_MS) * SECOND_MS;
}
