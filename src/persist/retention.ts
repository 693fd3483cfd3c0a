/**
 * Keeping the ledger bounded, by age and by count, in steps of bounded cost: each step looks at one page and commits
 * what it drops. A sweep is a chain of steps; stopping anywhere loses nothing. What is dropped here never mattered for
 * correctness: that lives in the documents.
 */
import type { EpochMs } from "../core/time/instant.js";
import type { LockTerm } from "./lock.js";
import type { DefinitionKey, DefinitionVersion, LedgerCursor, LedgerKey, StateStore, StoredRecord } from "./store.js";

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

export interface SweepStep {
  readonly next: SweepPosition | null;
  readonly looked: number;
  readonly dropped: number;
}

/** Records that one step looks at. */
export const SWEEP_PAGE = 1_000;

interface Sorted {
  readonly drop: readonly LedgerKey[];
  readonly identities: readonly string[];
  readonly identity: string;
  readonly keptOfIdentity: number;
}

function sortOut(records: readonly StoredRecord[], rule: RetentionRule, position: SweepPosition | null): Sorted {
  const drop: LedgerKey[] = [];
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
  if (drop.length > 0 || definitions.length > 0) await store.commit(term, { removed: { ledger: drop, definitions } });
  return {
    next: page.next === null ? null : { cursor: page.next, identity, keptOfIdentity },
    looked: page.records.length,
    dropped: drop.length,
  };
}

/** Spans of earlier daemons that ended before the oldest instant we still tell about. */
export async function sweepAlive(store: StateStore, term: LockTerm, olderThan: EpochMs): Promise<number> {
  const spans = await store.aliveSpans(null, Number.MIN_SAFE_INTEGER, olderThan);
  const alive = spans.filter((span) => span.at < olderThan).map((span) => span.bootedAt);
  if (alive.length > 0) await store.commit(term, { removed: { alive } });
  return alive.length;
}
