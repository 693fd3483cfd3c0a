/**
 * What an API key looks like: `kron_<id>_<secret><checksum>`. The beginning lets scanners find keys that got where they do
 * not belong, the checksum lets a slip of the hand be told from a wrong key without looking anywhere, and what is kept is
 * the hash alone.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_CHARS = 8;
/** 27 × log2(62) is 160.7 bits. */
const SECRET_CHARS = 27;
const CHECKSUM_CHARS = 6;
/** The largest multiple of 62 that a byte holds: what lies above would make some characters likelier. */
const FAIR_BYTES = 248;

const FORM = /^kron_([a-z2-7]{8})_([0-9A-Za-z]{27})([0-9A-Za-z]{6})$/;

/** Bytes that nobody can foresee. */
type RandomBytes = (count: number) => Uint8Array;

interface NewKey {
  readonly keyId: string;
  readonly key: string;
  readonly hash: string;
}

export function newKey(random: RandomBytes): NewKey {
  const keyId = [...random(ID_CHARS)].map((byte) => BASE32[byte % BASE32.length]).join("");
  let secret = "";
  while (secret.length < SECRET_CHARS) {
    const fair = [...random(SECRET_CHARS)].filter((byte) => byte < FAIR_BYTES);
    secret += fair.map((byte) => BASE62[byte % BASE62.length]).join("");
  }
  const body = `kron_${keyId}_${secret.slice(0, SECRET_CHARS)}`;
  const key = body + checksumOf(body);
  return { keyId, key, hash: hashOf(key) };
}

/** The id of a key; null: nobody was ever given such a key. */
export function keyIdOf(key: string): string | null {
  const [, keyId, , checksum] = FORM.exec(key) ?? [];
  if (keyId === undefined) return null;
  return checksumOf(key.slice(0, -CHECKSUM_CHARS)) === checksum ? keyId : null;
}

/** Takes the same time whatever is wrong. */
export function isKeyOf(key: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(key), "hex"), Buffer.from(hash, "hex"));
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let written = "";
  for (let place = 0; place < CHECKSUM_CHARS; place++) {
    written = (BASE62[rest % BASE62.length] ?? "") + written;
    rest = Math.floor(rest / BASE62.length);
  }
  return written;
}
