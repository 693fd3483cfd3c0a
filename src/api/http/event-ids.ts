/**
 * What events are called on the wire. Whoever follows some of them must not learn from the names how many there were in
 * between, which are others'. So a name is the number under a key of this one life: names of another life are none of ours.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-128-ecb";
const BLOCK_BYTES = 16;
const NUMBER_AT = 8;
const FORM = /^[A-Za-z0-9_-]{22}$/;

export class EventIds {
  readonly #key = randomBytes(BLOCK_BYTES);

  write(number: number): string {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.writeBigUInt64BE(BigInt(number), NUMBER_AT);
    return createCipheriv(CIPHER, this.#key, null).setAutoPadding(false).update(block).toString("base64url");
  }

  /** null: nobody was given this one here. */
  read(id: string): number | null {
    if (!FORM.test(id)) return null;
    const sealed = Buffer.from(id, "base64url");
    const block = createDecipheriv(CIPHER, this.#key, null).setAutoPadding(false).update(sealed);
    const isOurs = block.readBigUInt64BE(0) === 0n;
    return isOurs ? Number(block.readBigUInt64BE(NUMBER_AT)) : null;
  }
}
