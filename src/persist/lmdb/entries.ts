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

/** Whether documents and definitions are as they were written, of their bytes in the data file. */
export const INTACT_TESTS = {
  [IN_FILE.documents]: (key: Buffer, value: Buffer) =>
    isSummed(seedOfDocument(key.toString("latin1") as DocumentKey), value),
  [IN_FILE.definitions]: (key: Buffer, value: Buffer) => isSummed(seedOfKey(key), value),
};

function isSummed(seed: number, value: Buffer): boolean {
  if (value.length < SUM_BYTES) return false;
  return value.readDoubleLE(0) === checksumOfBytes(seed, value.subarray(SUM_BYTES));
}
