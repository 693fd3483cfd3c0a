/**
 * A claim that was worked out before its second. Steps are pure, so what the machines will say when the period is due can
 * be computed as soon as its gate is ready; what is left for the second itself is one commit and GO. Nothing of it is on
 * record or in force until then, and whatever is heard of the job in between makes it void.
 */
import type { DecisionRecord } from "../../../core/decision/model.js";
import type { RecordVersions } from "../../../core/decision/record.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import type { ClaimedProcess } from "../../../core/state/period-transitions.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import { type EpochMs, floorToSecond } from "../../../core/time/instant.js";
import { type Activation, activate, type JobScope } from "../../../machines/activation.js";
import type { EffectParams } from "../../../machines/effects.js";
import { step } from "../../../machines/step.js";
import { documentKey } from "../../../persist/keys.js";
import type { Claim, DocumentWrite, LedgerRecord } from "../../../persist/store.js";
import { claimOf, ledgerRecordOf, recordFor } from "../write/ledger-text.js";

export interface RehearsedFact {
  readonly fact: LedgerFact;
  readonly decision: DecisionRecord | null;
}

export interface Rehearsal {
  /** The second it holds for: wherever in it the claim is taken, the same is judged and written (S1, S20). */
  readonly forAt: EpochMs;
  /** With the claim. */
  readonly activation: Activation;
  readonly successorDueAt: EpochMs | null;
  /** What the claim writes. */
  readonly write: DocumentWrite;
  readonly ledger: readonly LedgerRecord[];
  readonly claims: readonly Claim[];
  readonly facts: readonly RehearsedFact[];
  readonly go: EffectParams["go"];
}

/** A job at rest, with a gate that waits for its live period. */
export interface Stage {
  readonly scope: JobScope;
  readonly document: StateDocument;
  readonly nominalAt: EpochMs;
  readonly periodId: string;
  /** When the period is due. */
  readonly forAt: EpochMs;
  readonly attemptId: string;
  readonly process: ClaimedProcess;
}

/** null: it will be more than a plain claim, and is left to its second. */
export function rehearse(stage: Stage, versions: RecordVersions): Rehearsal | null {
  const { scope, document, nominalAt, forAt, attemptId, process } = stage;
  const moment = { now: forAt, freshId: attemptId };
  const woken = step(scope, activate(document, scope), { type: "WAKE", isReturning: false, nominalAt }, moment);
  const [arm, ...others] = woken.effects;
  const isForGate = arm?.type === "arm" && arm.params.source === null && arm.params.periodId === stage.periodId;
  if (!isForGate || others.length > 0 || arm.params.attemptId !== attemptId) return null;
  const claimed = step(scope, woken.activation, { type: "READY", attemptId, process }, moment);
  const [write, ...more] = claimed.effects;
  const attempt = claimed.activation.attempts.find(({ execution: { context } }) => {
    return context.attempt.attemptId === attemptId;
  });
  if (write?.type !== "persist" || more.length > 0 || write.params.claimedBy !== attemptId) return null;
  if (attempt === undefined) return null;
  const facts = write.params.facts.map((fact) => ({ fact, decision: recordFor(scope.compiled, fact, versions) }));
  const ledger = facts.map(({ fact, decision }) => ledgerRecordOf(fact, write.params.document, decision));
  return {
    forAt,
    activation: claimed.activation,
    successorDueAt: claimed.successorDueAt,
    write: { key: documentKey(document.Identity), text: serialiseDocument(write.params.document) },
    ledger,
    claims: facts.flatMap(({ fact }, index) => claimOf(fact, ledger[index] as LedgerRecord) ?? []),
    facts,
    go: { attemptId, latestAt: attempt.execution.context.startByAt },
  };
}

export function isOnTime({ forAt }: Rehearsal, now: EpochMs): boolean {
  return floorToSecond(now) === forAt;
}
