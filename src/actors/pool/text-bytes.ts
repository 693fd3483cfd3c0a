/** Texts as UTF-8, one behind the other, in a buffer that grows. */

/** The most that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class TextBytes {
  #bytes: Buffer;
  #end = 0;

  constructor(firstBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
  }

  /** Where it ends, and the next one begins. */
  add(text: string): number {
    const needed = this.#end + BYTES_PER_UNIT * text.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#end += this.#bytes.write(text, this.#end);
    return this.#end;
  }

  /** A copy of exactly what was written: it can be handed over, and holds no more than it shows. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#end));
  }
}
