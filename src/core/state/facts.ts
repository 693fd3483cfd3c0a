/**
 * What a transition says to the ledger (S36), as data. A fact is written in the transaction that stores the document it
 * came with, and writing it twice changes nothing: its identity, period and kind are its key.
 */

import type { ErrorCode } from "../base/errors/registry.js";
import type { Hint, HintKind } from "../governor/hint.js";
import type { LostTime } from "../period/cause.js";
import type { RunKey } from "../period/policy.js";
import type { GapReason } from "../period/reasons.js";
import type { EpochMs } from "../time/instant.js";
import type { ActiveState, Outcome, RetryState } from "./document.js";
import type { Ending, HolderKind } from "./ending.js";

interface FactBase {
  readonly identity: string;
  readonly at: EpochMs;
}

export type LedgerFact =
  | (FactBase & {
      readonly kind: "outcome";
      readonly periodId: string;
      readonly outcome: Outcome;
      readonly reason: string | null;
      readonly nominalAt: EpochMs;
      readonly chosenAt: EpochMs | null;
      /** Of `missed`: the time in which its deadline went by. */
      readonly lost?: LostTime;
    })
  | (FactBase & {
      readonly kind: "run_started";
      readonly run: RunKey;
      readonly holder: HolderKind;
      readonly retry?: RetryFact;
    })
  | (FactBase & {
      readonly kind: "run_ended";
      readonly run: RunKey;
      readonly holder: HolderKind;
      readonly ending: Ending;
      /** As its entry says: whoever counts runs knows by it which of them are counted (S1). */
      readonly endedAt: EpochMs;
      readonly retry?: RetryFact;
    })
  /** S43: `of` attempts there are, the first included. */
  | (FactBase & { readonly kind: "retry_planned"; readonly retry: RetryState; readonly of: number })
  | (FactBase & { readonly kind: "retry_dropped"; readonly retry: RetryState })
  | (FactBase & {
      readonly kind: "periods_not_evaluated";
      readonly firstAt: EpochMs;
      readonly lastAt: EpochMs;
      readonly count: number;
      readonly isCountExact: boolean;
      /** Absent: nobody knows (S13). */
      readonly reason?: GapReason;
      /** The time in which they went by. */
      readonly lost?: LostTime;
      /** S41: of `hinted`: which one stood in for the schedule. */
      readonly hint?: Hint;
    })
  /** S44: a boot of the machine. `slotAt` null: the definition is younger than it, so that nothing is due of it. */
  | (FactBase & { readonly kind: "boot"; readonly bootId: string; readonly slotAt: EpochMs | null })
  /** S44: what was due outside the schedule, and was not started. */
  | (FactBase & {
      readonly kind: "slot_closed";
      readonly source: string;
      readonly slotAt: EpochMs;
      readonly outcome: Outcome;
      readonly reason: string;
    })
  /** S24, S46: what is due could not be started, and is tried again; once for all starts that fail so, one after the other. */
  | (FactBase & {
      readonly kind: "start_failed";
      readonly source: string;
      readonly slotAt: EpochMs;
      readonly code: ErrorCode;
    })
  | (FactBase & { readonly kind: "before_definition"; readonly periodId: string })
  | (FactBase & { readonly kind: "defined"; readonly definitionHash: string })
  | (FactBase & { readonly kind: "removed" })
  | (FactBase & {
      readonly kind: "paused";
      readonly untilAt: EpochMs;
      readonly reason: string;
      readonly catchesUp: boolean;
      readonly by?: string;
      /** S51: what the job has stopped itself for. Absent: somebody wanted it. */
      readonly stoppedFor?: "failures" | "runs" | "end";
    })
  | (FactBase & { readonly kind: "resumed" })
  | (FactBase & { readonly kind: "hint_set"; readonly hint: Hint })
  | (FactBase & {
      readonly kind: "hint_ended";
      readonly hintKind: HintKind;
      readonly how: "cleared" | "expired" | "consumed";
    })
  | (FactBase & { readonly kind: "rewound"; readonly from: string; readonly to: string; readonly by: string });

/** Of a run that is a further attempt of a period: which period, and the how manieth. */
export interface RetryFact {
  readonly periodId: string;
  readonly attempt: number;
}

export function retryField({ RetryOf, Attempt }: ActiveState): { readonly retry?: RetryFact } {
  return RetryOf === undefined || Attempt === undefined ? {} : { retry: { periodId: RetryOf, attempt: Attempt } };
}
