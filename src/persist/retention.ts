/**
 * Keeping the ledger bounded, by age and by count, in steps of bounded cost: each step looks at one page and commits
 * what it drops. A sweep is a chain of steps; stopping anywhere loses nothing. What is dropped here never mattered for
 * correctness: that lives in the documents.
 */
import { GONE, goneIn } from "../core/endpoint/gone.js";
import { runIndexKey } from "../core/endpoint/run-index.js";
import { activeStates } from "../core/state/document.js";
import { parseDocument } from "../core/state/parse.js";
import type { EpochMs } from "../core/time/instant.js";
import { documentKey } from "./keys.js";
import type { LockTerm } from "./lock.js";
import type {
  DefinitionKey,
  DefinitionVersion,
  DocumentWrite,
  LedgerCursor,
  ObjectWrite,
  StateStore,
  StoredRecord,
} from "./store.js";

export interface RetentionRule {
  /** Records about earlier instants go. */
  readonly olderThan: EpochMs;
  /** Of one identity the newest stay, so many of them. */
  readonly keepPerIdentity: number;
}

/** Where a sweep stands; null begins one and ends one. */
export interface SweepPosition {
  readonly cursor: LedgerCursor;
  readonly identity: string;
  readonly keptOfIdentity: number;
}

interface SweepStep {
  readonly next: SweepPosition | null;
  readonly looked: number;
  readonly dropped: number;
}

/** Records that one step looks at. */
const SWEEP_PAGE = 1_000;

interface Sorted {
  readonly drop: readonly StoredRecord[];
  readonly identities: readonly string[];
  readonly identity: string;
  readonly keptOfIdentity: number;
}

function sortOut(records: readonly StoredRecord[], rule: RetentionRule, position: SweepPosition | null): Sorted {
  const drop: StoredRecord[] = [];
  const identities = new Set<string>();
  let identity = position?.identity ?? "";
  let kept = position?.keptOfIdentity ?? 0;
  for (const record of records) {
    if (record.identity !== identity) kept = 0;
    identity = record.identity;
    identities.add(identity);
    if (record.at < rule.olderThan || kept >= rule.keepPerIdentity) drop.push(record);
    else kept += 1;
  }
  return { drop, identities: [...identities], identity, keptOfIdentity: kept };
}

/** What a run was found by goes with its record. */
function entryOf(record: StoredRecord): ObjectWrite[] {
  const key = runIndexKey(record);
  return key === null ? [] : [{ key, text: null }];
}

/** Versions that were replaced before the oldest instant we still tell about. The newest always stays. */
function outdated(versions: readonly DefinitionVersion[], olderThan: EpochMs): readonly DefinitionKey[] {
  return versions.filter((_, index) => {
    const successor = versions[index + 1];
    return successor !== undefined && successor.definedAt <= olderThan;
  });
}

async function outdatedOf(
  store: StateStore,
  identities: readonly string[],
  olderThan: EpochMs,
): Promise<DefinitionKey[]> {
  const found: DefinitionKey[] = [];
  for (const identity of identities) found.push(...outdated(await store.definitionVersions(identity), olderThan));
  return found;
}

/** What is too old as a whole, at once: what a sweep would look at record by record need not be read for it. */
export function dropOldLedger(store: StateStore, term: LockTerm, olderThan: EpochMs): Promise<number> {
  return store.dropLedger(term, olderThan, (records) => ({ objects: records.flatMap((record) => entryOf(record)) }));
}

/** One step of a sweep. Call it again with `next` until that is null. */
export async function sweepLedger(
  store: StateStore,
  term: LockTerm,
  rule: RetentionRule,
  position: SweepPosition | null,
): Promise<SweepStep> {
  const page = await store.ledgerScan(position?.cursor ?? null, SWEEP_PAGE);
  const { drop, identities, identity, keptOfIdentity } = sortOut(page.records, rule, position);
  const definitions = await outdatedOf(store, identities, rule.olderThan);
  const objects = drop.flatMap((record) => entryOf(record));
  if (drop.length > 0 || definitions.length > 0) {
    await store.commit(term, { removed: { ledger: drop, definitions }, objects });
  }
  return {
    next: page.next === null ? null : { cursor: page.next, identity, keptOfIdentity },
    looked: page.records.length,
    dropped: drop.length,
  };
}

/** Endpoints that one step looks at. */
const GONE_PAGE = 100;

/**
 * What is left of endpoints that were taken out before the oldest instant we still tell about: document and versions, a page
 * at a time. What still runs of one is waited for, and keeps back no other. Returns behind which the next page begins; null: that
 * was the last.
 */
export async function sweepGone(
  store: StateStore,
  term: LockTerm,
  olderThan: EpochMs,
  after: string | null = null,
): Promise<string | null> {
  const behind = after === null ? {} : { after };
  const page = await store.objects({ prefix: GONE, limit: GONE_PAGE, ...behind });
  const documents: DocumentWrite[] = [];
  const definitions: DefinitionKey[] = [];
  const objects: ObjectWrite[] = [];
  for (const { key } of page) {
    const gone = goneIn(key);
    if (gone !== null && (gone.at >= olderThan || (await hasRuns(store, gone.identity)))) continue;
    objects.push({ key, text: null });
    if (gone === null) continue;
    documents.push({ key: documentKey(gone.identity), text: null });
    definitions.push(...(await store.definitionVersions(gone.identity)));
  }
  if (objects.length > 0) await store.commit(term, { documents, removed: { definitions }, objects });
  const last = page.at(-1);
  // Oldest first: behind one that is told about they all are.
  const isOver = last === undefined || page.length < GONE_PAGE || (goneIn(last.key)?.at ?? 0) >= olderThan;
  return isOver ? null : last.key;
}

async function hasRuns(store: StateStore, identity: string): Promise<boolean> {
  const entry = await store.get(identity);
  const read = entry === undefined ? null : parseDocument(entry.text, documentKey(identity));
  return read?.ok === true && activeStates(read.value).length > 0;
}

/** Spans of earlier daemons that ended before the oldest instant we still tell about. */
export async function sweepAlive(store: StateStore, term: LockTerm, olderThan: EpochMs): Promise<number> {
  const spans = await store.aliveSpans(null, Number.MIN_SAFE_INTEGER, olderThan);
  const alive = spans.filter((span) => span.at < olderThan).map((span) => span.bootedAt);
  if (alive.length > 0) await store.commit(term, { removed: { alive } });
  return alive.length;
}
