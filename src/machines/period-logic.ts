/** What the period chart knows, is told, and asks. */
import type { ErrorCode } from "../core/base/errors/registry.js";
import type { Occasion } from "../core/period/occasion.js";
import type { Verdict } from "../core/period/policy.js";
import type { Ending } from "../core/state/ending.js";
import type { Closing } from "../core/state/period-transitions.js";
import type { EpochMs } from "../core/time/instant.js";
import type { EffectParams } from "./effects.js";

export interface PeriodContext {
  readonly occasion: Occasion;
  /** S11: when the older period was handled that this one had to wait for; or since when the job's pace allows it. */
  readonly heldUntilAt: EpochMs | null;
  /** The judgement that is being carried out. */
  readonly verdict: Verdict | null;
  /** S24, S25: how often a start has failed. */
  readonly failures: number;
  /** What stood in the way of the last one; null: none failed. */
  readonly failure: ErrorCode | null;
  /** When to try again; null unless retrying. */
  readonly retryAt: EpochMs | null;
  readonly ending: Ending | null;
}

export interface PeriodInput {
  readonly occasion: Occasion;
  readonly heldUntilAt: EpochMs | null;
}

export type PeriodEvent =
  /** The policy was asked at `now`. */
  | { readonly type: "JUDGED"; readonly verdict: Verdict; readonly now: EpochMs }
  /** S25: every victim's tree is verified gone. */
  | { readonly type: "CLEARED"; readonly startByAt: EpochMs }
  /** S24, S25: nothing was started. */
  | { readonly type: "START_FAILED"; readonly code: ErrorCode; readonly retryAt: EpochMs }
  /** The claim is durable. */
  | { readonly type: "CLAIMED" }
  | { readonly type: "COMPLETED"; readonly ending: Ending };

export function firstContext({ occasion, heldUntilAt }: PeriodInput): PeriodContext {
  return { occasion, heldUntilAt, verdict: null, failures: 0, failure: null, retryAt: null, ending: null };
}

/** SPEC: eligible when `now >= chosen_time`. Nothing ever triggers early (S6). */
export function isEligible(context: PeriodContext, event: PeriodEvent): boolean {
  return event.type === "JUDGED" && event.now >= context.occasion.dueAt;
}

export function isVerdict(context: PeriodContext, kind: Verdict["kind"]): boolean {
  return context.verdict?.kind === kind;
}

export function takeVerdict(event: PeriodEvent): Partial<PeriodContext> {
  return event.type === "JUDGED" ? { verdict: event.verdict, retryAt: null } : {};
}

export function takeClearance(event: PeriodEvent): Partial<PeriodContext> {
  return event.type === "CLEARED" ? { verdict: { kind: "start", startByAt: event.startByAt } } : {};
}

export function countFailure(context: PeriodContext, event: PeriodEvent): Partial<PeriodContext> {
  if (event.type !== "START_FAILED") return {};
  return { failures: context.failures + 1, failure: event.code, retryAt: event.retryAt };
}

export function takeEnding(event: PeriodEvent): Partial<PeriodContext> {
  return event.type === "COMPLETED" ? { ending: event.ending } : {};
}

/** The effects' parameters are read off the verdict that led to them. */
export function startParams({ verdict }: PeriodContext): EffectParams["startAttempt"] {
  return { startByAt: verdict !== null && "startByAt" in verdict ? verdict.startByAt : Number.NaN };
}

export function victimParams({ verdict }: PeriodContext): EffectParams["endVictims"] {
  return { victims: verdict?.kind === "replace" ? verdict.victims : [] };
}

export function settleParams({ verdict }: PeriodContext): EffectParams["settle"] {
  switch (verdict?.kind) {
    case "missed":
      return { closing: missed(verdict) };
    case "skipped":
      return { closing: { outcome: "skipped", reason: verdict.reason } };
    case "unschedulable":
      return { closing: { outcome: "unschedulable", reason: verdict.reason } };
    default:
      throw new Error(`invariant broken: the verdict ${verdict?.kind} closes no period`);
  }
}

function missed({ kind: outcome, ...cause }: Extract<Verdict, { readonly kind: "missed" }>): Closing {
  return { outcome, ...cause };
}
