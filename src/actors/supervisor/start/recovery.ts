/** Documents that a start cannot use: refused, or replaced by fences (S32). */
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { currentPeriod } from "../../../core/period/periods.js";
import { fenceBoot } from "../../../core/state/boot.js";
import { newDocument, type StateDocument } from "../../../core/state/document.js";
import { fencePeriod } from "../../../core/state/period-transitions.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { type DocumentKey, documentKey } from "../../../persist/keys.js";
import { type CorruptDocument, type Fenced, settleUnusable, type UnusableDocument } from "../../../persist/load.js";
import type { SupervisorPorts } from "../port.js";
import { ledgerRecordOf } from "../write/ledger-text.js";
import { lastVersion } from "./last-version.js";
import type { Survey, Unusable, Wanted } from "./survey.js";

/** S32: an unreadable document is replaced by one in which everything up to the current period counts as handled. */
export function fenceFor(
  definition: JobDefinition,
  now: EpochMs,
  { historyLimit, bootId }: { readonly historyLimit: number; readonly bootId: string },
): Fenced {
  const compiled = compileRule(definition);
  const empty = newDocument(definition.identity);
  if (compiled.isReboot) return atBootFence(empty, bootId, now) ?? { text: serialiseDocument(empty), ledger: [] };
  const nominalAt = currentPeriod(compiled, now);
  if (nominalAt === null) return { text: serialiseDocument(empty), ledger: [] };
  const { document, facts } = fencePeriod(empty, decide(compiled, nominalAt), now, historyLimit);
  return { text: serialiseDocument(document), ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)) };
}

/** The same of a job that runs at boot; null: nothing of the boot is left to run. */
export function atBootFence(before: StateDocument, bootId: string, now: EpochMs): Fenced | null {
  const fence = fenceBoot(before, bootId, now);
  if (fence === null) return null;
  const { document, facts } = fence;
  return { text: serialiseDocument(document), ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)) };
}

export interface RecoveryContext {
  readonly ports: SupervisorPorts;
  readonly wanted: Wanted;
  readonly now: EpochMs;
  readonly settings: Settings;
}

/** Throws the KronError that refuses the start. Jobs whose documents were fenced are to be told where they are. */
export async function recoverUnusable(survey: Survey, context: RecoveryContext): Promise<readonly CorruptDocument[]> {
  const { ports, now, settings } = context;
  if (survey.unusable.length === 0) return [];
  const definitions = await definitionsOf(survey.unusable, context);
  const documents = survey.unusable.map((one): UnusableDocument => {
    const key = one.key as DocumentKey;
    return { key, identity: definitions.get(key)?.identity, code: one.code, message: one.message };
  });
  const byIdentity = new Map([...definitions.values()].map((definition) => [definition.identity, definition]));
  const fence = (identity: string): Fenced => {
    const definition = byIdentity.get(identity);
    if (definition === undefined) throw new Error(`invariant broken: no definition to fence ${identity} with`);
    return fenceFor(definition, now, { historyLimit: settings.history.keep, bootId: ports.bootId });
  };
  const settled = await settleUnusable(ports.store, ports.term, documents, { now, fence, copies: ports.copies });
  if (!settled.ok) throw settled.error;
  for (const identity of byIdentity.keys()) survey.tell(identity);
  return settled.value;
}

/** By key: the definitions of those documents that belong to a wanted job. */
async function definitionsOf(
  unusable: readonly Unusable[],
  { wanted, ports }: RecoveryContext,
): Promise<Map<string, JobDefinition>> {
  const definitions = new Map<string, JobDefinition>();
  if (wanted === "as-stored") {
    for (const { key, identity } of unusable) {
      const last = identity === null ? null : await lastVersion(identity, ports.store);
      if (last?.isInForce === true && last.definition !== null) definitions.set(key, last.definition);
    }
    return definitions;
  }
  const keys = new Set(unusable.map(({ key }) => key));
  for (let index = 0; index < wanted.size; index++) {
    const key = documentKey(wanted.identityAt(index));
    if (keys.has(key)) definitions.set(key, wanted.definitionAt(index));
  }
  return definitions;
}
