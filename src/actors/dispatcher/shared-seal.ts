/**
 * Secrets that lie in a store of several nodes: all of them seal with one key, which each has in a file of its own and the store
 * has not. The store knows which key it is, so that a node with another one, or with none, says so instead of sealing what
 * nobody else can open.
 */
import { createHash } from "node:crypto";
import * as path from "node:path";
import { err, ok, type Result } from "../../core/base/result.js";
import { KEY_FILE, type Sealer, SecretBox, secretKeyIn } from "./seal.js";

export class SharedSecretBox implements Sealer {
  readonly #directory: string;
  /** Of the key of all nodes; null: nobody has said which one it is. */
  readonly #fingerprint: string | null;
  #box: SecretBox | null = null;

  constructor(directory: string, fingerprint: string | null) {
    this.#directory = directory;
    this.#fingerprint = fingerprint;
  }

  seal(text: string): Result<string, string> {
    const made = this.#made();
    return made.ok ? made.value.sealing(text) : made;
  }

  unseal(sealed: string): Result<string, string> {
    const made = this.#made();
    return made.ok ? made.value.opening(sealed) : made;
  }

  #made(): Result<SecretBox, string> {
    if (this.#box !== null) return ok(this.#box);
    const file = path.join(this.#directory, KEY_FILE);
    const known = secretKeyIn(this.#directory, false);
    if (!known.ok) return known;
    const { value: key } = known;
    const copy = `copy ${KEY_FILE} here from the state directory of a node that has it`;
    if (key === null) return err(`${file} is not there: ${copy}`);
    if (this.#fingerprint === null)
      return err(`no node has said yet that ${file} is the key of all: start this one anew`);
    if (fingerprintOf(key) !== this.#fingerprint)
      return err(`${file} is another key than that of the other nodes: ${copy}`);
    this.#box = new SecretBox(key);
    return ok(this.#box);
  }
}

/** Says which key it is, and nothing of the key. */
export function fingerprintOf(key: Buffer): string {
  return createHash("sha256").update("kron: the key of secrets").update(key).digest("hex");
}
