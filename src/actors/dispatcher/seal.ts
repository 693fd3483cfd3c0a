/**
 * Secrets that lie in the store: sealed with a key that does not. A value of a header that begins so is opened when a request
 * is made ready, and nowhere else. AES-256-GCM: what was changed does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { err, ok, type Result } from "../../core/base/result.js";

const SEALED = "sealed:v1:";
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_FILE = "secret.key";
const FILE_MODE = 0o600;

export function isSealed(text: string): boolean {
  return text.startsWith(SEALED);
}

/** Makes a secret what may lie in the store, and opens it. */
export interface Sealer {
  seal(text: string): Result<string, string>;
  unseal(sealed: string): Result<string, string>;
}

export class SecretBox {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
  }

  /** null: it was sealed with another key, or is damaged. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed.slice(SEALED.length), "base64url");
    if (!isSealed(sealed) || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
  }
}

/** A box that is made the first time that it is needed. */
export class LazySecretBox implements Sealer {
  readonly #make: () => Result<SecretBox, string>;
  #box: SecretBox | null = null;

  constructor(make: () => Result<SecretBox, string>) {
    this.#make = make;
  }

  seal(text: string): Result<string, string> {
    const box = this.#made();
    return box.ok ? ok(box.value.seal(text)) : box;
  }

  unseal(sealed: string): Result<string, string> {
    const box = this.#made();
    if (!box.ok) return box;
    const text = box.value.open(sealed);
    return text === null ? err("it was sealed with another key, or is damaged") : ok(text);
  }

  #made(): Result<SecretBox, string> {
    if (this.#box !== null) return ok(this.#box);
    const made = this.#make();
    if (made.ok) this.#box = made.value;
    return made;
  }
}

/** The key of a state directory, made the first time that it is needed. It is no part of an export: who has both reads all. */
export function secretBoxIn(directory: string): Result<SecretBox, string> {
  const key = secretKeyIn(directory, true);
  if (!key.ok) return key;
  if (key.value === null) throw new Error("invariant broken: a key that was to be made is not there");
  return ok(new SecretBox(key.value));
}

/** null: there is none, and none is to be made. */
export function secretKeyIn(directory: string, isMade: boolean): Result<Buffer | null, string> {
  const file = path.join(directory, KEY_FILE);
  try {
    const known = readKey(file) ?? (isMade ? makeKey(file) : null);
    const isWhole = known === null || known.length === KEY_BYTES;
    return isWhole ? ok(known) : err(`${file} holds no key of ${KEY_BYTES} bytes`);
  } catch (error) {
    return err(
      `${file} cannot be used: ${error instanceof Error && "code" in error ? String(error.code) : "unreadable"}`,
    );
  }
}

function readKey(file: string): Buffer | null {
  try {
    const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      return fs.readFileSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Durable before anything is sealed with it, and whole or not there: a crash in between leaves no key of half its length. */
function makeKey(file: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  const temporary = `${file}.new`;
  fs.rmSync(temporary, { force: true });
  const descriptor = fs.openSync(temporary, "wx", FILE_MODE);
  try {
    fs.writeSync(descriptor, key);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
  fs.renameSync(temporary, file);
  const directory = fs.openSync(path.dirname(file), "r");
  try {
    fs.fsyncSync(directory);
  } finally {
    fs.closeSync(directory);
  }
  return key;
}
