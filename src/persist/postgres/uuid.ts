/** Keys as the server sorts them fastest: half a SHA-256 is what it calls a UUID, and it sorts by its bytes. */
import type { KeyRange } from "../key-range.js";
import { type DocumentKey, identityPrefix } from "../keys.js";

const UUID_DIGITS = 32;
const DASHES = /-/g;

/** Of the identity whose document has this key. */
export function uuidOfKey(key: string): string {
  return key.slice(0, UUID_DIGITS);
}

export function tailOfKey(key: string): string {
  return key.slice(UUID_DIGITS, 2 * UUID_DIGITS);
}

export function identityUuid(identity: string): string {
  return identityPrefix(identity).toString("hex");
}

/** As the server writes them. */
export function digitsOf(uuid: string): string {
  return uuid.replace(DASHES, "");
}

export function keyOf(uuid: string, tail: string): DocumentKey {
  return `${digitsOf(uuid)}${digitsOf(tail)}.json` as DocumentKey;
}

/** A condition on `column`, for a statement that has nothing else to fill in: digits are all that is in it. */
export function isWithin(column: string, { from, to }: KeyRange): string {
  const lower = `${column} >= '${from.padEnd(UUID_DIGITS, "0")}'`;
  return to === null ? lower : `${lower} and ${column} < '${to.padEnd(UUID_DIGITS, "0")}'`;
}
