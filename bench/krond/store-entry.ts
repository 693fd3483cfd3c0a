/**
 * What the benchmark of commits needs of Kron, bundled where it runs: the store, and the very transitions of a run with
 * the documents and records that they write.
 */

import { claimOf, ledgerRecordOf } from "../../src/actors/supervisor/write/ledger-text.js";
import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../src/core/decision/record.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { newDocument, type StateDocument } from "../../src/core/state/document.js";
import type { LedgerFact } from "../../src/core/state/facts.js";
import { claimPeriod } from "../../src/core/state/period-transitions.js";
import { completeRun } from "../../src/core/state/run-transitions.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import type { EpochMs } from "../../src/core/time/instant.js";
import { documentKey } from "../../src/persist/keys.js";
import type { Claim, LedgerRecord } from "../../src/persist/store.js";

export { openLmdbStore } from "../../src/persist/lmdb/open.js";
export { acquireDirectoryLock } from "../../src/persist/lock.js";

const DAY_MS = 86_400_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const VERSIONS = { tzVersion: "2025c", engineVersion: "bench" };
const HISTORY_LIMIT = 20;
const BOOT_ID = "4b0a1c52-91d3-4c0e-8f5b-0d2f6f1f7c11";
const SUCCESS = { kind: "exited", code: 0, signal: null, reason: null } as const;

/** What one durable transition writes: one document, and the ledger's records of what happened. */
export interface TransitionWrite {
  readonly key: string;
  readonly text: string;
  readonly ledger: readonly LedgerRecord[];
  readonly claims: readonly Claim[];
}

function definitionOf(identity: string): Parameters<typeof compileRule>[0] {
  const read = readJobDefinition({
    identity,
    schedule: "0 0 * * *",
    window: { mode: "after", duration: "1h" },
    command: ["/bin/true"],
  });
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

/** The start and the completion of one day's run, after so many days on record. */
export function transitionsOf(identity: string, day: number, pastRuns: number): readonly TransitionWrite[] {
  const compiled = compileRule(definitionOf(identity));
  let document: StateDocument = newDocument(identity);
  let writes: TransitionWrite[] = [];
  for (let past = day - pastRuns; past <= day; past += 1) {
    const decision = decide(compiled, FIRST_AT + past * DAY_MS);
    const at = decision.chosenAt ?? decision.nominalAt;
    const attemptId = `${at.toString(36)}-0123456789ab`;
    const holder = { kind: "process", pid: 12_345, startTicks: 6_789_012, bootId: BOOT_ID } as const;
    const claimed = { attemptId, holder };
    const started = claimPeriod(document, decision, claimed, at);
    const run = { attemptId, source: null, periodId: decision.periodId, pid: holder.pid };
    const ended = completeRun(started.document, run, SUCCESS, at + 1_000, HISTORY_LIMIT);
    const active = started.document.ActiveExecution;
    const recordOf = (fact: LedgerFact, of: StateDocument): LedgerRecord => {
      const record = fact.kind === "outcome" ? toDecisionRecord(compiled, decision, VERSIONS) : null;
      return ledgerRecordOf(fact, of, record, fact.kind === "run_ended" ? active : null);
    };
    writes = [started, ended].map((transition) => {
      const ledger = transition.facts.map((fact) => recordOf(fact, transition.document));
      const claims = transition.facts.flatMap((fact, index) => claimOf(fact, ledger[index] as LedgerRecord) ?? []);
      return { key: documentKey(identity), text: serialiseDocument(transition.document), ledger, claims };
    });
    document = ended.document;
  }
  return writes;
}

export function documentKeyOf(identity: string): string {
  return documentKey(identity);
}

export { recordKey } from "../../src/persist/keys.js";
export type { EpochMs };
