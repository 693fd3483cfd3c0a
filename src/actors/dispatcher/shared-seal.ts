/**
 * Secrets that lie in a store of several nodes: all of them seal with one key, which each has in a file of its own and the store
 * has not. The store knows which key it is, so that a node with another one, or with none, says so instead of sealing what
 * nobody else can open.
 */
import { createHash } from "node:crypto";
import * as path from "node:path";
import { err, ok, type Result } from "../../core/base/result.js";
import { KEY_FILE, SecretBox, secretKeyIn } from "./seal.js";

/** `fingerprint`: of the key of all nodes; null: nobody has said which one it is. */
export function sharedSecretBoxIn(directory: string, fingerprint: string | null): Result<SecretBox, string> {
  const file = path.join(directory, KEY_FILE);
  const known = secretKeyIn(directory, false);
  if (!known.ok) return known;
  const { value: key } = known;
  const copy = `copy ${KEY_FILE} here from the state directory of a node that has it`;
  if (key === null) return err(`${file} is not there: ${copy}`);
  if (fingerprint === null) return err(`no node has said yet that ${file} is the key of all: start this one anew`);
  if (fingerprintOf(key) !== fingerprint) return err(`${file} is another key than that of the other nodes: ${copy}`);
  return ok(new SecretBox(key));
}

/** Says which key it is, and nothing of the key. */
export function fingerprintOf(key: Buffer): string {
  return createHash("sha256").update("kron: the key of secrets").update(key).digest("hex");
}
