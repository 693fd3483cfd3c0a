/** What every change of a state document has in common: a next document, facts, and what may never happen. */
import { lastHandledAt, type StateDocument } from "./document.js";
import type { LedgerFact } from "./facts.js";

export interface Transition {
  readonly document: StateDocument;
  /** Empty exactly when nothing changed. */
  readonly facts: readonly LedgerFact[];
}

export function unchanged(document: StateDocument): Transition {
  return { document, facts: [] };
}

/** S12: `LastHandledPeriodID` never decreases, whoever asks. */
export function sealed(previous: StateDocument, next: StateDocument, ...facts: readonly LedgerFact[]): Transition {
  const [beforeAt, afterAt] = [lastHandledAt(previous), lastHandledAt(next)];
  if (beforeAt !== null && (afterAt === null || afterAt < beforeAt)) {
    throw broken(previous, `LastHandledPeriodID would go back from ${previous.LastHandledPeriodID}`);
  }
  if (previous.Identity !== next.Identity) {
    throw broken(previous, "the identity would change");
  }
  return { document: next, facts };
}

export function broken(document: StateDocument, what: string): Error {
  return new Error(`invariant broken: ${document.Identity}: ${what}`);
}
