/** What an identity and a salt may be (S37): both go into the hash input, where a newline would be ambiguous. */
import { LIMITS } from "./limits.js";
import type { Problem, TextSpan } from "./problem.js";

/** Identities that begin so are made by Kron itself, for crontab lines and endpoints. */
const RESERVED_PREFIXES = ["crontab:", "endpoint:"] as const;

/** Of a job that is no job of a configuration: it is defined and removed one by one, through the API. */
export function isEndpoint(identity: string): boolean {
  return identity.startsWith("endpoint:");
}

/** As the bytes of their UTF-8 are ordered, which is how every list of jobs is. */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return placeOf(left) - placeOf(right);
  }
  return one.length - other.length;
}

/** Halves of surrogate pairs stand for characters behind all others. */
function placeOf(code: number): number {
  return code < 0xd8_00 ? code : code < 0xe0_00 ? code + 0x1_00_00 : code;
}

/** Control characters, and halves of surrogate pairs, which UTF-8 cannot express. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u;
const PLAIN = /^[\x20-\x7e]{1,170}$/;

export function checkIdentity(identity: string, mayBeReserved = false): Problem | null {
  if (identity === "") return invalid("an identity cannot be empty", { start: 0, end: 0 });
  const prefix = RESERVED_PREFIXES.find((reserved) => identity.startsWith(reserved));
  if (prefix !== undefined && !mayBeReserved) {
    return invalid(`the prefix "${prefix}" is reserved`, { start: 0, end: prefix.length });
  }
  return checkHashText(identity, "identity", LIMITS.identityBytes);
}

export function checkSalt(salt: string): Problem | null {
  return checkHashText(salt, "salt", LIMITS.saltBytes);
}

function checkHashText(text: string, what: "identity" | "salt", limit: number): Problem | null {
  if (PLAIN.test(text)) return null;
  const at = text.search(FORBIDDEN);
  if (at >= 0) {
    const code = (text.codePointAt(at) as number).toString(16).toUpperCase().padStart(4, "0");
    return invalid(`the ${what} contains a control character, U+${code}`, { start: at, end: at + 1 });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return null;
  return invalid(`the ${what} is ${bytes} bytes long, more than the limit of ${limit}`, { start: 0, end: text.length });
}

function invalid(message: string, span: TextSpan): Problem {
  return { code: "identity-invalid", message, path: [], span };
}
