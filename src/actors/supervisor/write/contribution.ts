/**
 * What a step changes, as it goes into a commit and is told afterwards: one document, the ledger's records, the facts.
 * Pure, and the only place where that is composed, whether the step is taken now or on paper.
 */
import { isEndpoint } from "../../../core/base/identity.js";
import type { CompiledRule, DecisionRecord } from "../../../core/decision/model.js";
import type { RecordVersions } from "../../../core/decision/record.js";
import { endedResultOf } from "../../../core/endpoint/ended-run.js";
import { endpointName } from "../../../core/endpoint/endpoint-name.js";
import { runKeyAt } from "../../../core/endpoint/run-index.js";
import { type ActiveState, activeStates, isSameRun, keyOf, type StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import type { EffectParams } from "../../../machines/effects.js";
import type { Step } from "../../../machines/step.js";
import { documentKey } from "../../../persist/keys.js";
import type { Claim, DocumentWrite, LedgerRecord, ObjectWrite } from "../../../persist/store.js";
import { claimOf, ledgerRecordOf, recordFor } from "./ledger-text.js";

/** What a host keeps of a job, and stands or falls with what is written of it. */
export interface JobObject extends ObjectWrite {
  readonly identity: string;
}

export interface RecordedFact {
  readonly fact: LedgerFact;
  readonly decision: DecisionRecord | null;
}

export interface StepContribution {
  readonly documents: readonly DocumentWrite[];
  readonly ledger: readonly LedgerRecord[];
  /** Runs that nobody else may have begun. */
  readonly claims: readonly Claim[];
  /** By which runs of endpoints are found. */
  readonly objects: readonly JobObject[];
  /** To be told when it is durable. */
  readonly facts: readonly RecordedFact[];
}

/** What a step was taken from. */
interface Origin {
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
  const recorded: RecordedFact[] = [];
  const ledger: LedgerRecord[] = [];
  const claims: Claim[] = [];
  const objects: JobObject[] = [];
  for (const { document, facts } of writes) {
    for (const fact of facts) {
      const decision = recordFor(compiled, fact, versions);
      const record = ledgerRecordOf(fact, document, decision, endedRun(fact, before));
      const claim = claimOf(fact, record);
      recorded.push({ fact, decision });
      ledger.push(record);
      if (claim !== null) claims.push(claim);
      const key = runKeyOf(fact, record);
      if (key !== null) objects.push({ identity: record.identity, key, text: "" });
    }
  }
  return { documents: [documentWrite(last.document)], ledger, claims, objects, facts: recorded };
}

/** By which the end of a run of an endpoint is found; null: it is none. */
function runKeyOf(fact: LedgerFact, { identity, at, kind }: LedgerRecord): string | null {
  const tenant = fact.kind === "run_ended" && isEndpoint(identity) ? endpointName(identity)?.tenant : undefined;
  if (fact.kind !== "run_ended" || tenant === undefined) return null;
  return runKeyAt(tenant, endedResultOf(fact.ending), { identity, at, kind });
}

/** The attempt whose claim a step holds: it may be released as soon as the step is durable. */
export function claimIn(step: Written): string | null {
  for (const { claimedBy } of writesOf(step)) if (claimedBy !== null) return claimedBy;
  return null;
}

export function documentWrite(document: StateDocument): DocumentWrite {
  return { key: documentKey(document.Identity), text: serialiseDocument(document) };
}

function writesOf({ effects }: Written): readonly EffectParams["persist"][] {
  const writes: EffectParams["persist"][] = [];
  for (const effect of effects) if (effect.type === "persist") writes.push(effect.params);
  return writes;
}

function endedRun(fact: LedgerFact, before: StateDocument): ActiveState | null {
  if (fact.kind !== "run_ended") return null;
  return activeStates(before).find((active) => isSameRun(keyOf(active), fact.run)) ?? null;
}
