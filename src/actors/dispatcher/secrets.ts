/**
 * What requests need and nobody may read: values of headers, keys to sign with, certificates. They are read when a request
 * is made ready, so that a secret that was changed is the one that is used, and kept no longer than it.
 */

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { messageOf } from "../../core/base/errors/message.js";
import { LIMITS } from "../../core/base/limits.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { KEY_FORM, signingKeyOf } from "../../core/endpoint/signing-secret.js";
import type { SecretRef, TlsFiles } from "../../core/job/definition.js";
import type { ArmFailure } from "../runner/port.js";
import { DISPATCHER_LIMITS } from "./limits.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Unseal = (sealed: string) => Result<string, string>;

const NO_KEY: Unseal = () => err("there is no key to open it with");

/** Blanks and line ends around it are not part of it: editors leave one at the end of every file. */
export async function readSecret(
  { from, name }: SecretRef,
  env: Environment,
  unseal: Unseal = NO_KEY,
): Promise<Result<string, ArmFailure>> {
  if (from === "sealed") {
    const opened = unseal(name);
    return opened.ok ? ok(opened.value) : refused(`what is kept sealed cannot be opened: ${opened.error}`);
  }
  if (from === "file") {
    const read = await readText(name);
    return read.ok ? checked(read.value.trim(), `the file ${name}`) : read;
  }
  const value = env[name];
  if (value === undefined) return refused(`the environment variable ${name} is not set where the daemon runs`);
  return checked(value.trim(), `the environment variable ${name}`);
}

/** What it signs with; its text is not to be seen either. */
interface SigningKey {
  readonly key: Buffer;
  readonly text: string;
}

export async function readSigningKey(
  secret: SecretRef,
  env: Environment,
  unseal?: Unseal,
): Promise<Result<SigningKey, ArmFailure>> {
  const read = await readSecret(secret, env, unseal);
  if (!read.ok) return read;
  const key = signingKeyOf(read.value);
  if (key !== null) return ok({ key, text: read.value });
  const { from, name } = secret;
  const what =
    from === "sealed" ? "what is kept sealed" : from === "file" ? `the file ${name}` : `the variable ${name}`;
  return refused(`${what} is to sign the request and is no key: ${KEY_FORM}`);
}

function checked(value: string, what: string): Result<string, ArmFailure> {
  if (value === "") return refused(`${what} is empty`);
  return value.length > LIMITS.secretBytes ? refused(`${what} is too long`) : ok(value);
}

function refused(message: string): Result<never, ArmFailure> {
  return err({ code: "secret-unreadable", message });
}

async function readText(path: string): Promise<Result<string, ArmFailure>> {
  try {
    const file = await open(path, "r");
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return refused(`${path} is no file`);
      if (stat.size > LIMITS.secretBytes) return refused(`the file ${path} is longer than ${LIMITS.secretBytes} bytes`);
      return ok(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return refused(`the file ${path} cannot be read: ${code}`);
  }
}

interface TlsProfile {
  /** Of what the files hold: another certificate, other connections. */
  readonly key: string;
  /** null: as the system has it. */
  readonly context: SecureContext | null;
}

const PLAIN: TlsProfile = { key: "", context: null };

export class TlsProfiles {
  readonly #contexts = new Map<string, SecureContext>();

  async read({ caFile, certFile, keyFile }: TlsFiles): Promise<Result<TlsProfile, ArmFailure>> {
    if (caFile === null && certFile === null && keyFile === null) return ok(PLAIN);
    const texts: (string | undefined)[] = [];
    for (const path of [caFile, certFile, keyFile]) {
      const read = path === null ? ok(undefined) : await readText(path);
      if (!read.ok) return read;
      texts.push(read.value);
    }
    const key = createHash("sha256").update(JSON.stringify(texts)).digest("hex");
    return this.#contextOf(key, texts);
  }

  #contextOf(key: string, [ca, cert, secret]: readonly (string | undefined)[]): Result<TlsProfile, ArmFailure> {
    const known = this.#contexts.get(key);
    if (known !== undefined) return ok({ key, context: known });
    try {
      const context = createSecureContext({ ca, cert, key: secret });
      const [oldest] = this.#contexts.size >= DISPATCHER_LIMITS.tlsProfiles ? this.#contexts.keys() : [];
      if (oldest !== undefined) this.#contexts.delete(oldest);
      this.#contexts.set(key, context);
      return ok({ key, context });
    } catch (error) {
      const message = messageOf(error);
      return refused(`the certificates cannot be used: ${message}`);
    }
  }
}
