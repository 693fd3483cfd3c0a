/**
 * What steps change, made durable and then told: documents, the ledger's records of the facts, and what goes along with
 * them. A line in the log is never about something that a crash could still undo.
 */

import { type ErrorCode, isErrorCode } from "../../../core/base/errors/registry.js";
import type { DecisionRecord } from "../../../core/decision/model.js";
import type { FirstSight } from "../../../core/restart/first-sight.js";
import { type ActiveState, activeStates, isSameRun, keyOf, type StateDocument } from "../../../core/state/document.js";
import type { Ending } from "../../../core/state/ending.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import type { EffectParams } from "../../../machines/effects.js";
import { documentKey } from "../../../persist/keys.js";
import type { DefinitionVersion, DocumentWrite } from "../../../persist/store.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { Trouble } from "../run/executor.js";
import type { Committer, Contribution } from "./committer.js";
import { eventOfFact, type SupervisorEvent } from "./events.js";
import { ledgerRecordOf, recordFor } from "./ledger-text.js";

export type StepWrite = EffectParams["persist"];

export interface StepTeller {
  emit(event: SupervisorEvent): void;
  report(code: ErrorCode, message: string, about: Trouble): void;
}

export class StepWriter {
  constructor(
    private readonly versions: SupervisorPorts["versions"],
    private readonly committer: Committer,
    private readonly teller: StepTeller,
  ) {}

  /** Of several writes of one step the last document counts, and the facts of all. `before`: as it was until the step. */
  async write(entry: JobEntry, writes: readonly StepWrite[], before: StateDocument): Promise<void> {
    const last = writes.at(-1);
    if (last === undefined) return;
    const facts = writes.flatMap(({ document, facts: some }) => {
      return some.map((fact) => ({ fact, document, decision: recordFor(entry.scope.compiled, fact, this.versions) }));
    });
    await this.committer.add({
      ...takeAlong(entry),
      documents: [writeOf(entry, last.document)],
      ledger: facts.map(({ fact, document, decision }) => {
        return ledgerRecordOf(fact, document, decision, endedRun(fact, before));
      }),
    });
    for (const { fact, decision } of facts) this.announce(fact, decision);
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

  announce(fact: LedgerFact, decision: DecisionRecord | null): void {
    this.teller.emit(eventOfFact(fact, decision));
    if (fact.kind !== "run_ended") return;
    const { identity, run, ending } = fact;
    const failure = failureOf(ending);
    if (failure === null) return;
    this.teller.report(failure.code, failure.message, { operation: "run", identity, periodId: run.periodId });
  }
}

/** What went wrong with a run by its own doing, as an error of the error model; null: nothing did. */
function failureOf(ending: Ending): { readonly code: ErrorCode; readonly message: string } | null {
  if (ending.kind === "answered" && !ending.isExpected) {
    return { code: "status-unexpected", message: `the answer has the status ${ending.status}` };
  }
  if (ending.kind === "failed") {
    const { reason, detail } = ending;
    return isErrorCode(reason) ? { code: reason, message: detail } : null;
  }
  if (ending.kind !== "exited" || ending.code === 0 || ending.code === null) return null;
  const isUnbegun = ending.reason === "exec-failed";
  const what = isUnbegun ? "the command could not be executed:" : "the command ended with";
  return { code: isUnbegun ? "exec-failed" : "exit-nonzero", message: `${what} exit code ${ending.code}` };
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
