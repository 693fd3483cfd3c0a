/** How identities and instants become names in a store. */
import * as crypto from "node:crypto";
import { stateFileName } from "../core/state/file-name.js";
import type { EpochMs } from "../core/time/instant.js";

/** One character a byte. crypto.hash came with Node 20.12 and 21.7. */
const sha256Binary: (text: string) => string =
  typeof crypto.hash === "function"
    ? (text) => crypto.hash("sha256", text, "binary")
    : (text) => crypto.createHash("sha256").update(text, "utf8").digest("binary");

declare const DOCUMENT_KEY: unique symbol;
/** `hex(sha256(identity)) + ".json"`: the name of a state document, as file and as key (S30). */
export type DocumentKey = string & { readonly [DOCUMENT_KEY]: true };

const DOCUMENT_KEY_FORM = /^[0-9a-f]{64}\.json$/;

export function documentKey(identity: string): DocumentKey {
  return stateFileName(identity) as DocumentKey;
}

/** null for a name that no identity can have. */
export function readDocumentKey(name: string): DocumentKey | null {
  return DOCUMENT_KEY_FORM.test(name) ? (name as DocumentKey) : null;
}

/** Long enough that two identities never meet, short enough to leave room for the records. */
const IDENTITY_BYTES = 16;
const INSTANT_BYTES = 8;
const RECORD_KEY_BYTES = IDENTITY_BYTES + INSTANT_BYTES;

/** Shifts every instant of the years 0 to 9999 above zero, so that bytes sort as instants do. */
const INSTANT_BIAS = 2 ** 52;
const UINT32 = 2 ** 32;

function writePrefix(identity: string, key: Buffer): void {
  const digest = sha256Binary(identity);
  for (let index = 0; index < IDENTITY_BYTES; index += 1) key[index] = digest.charCodeAt(index);
}

/** 16 bytes that stand for an identity in the keys of ledger and definitions. */
export function identityPrefix(identity: string): Buffer {
  const prefix = Buffer.alloc(IDENTITY_BYTES);
  writePrefix(identity, prefix);
  return prefix;
}

/** Sorts by identity, then by instant, then by kind. */
export function recordKey(identity: string, at: EpochMs, kind = ""): Buffer {
  const key = Buffer.allocUnsafe(RECORD_KEY_BYTES + kind.length);
  writePrefix(identity, key);
  const biased = at + INSTANT_BIAS;
  key.writeUInt32BE(Math.floor(biased / UINT32), IDENTITY_BYTES);
  key.writeUInt32BE(biased % UINT32, IDENTITY_BYTES + 4);
  for (let index = 0; index < kind.length; index += 1) key[RECORD_KEY_BYTES + index] = kind.charCodeAt(index);
  return key;
}

export function instantOfKey(key: Buffer): EpochMs {
  return key.readUInt32BE(IDENTITY_BYTES) * UINT32 + key.readUInt32BE(IDENTITY_BYTES + 4) - INSTANT_BIAS;
}

export function kindOfKey(key: Buffer): string {
  return key.toString("latin1", RECORD_KEY_BYTES);
}

const KIND_FORM = /^[a-z0-9][a-z0-9_:.-]{0,63}$/;
const META_FORM = /^[a-z0-9][a-z0-9_.-]{0,99}$/;

/** Short enough to be the name of a file, whatever else stands in it. */
const OBJECT_FORM = /^[a-z0-9][a-z0-9_./~:-]{0,199}$/;

export function assertInstant(at: EpochMs): void {
  if (!Number.isSafeInteger(at) || Math.abs(at) >= INSTANT_BIAS) throw new Error(`invariant broken: instant ${at}`);
}

export function assertKind(kind: string): void {
  if (!KIND_FORM.test(kind)) throw new Error(`invariant broken: ledger kind ${JSON.stringify(kind)}`);
}

export function assertMetaKey(key: string): void {
  if (!META_FORM.test(key)) throw new Error(`invariant broken: meta key ${JSON.stringify(key)}`);
}

export function isObjectKey(key: string): boolean {
  return OBJECT_FORM.test(key);
}

export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error(`invariant broken: object key ${JSON.stringify(key)}`);
}

/**
 * Records carry their identity on a line of its own before the text: S37 bans line breaks in identities. Without the
 * break there is no text.
 */
export function splitIdentity(value: string): { readonly identity: string; readonly text: string | null } {
  const end = value.indexOf("\n");
  return end < 0 ? { identity: value, text: null } : { identity: value.slice(0, end), text: value.slice(end + 1) };
}
