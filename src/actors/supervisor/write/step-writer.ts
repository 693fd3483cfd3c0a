/**
 * What steps change, made durable and then told: documents, the ledger's records of the facts, and what goes along with
 * them. A line in the log is never about something that a crash could still undo.
 */

import type { ErrorCode } from "../../../core/base/errors/registry.js";
import type { DecisionRecord } from "../../../core/decision/model.js";
import type { FirstSight } from "../../../core/restart/first-sight.js";
import { type ActiveState, activeStates, isSameRun, keyOf, type StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import { formatInstant } from "../../../core/time/instant.js";
import type { EffectParams } from "../../../machines/effects.js";
import { documentKey } from "../../../persist/keys.js";
import type { Claim, DefinitionVersion, DocumentWrite, LedgerRecord } from "../../../persist/store.js";
import type { Clock } from "../../clock.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { Trouble } from "../run/executor.js";
import type { Committer, Contribution } from "./committer.js";
import { eventOfFact, type SupervisorEvent } from "./events.js";
import { claimOf, ledgerRecordOf, recordFor } from "./ledger-text.js";

export type StepWrite = EffectParams["persist"];

export interface StepTeller {
  emit(event: SupervisorEvent): void;
  report(code: ErrorCode, message: string, about: Trouble): void;
}

export class StepWriter {
  constructor(
    private readonly versions: SupervisorPorts["versions"],
    private readonly clock: Clock,
    private readonly committer: Committer,
    private readonly teller: StepTeller,
  ) {}

  /**
   * Of several writes of one step the last document counts, and the facts of all. `before`: as it was until the step.
   * False: somebody else has what it claims, and nothing of it was written.
   */
  async write(entry: JobEntry, writes: readonly StepWrite[], before: StateDocument): Promise<boolean> {
    const last = writes.at(-1);
    if (last === undefined) return true;
    const facts = writes.flatMap(({ document, facts: some }) => {
      return some.map((fact) => ({ fact, document, decision: recordFor(entry.scope.compiled, fact, this.versions) }));
    });
    const records = facts.map(({ fact, document, decision }) => {
      return ledgerRecordOf(fact, document, decision, endedRun(fact, before));
    });
    const claims = facts.flatMap(({ fact }, index) => claimOf(fact, records[index] as LedgerRecord) ?? []);
    const along = takeAlong(entry);
    const documents = [writeOf(entry, last.document)];
    const refused = await this.committer.add({ ...along, documents, ledger: records, claims });
    const lost = refused.find(({ key }) => key.identity === entry.identity);
    if (lost === undefined) for (const { fact, decision } of facts) this.announce(fact, decision);
    else this.announceRefused(lost);
    return lost === undefined;
  }

  /** What goes along with a step that has changed nothing else. */
  async writeAlong(entry: JobEntry): Promise<void> {
    if (entry.along !== null) await this.committer.add(takeAlong(entry));
  }

  async writeFirstSight(
    entry: JobEntry,
    { document, facts }: FirstSight,
    definition: DefinitionVersion,
  ): Promise<void> {
    await this.committer.add({
      documents: [writeOf(entry, document)],
      ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)),
      definitions: [definition],
    });
    for (const fact of facts) this.announce(fact, null);
  }

  /** Nobody waits for it. */
  writeUnhurried(entry: JobEntry, document: StateDocument): void {
    this.committer.addUnhurried(writeOf(entry, document));
  }

  /** That is no trouble: the run is somebody else's. */
  announceRefused({ key: { identity, at, kind }, token }: Claim): void {
    const periodId = formatInstant(at);
    const fields = { attempt_id: token, kind };
    const about = { identity, periodId, component: "persist", level: "info", fields } as const;
    this.teller.emit({ at: this.clock.now(), event: "claim_refused", ...about });
  }

  announce(fact: LedgerFact, decision: DecisionRecord | null): void {
    this.teller.emit(eventOfFact(fact, decision));
    if (fact.kind === "run_ended" && fact.exitCode !== 0 && fact.exitCode !== null) {
      const { identity, run, exitCode, reason } = fact;
      const about = { operation: "run", identity, periodId: run.periodId };
      const isUnbegun = reason === "exec-failed";
      const what = isUnbegun ? "the command could not be executed:" : "the command ended with";
      this.teller.report(isUnbegun ? "exec-failed" : "exit-nonzero", `${what} exit code ${exitCode}`, about);
    }
  }
}

function writeOf({ identity }: JobEntry, document: StateDocument): DocumentWrite {
  return { key: documentKey(identity), text: serialiseDocument(document) };
}

function takeAlong(entry: JobEntry): Contribution {
  const along = entry.along ?? {};
  entry.along = null;
  return along;
}

function endedRun(fact: LedgerFact, before: StateDocument): ActiveState | null {
  if (fact.kind !== "run_ended") return null;
  return activeStates(before).find((active) => isSameRun(keyOf(active), fact.run)) ?? null;
}
