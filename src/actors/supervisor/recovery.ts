/** What is on record of earlier daemons: the documents, and the definitions that were in force (S14, S32). */

import { carriedPeriod } from "../../core/carry.js";
import { compileRule } from "../../core/decision/compile.js";
import { decide } from "../../core/decision/decide.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { readJobDefinition } from "../../core/job/schema.js";
import { currentPeriod } from "../../core/periods.js";
import { activeStates, newDocument, type StateDocument, standingOf } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import { fencePeriod } from "../../core/state/period-transitions.js";
import { serialiseDocument } from "../../core/state/serialise.js";
import type { EpochMs } from "../../core/time/instant.js";
import { documentKey } from "../../persist/keys.js";
import { type Fenced, type LoadReport, loadDocuments } from "../../persist/load.js";
import { ruleHashOf } from "./job-entry.js";
import { ledgerRecordOf } from "./ledger-text.js";
import type { SupervisorPorts } from "./port.js";

/** What the start found on record: enough to go on with, without keeping the documents. */
export interface Recovered {
  readonly report: LoadReport;
  /** Identities with runs that nobody was seen to end. */
  readonly running: readonly string[];
  /** Configured jobs that have a document. */
  readonly known: ReadonlySet<string>;
  /** Those of them whose scheduling rule is the one that was in force. */
  readonly inForce: ReadonlySet<string>;
  /** Jobs that are not configured any more, and have not been told so. */
  readonly missing: readonly string[];
}

/** S32: an unreadable document is replaced by one in which everything up to the current period counts as handled. */
export function fenceFor(definition: JobDefinition, now: EpochMs, historyLimit: number): Fenced {
  const compiled = compileRule(definition);
  const nominalAt = currentPeriod(compiled, now);
  const empty = newDocument(definition.identity);
  if (nominalAt === null) return { text: serialiseDocument(empty), ledger: [] };
  const { document, facts } = fencePeriod(empty, decide(compiled, nominalAt), now, historyLimit);
  return { text: serialiseDocument(document), ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)) };
}

/** Throws the KronError that refuses the start. */
export async function readState(
  definitions: ReadonlyMap<string, JobDefinition>,
  ports: SupervisorPorts,
  now: EpochMs,
  historyLimit: number,
): Promise<Recovered> {
  const [running, missing]: [string[], string[]] = [[], []];
  const [known, inForce] = [new Set<string>(), new Set<string>()];
  let identities: ReadonlyMap<string, string> | null = null;
  const loaded = await loadDocuments<StateDocument>(ports.store, ports.term, {
    now,
    parse: parseDocument,
    identityOf: (key) => {
      // Asked for only when something is wrong with a document.
      identities ??= new Map([...definitions.keys()].map((identity) => [documentKey(identity), identity]));
      return identities.get(key);
    },
    fence: (identity) => {
      const definition = definitions.get(identity);
      if (definition === undefined) throw new Error(`invariant broken: no definition to fence ${identity} with`);
      return fenceFor(definition, now, historyLimit);
    },
    copies: ports.copies,
    visit: (document) => {
      const { Identity: identity, RemovedAt, DefinitionHash } = document;
      const definition = definitions.get(identity);
      if (activeStates(document).length > 0) running.push(identity);
      if (definition === undefined) {
        if (RemovedAt === undefined) missing.push(identity);
        return;
      }
      known.add(definition.identity);
      const isSameRule = RemovedAt === undefined && DefinitionHash === ruleHashOf(definition);
      if (isSameRule) inForce.add(definition.identity);
    },
  });
  if (!loaded.ok) throw loaded.error;
  return { report: loaded.value, running, known, inForce, missing };
}

/** The definition in force when the job was seen last. */
export interface LastVersion {
  /** null: none is known, or this version of the program does not read it. */
  readonly definition: JobDefinition | null;
  /** Whether the job was there until then; a removed one comes back with a version of its own. */
  readonly isInForce: boolean;
}

export async function lastVersion(identity: string, ports: SupervisorPorts, now: EpochMs): Promise<LastVersion> {
  const versions = await ports.store.definitionVersions(identity);
  const past = versions.filter(({ definedAt, isIntact }) => isIntact && definedAt <= now);
  const text = past.findLast((version) => version.text !== null)?.text ?? null;
  const isInForce = text !== null && past.at(-1)?.text !== null;
  if (text === null) return { definition: null, isInForce };
  const read = readJobDefinition(JSON.parse(text), undefined, { mayUseReservedPrefix: true });
  return { definition: read.ok ? read.value : null, isInForce };
}

/** S14: the period that was live under the definition of the last run, if the rule changed while nobody was there. */
export function carriedBy(before: JobDefinition | null, document: StateDocument, now: EpochMs): EpochMs | null {
  return before === null ? null : carriedPeriod(compileRule(before), standingOf(document), now);
}

/** For a job that is gone and whose definition nobody knows: enough of one to watch its runs to their end. */
export function placeholderDefinition(identity: string): JobDefinition {
  const read = readJobDefinition(
    { identity, schedule: "0 0 1 1 *", policy: { suspend: true }, command: ["/bin/true"] },
    undefined,
    { mayUseReservedPrefix: true },
  );
  if (!read.ok) throw new Error(`invariant broken: no placeholder for ${identity}: ${read.error[0]?.message}`);
  return read.value;
}
