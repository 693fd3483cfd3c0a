/** What a batch must satisfy before anything of it is written: a backend may rely on it and cannot fail half-way. */
import { assertInstant, assertKind, assertMetaKey, assertObjectKey } from "./keys.js";
import type { Batch, DefinitionKey, LedgerKey } from "./store.js";

const LINE_BREAK = "\n";

function assertIdentity(identity: string): void {
  if (identity === "" || identity.includes(LINE_BREAK)) {
    throw new Error(`invariant broken: identity ${JSON.stringify(identity)} in a batch`);
  }
}

function assertLedgerKey(key: LedgerKey): void {
  assertIdentity(key.identity);
  assertInstant(key.at);
  assertKind(key.kind);
}

function assertDefinitionKey(key: DefinitionKey): void {
  assertIdentity(key.identity);
  assertInstant(key.definedAt);
}

/** Each claim is one of the records, in their order, and none of them twice. */
function assertClaims({ claims = [], ledger = [] }: Batch): void {
  let next = 0;
  for (const { key } of claims) {
    while (next < ledger.length && !isSameRecord(ledger[next] as LedgerKey, key)) next += 1;
    if (next === ledger.length) throw new Error(`invariant broken: a claim of ${key.identity} without its record`);
    next += 1;
  }
}

function isSameRecord(one: LedgerKey, other: LedgerKey): boolean {
  return one.at === other.at && one.kind === other.kind && one.identity === other.identity;
}

/** Throws: a batch that breaks the rules is a bug of the caller. */
export function assertBatch(batch: Batch): void {
  for (const it of batch.ledger ?? []) assertLedgerKey(it);
  for (const it of batch.removed?.ledger ?? []) assertLedgerKey(it);
  for (const it of batch.definitions ?? []) assertDefinitionKey(it);
  for (const it of batch.removed?.definitions ?? []) assertDefinitionKey(it);
  for (const it of batch.meta ?? []) assertMetaKey(it.key);
  for (const it of batch.objects ?? []) assertObjectKey(it.key);
  for (const it of batch.removed?.alive ?? []) assertInstant(it);
  if (batch.alive !== undefined) {
    assertInstant(batch.alive.bootedAt);
    assertInstant(batch.alive.at);
  }
  assertClaims(batch);
}

/** One name for what has one key. */
export function nameOfRecord({ identity, at, kind }: LedgerKey): string {
  return `${identity}\n${at}/${kind}`;
}
