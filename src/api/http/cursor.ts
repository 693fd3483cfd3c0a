/**
 * Where a page ended, for whoever comes back for the next one: good for the same question only, and only if it was given out
 * here. A place means something to the store alone: what somebody has made up never comes so far.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type HttpProblem, wrongFields } from "./problem.js";

const SEAL_BYTES = 16;
const KEY_BYTES = 32;

export class CursorSeal {
  readonly #key: Buffer;

  /** Without a key: cursors are good for as long as this one is there. */
  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    this.#key = key;
  }

  /** `question`: all that must be the same next time. */
  seal(position: string, question: unknown): string {
    return Buffer.concat([this.#sealOf(position, question), Buffer.from(position)]).toString("base64url");
  }

  open(cursor: string, question: unknown): string {
    const bytes = /^[A-Za-z0-9_-]+$/.test(cursor) ? Buffer.from(cursor, "base64url") : Buffer.alloc(0);
    const position = bytes.subarray(SEAL_BYTES).toString("utf8");
    const sealed = bytes.subarray(0, SEAL_BYTES);
    if (sealed.length === SEAL_BYTES && timingSafeEqual(sealed, this.#sealOf(position, question))) return position;
    throw wrongCursor("it belongs to another question, or was not given out by this daemon");
  }

  #sealOf(position: string, question: unknown): Buffer {
    const text = JSON.stringify([question, position]);
    return createHmac("sha256", this.#key).update(text).digest().subarray(0, SEAL_BYTES);
  }
}

export function wrongCursor(message: string): HttpProblem {
  const hint = "ask again without a cursor, or with the one that the last page gave";
  return wrongFields([{ pointer: "/cursor", code: "field-value", message, hint }]);
}
