/** What the execution chart knows, is told, and asks. */
import type { ErrorCode } from "../core/base/errors/registry.js";
import type { RunKey } from "../core/period/policy.js";
import {
  ABORTED_LATE,
  type Ending,
  EXIT_UNSEEN,
  endedFor,
  type Holder,
  START_UNCONFIRMED,
} from "../core/state/ending.js";
import type { EpochMs } from "../core/time/instant.js";
import type { AttemptParams, EffectParams } from "./effects.js";

export interface ExecutionInput {
  readonly attempt: AttemptParams;
  /** S20: the latest second at which the gate may be passed. */
  readonly startByAt: EpochMs;
  readonly killGraceMs: number;
  readonly timeoutMs: number | null;
}

export interface ExecutionContext extends ExecutionInput {
  /** null until the gate is ready. */
  readonly holder: Holder | null;
  /** When it is to be ended for running too long: an instant, never a running delay. */
  readonly timeoutAt: EpochMs | null;
  /** Why we end it: `timeout`, `replaced`, `cancelled`. */
  readonly endReason: string | null;
  readonly ending: Ending | null;
}

export type ExecutionEvent =
  /** The gate is ready: everything that can fail for reasons of the job has been done. */
  | { readonly type: "READY"; readonly holder: Holder }
  /** The gate could not be made, or ended before GO. */
  | { readonly type: "FAILED"; readonly code: ErrorCode }
  /** The claim goes into a transaction. From here on it cannot be withdrawn. */
  | { readonly type: "CLAIM" }
  /** The claim is durable. */
  | { readonly type: "DURABLE"; readonly now: EpochMs }
  /** Somebody else has claimed it: it is theirs, and nothing of ours is on record. */
  | { readonly type: "REFUSED" }
  /** Nothing is to be started after all. */
  | { readonly type: "CLOSE" }
  /** The command has taken the gate's place, or is watched again. */
  | { readonly type: "STARTED" }
  /** The gate did not let the command begin. */
  | { readonly type: "NOT_RUN"; readonly reason: "late" | "unconfirmed" }
  | { readonly type: "EXITED"; readonly ending: Ending }
  /** A process of an earlier daemon is not there any more (S27, S29). */
  | { readonly type: "LOST" }
  | { readonly type: "END"; readonly reason: string }
  /** `isGone`: the whole tree was verified gone (S28). */
  | { readonly type: "TERMINATED"; readonly isGone: boolean }
  | { readonly type: "TICK"; readonly now: EpochMs };

export function firstExecution(input: ExecutionInput): ExecutionContext {
  return { ...input, holder: null, timeoutAt: null, endReason: null, ending: null };
}

export function runKeyOf({ attempt, holder }: ExecutionContext): RunKey {
  const { attemptId, source, periodId } = attempt;
  return { attemptId, source, periodId, pid: holder?.pid ?? 0 };
}

export function isTimedOut(context: ExecutionContext, event: ExecutionEvent): boolean {
  return event.type === "TICK" && context.timeoutAt !== null && event.now >= context.timeoutAt;
}

export function isTreeGone(event: ExecutionEvent): boolean {
  return event.type === "TERMINATED" && event.isGone;
}

export function hasEnded(context: ExecutionContext): boolean {
  return context.ending !== null;
}

export function takeHolder(event: ExecutionEvent): Partial<ExecutionContext> {
  return event.type === "READY" ? { holder: event.holder } : {};
}

/** The time limit runs from the claim, which is when the run began as far as anyone can tell later. */
export function startClock(context: ExecutionContext, event: ExecutionEvent): Partial<ExecutionContext> {
  const isLimited = event.type === "DURABLE" && context.timeoutMs !== null;
  return isLimited ? { timeoutAt: event.now + context.timeoutMs } : {};
}

/** The first reason stands: a run that is cancelled while it times out has timed out. */
export function takeReason(context: ExecutionContext, event: ExecutionEvent): Partial<ExecutionContext> {
  return { endReason: context.endReason ?? (event.type === "END" ? event.reason : "timeout") };
}

/** S20, S23: the claim stands, the command never began. */
export function notRun(context: ExecutionContext, event: ExecutionEvent): Partial<ExecutionContext> {
  const isLate = event.type === "NOT_RUN" && event.reason === "late";
  return { ending: endedFor(isLate ? ABORTED_LATE : START_UNCONFIRMED, context.endReason) };
}

/** A gate that nobody found running never let its command begin. What became of a request nobody can tell: it leaves no trace. */
export function takeLost(context: ExecutionContext, event: ExecutionEvent): Partial<ExecutionContext> {
  return context.holder?.kind === "process" ? notRun(context, event) : takeUnseen(context);
}

export function takeExit(context: ExecutionContext, event: ExecutionEvent): Partial<ExecutionContext> {
  return event.type === "EXITED" ? { ending: endedFor(event.ending, context.endReason) } : {};
}

/** STATE: never assume that an execution succeeded unless it was seen. */
export function takeUnseen(context: ExecutionContext): Partial<ExecutionContext> {
  return { ending: endedFor(EXIT_UNSEEN, context.endReason) };
}

export function gateParams({ attempt }: ExecutionContext): EffectParams["closeGate"] {
  return { attemptId: attempt.attemptId };
}

export function goParams({ attempt, startByAt }: ExecutionContext): EffectParams["go"] {
  return { attemptId: attempt.attemptId, latestAt: startByAt };
}

export function terminateParams({ attempt, killGraceMs, endReason }: ExecutionContext): EffectParams["terminate"] {
  return { attemptId: attempt.attemptId, graceMs: killGraceMs, reason: endReason ?? "cancelled" };
}

export function endingParams({ ending }: ExecutionContext): EffectParams["recordEnd"] {
  if (ending === null) {
    throw new Error("invariant broken: an execution ended without an ending");
  }
  return { ending };
}
