/** Work on the state while no daemon runs: everything here holds the lock, or reads only. */

import { readBootId } from "../../actors/process-identity.js";
import { fenceFor, memoryOf } from "../../actors/supervisor/start/recovery.js";
import { ledgerRecordOf } from "../../actors/supervisor/write/ledger-text.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import { compileRule } from "../../core/decision/compile.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { storedDefinition } from "../../core/job/stored.js";
import { currentPeriod } from "../../core/period/periods.js";
import { rewind } from "../../core/state/definition-transitions.js";
import { lastHandledAt } from "../../core/state/document.js";
import { fenceDocument } from "../../core/state/fence.js";
import { parseDocument } from "../../core/state/parse.js";
import { serialiseDocument } from "../../core/state/serialise.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { documentOf } from "../../operations/records/why.js";
import type { StorePlace } from "../../persist/backends.js";
import type { CorruptCopies } from "../../persist/corrupt-copies.js";
import { documentKey } from "../../persist/keys.js";
import type { Fenced } from "../../persist/load.js";
import type { LockTerm } from "../../persist/lock.js";
import type { FenceSubject, RecoveryRules } from "../../persist/recover.js";
import type { StateReader, StateStore, StoreCounts } from "../../persist/store.js";
import { rewoundRuns } from "./rewound-runs.js";

const HISTORY_LIMIT = SETTINGS_DEFAULTS.history.keep;

/**
 * Everything up to the current period of every job counts as handled; what is readable is kept. Jobs are those that are
 * configured, and those that no file names and the store has in force: those of several nodes, and endpoints.
 */
export function fencingRules(
  definitions: readonly JobDefinition[],
  copies: CorruptCopies,
  now: EpochMs,
): RecoveryRules {
  const byIdentity = new Map(definitions.map((definition) => [definition.identity, definition]));
  return {
    now,
    copies,
    identities: byIdentity.keys(),
    fence: async (subject, store) => {
      const configured = subject.identity === undefined ? undefined : byIdentity.get(subject.identity);
      const definition = configured ?? (await inForce(subject, store));
      return definition === null ? null : fenceOf(definition, subject, store, now);
    },
  };
}

async function inForce(
  { key, text }: FenceSubject,
  store: Pick<StateReader, "newestVersion">,
): Promise<JobDefinition | null> {
  const parsed = text === undefined ? null : parseDocument(text, key);
  if (parsed === null || !parsed.ok) return null;
  const version = await store.newestVersion(parsed.value.Identity);
  if (version === undefined || !version.isIntact || version.text === null) return null;
  try {
    return storedDefinition(version.text);
  } catch {
    // No JSON: nobody can tell any more when it was due.
    return null;
  }
}

/** S32: outcomes that the ledger still has stand, here as at a start: the fence begins after the newest of them. */
async function fenceOf(
  definition: JobDefinition,
  { text, key }: FenceSubject,
  store: Pick<StateReader, "ledgerLatest">,
  now: EpochMs,
): Promise<Fenced | null> {
  const parsed = text === undefined ? null : parseDocument(text, key);
  if (parsed === null || !parsed.ok) {
    const about = { historyLimit: HISTORY_LIMIT, bootId: readBootId() };
    return fenceFor(definition, now, about, await memoryOf(store, definition.identity));
  }
  const compiled = compileRule(definition);
  const about = { bootId: readBootId(), historyLimit: HISTORY_LIMIT };
  const rules = { upToAt: now, now, reason: "state_recovered", ...about } as const;
  const { document, facts } = fenceDocument(parsed.value, compiled, rules);
  if (facts.length === 0) return null;
  return { text: serialiseDocument(document), ledger: facts.map((fact) => ledgerRecordOf(fact, document, null)) };
}

export async function withLock<T>(
  { backend, at }: StorePlace,
  use: (term: LockTerm) => Promise<Result<T, KronError>>,
): Promise<Result<T, KronError>> {
  const term = await backend.acquire(at);
  if (!term.ok) return term;
  try {
    return await use(term.value);
  } finally {
    await term.value.release();
  }
}

export async function withStore<T>(
  place: StorePlace,
  use: (store: StateStore, term: LockTerm) => Promise<Result<T, KronError>>,
): Promise<Result<T, KronError>> {
  return withLock(place, async (term) => {
    const store = await place.backend.open(term);
    if (!store.ok) return store;
    try {
      return await use(store.value, term);
    } finally {
      await store.value.close();
    }
  });
}

interface CheckReport extends StoreCounts {
  readonly problems: readonly string[];
}

const SCAN_PAGE = 1_000;
const LISTED_PROBLEMS = 100;

/** Reads everything once: documents are parsed, records are compared with their checksums. */
export async function checkStore(reader: StateReader): Promise<CheckReport> {
  const problems: string[] = [];
  const note = (text: string): void => {
    if (problems.length < LISTED_PROBLEMS) problems.push(text);
  };
  for await (const page of reader.documents()) {
    for (const { key, text, isIntact } of page) {
      const parsed = parseDocument(text, key);
      if (!isIntact) note(`${key}: the text does not match its checksum`);
      else if (!parsed.ok) note(`${key}: ${parsed.error.message}`);
    }
  }
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<StateReader["ledgerScan"]>> = await reader.ledgerScan(cursor, SCAN_PAGE);
    for (const { identity, at, kind, isIntact } of page.records) {
      if (!isIntact) note(`ledger record ${kind} of ${identity} at ${formatInstant(at)} is damaged`);
    }
    cursor = page.next;
  } while (cursor !== null);
  for await (const page of reader.definitions()) {
    for (const { identity, definedAt, isIntact } of page) {
      if (!isIntact) note(`the definition of ${identity} of ${formatInstant(definedAt)} is damaged`);
    }
  }
  return { ...(await reader.counts()), problems };
}

/** Documents that this version cannot use, up to as many as a person reads. */
export async function unusableDocuments(reader: StateReader): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of reader.documents()) {
    for (const { key, text, isIntact } of page) {
      const parsed = parseDocument(text, key);
      if (!isIntact || parsed.ok || parsed.error.code !== "state-incompatible") continue;
      if (found.length < LISTED_PROBLEMS) found.push(`${key}: ${parsed.error.message}`);
    }
  }
  return found;
}

interface RewindRequest {
  readonly identity: string;
  readonly definition: JobDefinition;
  readonly by: string;
  readonly now: EpochMs;
}

/** S32: the clock ran ahead and was put back; what it had reached counts as not handled again. */
export async function rewindJob(
  store: StateStore,
  term: LockTerm,
  { identity, definition, by, now }: RewindRequest,
): Promise<Result<{ readonly from: string; readonly to: string }, KronError>> {
  const document = await documentOf(store, identity);
  const from = document === null ? null : lastHandledAt(document);
  const currentAt = currentPeriod(compileRule(definition), now);
  if (document === null || from === null || currentAt === null || currentAt >= from) {
    const details = { component: "persist", operation: "rewind", identity } as const;
    return err(new KronError("state-incompatible", `the state of ${identity} is not ahead of the clock`, details));
  }
  const { document: next, facts } = rewind(document, currentAt, currentAt, by, now);
  const { ledger, removed } = await rewoundRuns(store, identity, currentAt, now);
  await store.commit(term, {
    documents: [{ key: documentKey(identity), text: serialiseDocument(next) }],
    ledger: [...ledger, ...facts.map((fact) => ledgerRecordOf(fact, next, null))],
    removed,
  });
  return ok({ from: formatInstant(from), to: formatInstant(currentAt) });
}
