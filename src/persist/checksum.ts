/**
 * Neither LMDB nor a plain file notices a flipped bit. A changed digit in a timestamp would still be a readable document
 * and could run a period again, so every entry of a store carries a checksum of its text, seeded by its key: the right
 * text under the wrong key does not pass either.
 */
import { crc32 } from "node:zlib";
import type { DocumentKey } from "./keys.js";

/** Never zero, so that an entry without a checksum is told from one that has it. */
export function checksum(seed: number, text: string): number {
  return crc32(text, seed) + 1;
}

/** The same of a text that is UTF-8 already. */
export function checksumOfBytes(seed: number, bytes: Buffer): number {
  return crc32(bytes, seed) + 1;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a: the names of documents are texts, for which it is cheaper here than another checksum. */
export function seedOfDocument(key: DocumentKey): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
  return hash >>> 0;
}

export function seedOfKey(key: string | Buffer): number {
  return crc32(key);
}
