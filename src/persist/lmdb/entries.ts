/** How entries of the databases are read: what is in them, and whether it is what was written. */
import { checksum, checksumOfBytes, seedOfDocument, seedOfKey } from "../checksum.js";
import { type DocumentKey, instantOfKey, splitIdentity } from "../keys.js";
import type { DocumentEntry, StoredVersion } from "../store.js";
import { IN_FILE } from "./environment.js";

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

/** The checksum is what the binding calls the version: a double in front of the value. */
const SUM_BYTES = 8;

/** What documents and definitions are as bytes of the data file. Nothing is asked of anything else. */
export function isJobIntact(database: string, key: Buffer, value: Buffer): boolean {
  if (database !== IN_FILE.documents && database !== IN_FILE.definitions) return true;
  if (value.length < SUM_BYTES) return false;
  const isDocument = database === IN_FILE.documents;
  const seed = isDocument ? seedOfDocument(key.toString("latin1") as DocumentKey) : seedOfKey(key);
  return value.readDoubleLE(0) === checksumOfBytes(seed, value.subarray(SUM_BYTES));
}
