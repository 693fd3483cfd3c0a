/**
 * Texts as bytes, many to one allocation. A commit of thousands of texts spends most of its time on the loop in making
 * buffers; here a text costs its encoding and little else. What was written stays valid as long as somebody holds it.
 */
const CHUNK_BYTES = 256 * 1024;
/** The most that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class Arena {
  #chunk = Buffer.alloc(0);
  #used = 0;

  /** The UTF-8 bytes of both texts, one after the other. */
  write(first: string, second = ""): Buffer {
    const chunk = this.#withRoom(BYTES_PER_UNIT * (first.length + second.length));
    const start = this.#used;
    let end = start + chunk.write(first, start);
    if (second !== "") end += chunk.write(second, end);
    this.#used = end;
    return chunk.subarray(start, end);
  }

  #withRoom(bytes: number): Buffer {
    if (this.#chunk.length - this.#used < bytes) {
      this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
      this.#used = 0;
    }
    return this.#chunk;
  }
}
