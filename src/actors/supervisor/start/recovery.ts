/** Documents that a start cannot use: refused, or replaced by fences (S32). */
import { isEndpoint } from "../../../core/base/identity.js";
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { newDocument, type StateDocument } from "../../../core/state/document.js";
import { fenceDocument } from "../../../core/state/fence.js";
import { serialiseDocument } from "../../../core/state/serialise.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
import { type PeriodEntry, readLedgerEntry } from "../../../core/why/records.js";
import { type DocumentKey, documentKey } from "../../../persist/keys.js";
import { type CorruptDocument, type Fenced, settleUnusable, type UnusableDocument } from "../../../persist/load.js";
import type { StateReader } from "../../../persist/store.js";
import type { SupervisorPorts } from "../port.js";
import { ledgerRecordOf } from "../write/ledger-text.js";
import { lastVersion } from "./last-version.js";
import type { Survey, Unusable, Wanted } from "./survey.js";

/** What the ledger still knows of a job whose document is lost. */
interface LedgerMemory {
  /** Of the newest period that has an outcome; null: there is none. */
  readonly handled: PeriodEntry | null;
  /** S40: the newest slot of each source. */
  readonly slots: Readonly<Record<string, string>>;
}

const NO_MEMORY: LedgerMemory = { handled: null, slots: {} };
/** Periods, runs and whatever else lies between them: the newest outcome is among so many. */
const ENTRIES_LOOKED_AT = 1_000;

export async function memoryOf(reader: Pick<StateReader, "ledgerLatest">, identity: string): Promise<LedgerMemory> {
  const records = (await reader.ledgerLatest(identity, ENTRIES_LOOKED_AT)).filter(({ isIntact }) => isIntact);
  const entries = records.flatMap((record) => readLedgerEntry(record) ?? []).sort((one, other) => other.at - one.at);
  const handled = entries.find((entry) => entry.kind === "period" && entry.outcome !== null);
  const slots: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.kind === "run" && entry.source !== null) slots[entry.source] ??= formatInstant(entry.at);
  }
  return { handled: handled?.kind === "period" ? handled : null, slots };
}

/**
 * S32: an unreadable document is replaced by one in which everything up to the current period counts as handled. Outcomes
 * that the ledger still has stand: the fence begins after the newest of them.
 */
export function fenceFor(
  definition: JobDefinition,
  now: EpochMs,
  { historyLimit, bootId }: { readonly historyLimit: number; readonly bootId: string },
  memory: LedgerMemory = NO_MEMORY,
): Fenced {
  const rules = { upToAt: now, now, reason: "state_recovered", historyLimit, bootId } as const;
  const empty = remembered(definition.identity, memory);
  const { document, facts } = fenceDocument(empty, compileRule(definition), rules);
  return { text: serialiseDocument(document), ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)) };
}

function remembered(identity: string, { handled, slots }: LedgerMemory): StateDocument {
  const empty = newDocument(identity);
  const known = Object.keys(slots).length === 0 ? empty : { ...empty, LastSlot: slots };
  if (handled === null || handled.outcome === null) return known;
  const periodId = formatInstant(handled.at);
  const last = { LastHandledPeriodID: periodId, LastOutcome: handled.outcome, LastNominalTime: periodId };
  const reason = handled.reason === null ? {} : { LastReason: handled.reason };
  return { ...known, ...last, LastChosenTime: handled.decision?.chosen_time ?? "", ...reason };
}

interface RecoveryContext {
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
  const memories = new Map<string, LedgerMemory>();
  for (const identity of byIdentity.keys()) memories.set(identity, await memoryOf(ports.store, identity));
  const fence = (identity: string): Fenced => {
    const definition = byIdentity.get(identity);
    if (definition === undefined) throw new Error(`invariant broken: no definition to fence ${identity} with`);
    const about = { historyLimit: settings.history.keep, bootId: ports.bootId };
    return fenceFor(definition, now, about, memories.get(identity));
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
  for (const { key, identity } of unusable) {
    if (identity === null || !(wanted === "as-stored" || isEndpoint(identity))) continue;
    const { isInForce, definition } = await lastVersion(identity, ports.store);
    if (isInForce && definition !== null) definitions.set(key, definition);
  }
  if (wanted === "as-stored") return definitions;
  const keys = new Set(unusable.map(({ key }) => key));
  for (let index = 0; index < wanted.size; index++) {
    const key = documentKey(wanted.identityAt(index));
    if (keys.has(key)) definitions.set(key, wanted.definitionAt(index));
  }
  return definitions;
}
