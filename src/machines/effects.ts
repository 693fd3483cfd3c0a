/**
 * What the machines of krond want done, as data. A machine never does anything itself: actors carry effects out, in
 * order, and report what came of them as events. An effect that was lost with the process is asked for again, because
 * every activation begins from the durable document.
 */
import type { ErrorCode } from "../core/base/errors/registry.js";
import type { ActiveRun } from "../core/period/policy.js";
import type { StateDocument } from "../core/state/document.js";
import type { Ending } from "../core/state/ending.js";
import type { LedgerFact, RetryFact } from "../core/state/facts.js";
import type { Closing } from "../core/state/period-transitions.js";
import type { EpochMs } from "../core/time/instant.js";

/** By type, what an effect carries. */
export interface EffectParams {
  /** Make document and facts durable in one transaction; then report DURABLE, if the claim of an attempt is in it. */
  readonly persist: {
    readonly document: StateDocument;
    readonly facts: readonly LedgerFact[];
    readonly claimedBy: string | null;
  };
  /** Create a gated process; report READY or FAILED. */
  readonly arm: AttemptParams;
  /** End a gated process that must not run. */
  readonly closeGate: { readonly attemptId: string };
  /** Release the gate; the command must not begin after `latestAt` (S20). Report STARTED or NOT_RUN. */
  readonly go: { readonly attemptId: string; readonly latestAt: EpochMs };
  /** End the whole tree (S28); report TERMINATED. */
  readonly terminate: { readonly attemptId: string; readonly graceMs: number; readonly reason: string };
  /** The decision of a period could not be computed; it is tried again (S18). */
  readonly undecided: { readonly nominalAt: EpochMs; readonly failures: number; readonly message: string };
  /** The clock is behind what was handled: nothing runs until it has caught up (S32). `definedAt`: of what counts as now (S14). */
  readonly stateAhead: { readonly lastHandledPeriodId: string; readonly definedAt?: string };

  // Between the machines of one identity: they never leave it.
  readonly startAttempt: { readonly startByAt: EpochMs };
  readonly endVictims: { readonly victims: readonly ActiveRun[] };
  readonly settle: { readonly closing: Closing };
  readonly recordEnd: { readonly ending: Ending };
  readonly recordStart: Record<never, never>;
  readonly refuse: { readonly code: ErrorCode };
}

/** Which attempt to run, of which period or slot. */
export interface AttemptParams {
  readonly attemptId: string;
  /** null for the job's own cron periods (S40). */
  readonly source: string | null;
  readonly periodId: string;
  readonly slotAt: EpochMs;
  readonly chosenAt: EpochMs;
  /** S43: of a further attempt. */
  readonly retry?: RetryFact;
  /** S40: asked for by somebody who does not want it beside another run of the job. */
  readonly onlyIfIdle?: true;
}

type EffectType = keyof EffectParams;
export type Effect = { [T in EffectType]: { readonly type: T; readonly params: EffectParams[T] } }[EffectType];

/** Effects that leave an activation, for the actors. */
type OutwardType = "persist" | "arm" | "closeGate" | "go" | "terminate" | "undecided" | "stateAhead";
export type OutwardEffect = Extract<Effect, { readonly type: OutwardType }>;

/** The implementation of an effect inside a machine: none. */
export function effect<T extends EffectType>(_type: T): (args: unknown, params: EffectParams[T]) => void {
  return () => {};
}
