/**
 * What a step changes, as it goes into a commit and is told afterwards: one document, the ledger's records, the facts.
 * Pure, and the only place where that is composed, whether the step is taken now or on paper.
 */
import type { CompiledRule, DecisionRecord } from "../../../core/decision/model.js";
import type { RecordVersions } from "../../../core/decision/record.js";
import { type ActiveState, activeStates, isSameRun, keyOf, type StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import type { EffectParams } from "../../../machines/effects.js";
import type { Step } from "../../../machines/step.js";
import { documentKey } from "../../../persist/keys.js";
import type { DocumentWrite, LedgerRecord } from "../../../persist/store.js";
import { ledgerRecordOf, recordFor } from "./ledger-text.js";

export interface RecordedFact {
  readonly fact: LedgerFact;
  readonly decision: DecisionRecord | null;
}

export interface StepContribution {
  readonly documents: readonly DocumentWrite[];
  readonly ledger: readonly LedgerRecord[];
  /** To be told when it is durable. */
  readonly facts: readonly RecordedFact[];
}

/** What a step was taken from. */
export interface Origin {
  readonly compiled: CompiledRule;
  readonly versions: RecordVersions;
  /** As it was until the step: of a run that ends in it, how it began. */
  readonly before: StateDocument;
}

type Written = Pick<Step, "effects">;

/** Of several documents of one step the last counts, and the facts of all. null: nothing has changed. */
export function contributionOf(step: Written, { compiled, versions, before }: Origin): StepContribution | null {
  const writes = writesOf(step);
  const last = writes.at(-1);
  if (last === undefined) return null;
  const recorded = writes.flatMap(({ document, facts }) => {
    return facts.map((fact) => ({ fact, document, decision: recordFor(compiled, fact, versions) }));
  });
  return {
    documents: [documentWrite(last.document)],
    ledger: recorded.map(({ fact, document, decision }) => {
      return ledgerRecordOf(fact, document, decision, endedRun(fact, before));
    }),
    facts: recorded,
  };
}

/** The attempt whose claim a step holds: it may be released as soon as the step is durable. */
export function claimIn(step: Written): string | null {
  return writesOf(step).find(({ claimedBy }) => claimedBy !== null)?.claimedBy ?? null;
}

export function documentWrite(document: StateDocument): DocumentWrite {
  return { key: documentKey(document.Identity), text: serialiseDocument(document) };
}

function writesOf({ effects }: Written): readonly EffectParams["persist"][] {
  return effects.flatMap((effect) => (effect.type === "persist" ? [effect.params] : []));
}

function endedRun(fact: LedgerFact, before: StateDocument): ActiveState | null {
  if (fact.kind !== "run_ended") return null;
  return activeStates(before).find((active) => isSameRun(keyOf(active), fact.run)) ?? null;
}
