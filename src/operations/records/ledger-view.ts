/** The ledger as records of one job, read for people: parsed, with what cannot be read left out. */

import type { EpochMs } from "../../core/time/instant.js";
import { type LedgerEntry, readLedgerEntry } from "../../core/why/records.js";
import type { StateReader, StoredRecord } from "../../persist/store.js";

export function entriesOf(records: readonly StoredRecord[]): LedgerEntry[] {
  return records.filter(({ isIntact }) => isIntact).flatMap((record) => readLedgerEntry(record) ?? []);
}

/** Records at or before an instant, newest first. */
export async function entriesUpTo(
  reader: StateReader,
  identity: string,
  at: EpochMs,
  limit: number,
): Promise<readonly LedgerEntry[]> {
  return entriesOf(await reader.ledgerLatest(identity, limit, at + 1));
}

/** A job of which the store has never heard. */
export async function isKnown(reader: StateReader, identity: string): Promise<boolean> {
  if ((await reader.get(identity)) !== undefined) return true;
  return (await reader.newestVersion(identity)) !== undefined;
}
