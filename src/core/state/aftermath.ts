/** What becomes of the schedule when a pause ends, or the last hint that stood in for it (S17, S41). */
import type { Hint } from "../governor/hint.js";
import type { PeriodGap } from "../period/periods.js";
import type { GapReason } from "../period/reasons.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import type { StateDocument } from "./document.js";
import type { LedgerFact } from "./facts.js";

export interface Aftermath {
  /** What was due before is not evaluated. */
  readonly fromAt: EpochMs;
  /** Periods that were due meanwhile. */
  readonly gap: PeriodGap | null;
}

/** null: nothing was passed over. Of two that overlap, the one that ended later counts: canonical instants sort. */
export function passedOver(document: StateDocument, aftermath: Aftermath | null): StateDocument {
  if (aftermath === null) return document;
  const from = wholeSecond(aftermath.fromAt);
  const { EvaluatesFrom: known = "" } = document;
  return { ...document, EvaluatesFrom: known > from ? known : from };
}

export function gapFacts(
  { Identity: identity }: StateDocument,
  aftermath: Aftermath | null,
  about: { readonly reason: GapReason; readonly hint?: Hint },
  now: EpochMs,
): readonly LedgerFact[] {
  if (aftermath === null || aftermath.gap === null) return [];
  return [{ kind: "periods_not_evaluated", identity, ...aftermath.gap, ...about, at: now }];
}

/** S1, the second that has begun by then included. */
export function wholeSecond(at: EpochMs): string {
  return formatInstant(Math.ceil(at / SECOND_MS) * SECOND_MS);
}
