/** How entries of the databases are read: what is in them, and whether it is what was written. */
import { checksum, seedOfDocument, seedOfKey } from "../checksum.js";
import { type DocumentKey, instantOfKey, splitIdentity } from "../keys.js";
import type { DocumentEntry, StoredVersion } from "../store.js";

export interface Entry<K> {
  readonly key: K;
  readonly value: string;
  readonly version?: number;
}

export function isIntact(entry: Entry<string | Buffer>): boolean {
  return entry.version === checksum(seedOfKey(entry.key), entry.value);
}

export function toDocument(entry: Entry<string>): DocumentEntry {
  const key = entry.key as DocumentKey;
  return { key, text: entry.value, isIntact: entry.version === checksum(seedOfDocument(key), entry.value) };
}

export function toDefinition(entry: Entry<Buffer>): StoredVersion {
  return { definedAt: instantOfKey(entry.key), ...splitIdentity(entry.value), isIntact: isIntact(entry) };
}
