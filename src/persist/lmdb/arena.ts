/**
 * Texts as bytes, many to one allocation. A commit of thousands of texts spends most of its time on the loop in making
 * buffers; here a text costs its encoding and little else. What was written is valid until the arena is emptied; its chunks
 * are written over then, because new ones for each commit of a first load would leave hundreds of megabytes to the allocator.
 */
const CHUNK_BYTES = 256 * 1024;
/** What is kept when it is emptied: enough for thousands of runs in one commit. */
const KEPT_CHUNKS = 16;
/** The most that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class Arena {
  #chunks: Buffer[] = [];
  /** The number of the chunk that is written to, and how much of it is. */
  #current = -1;
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

  /** Nobody may hold anything of it any more. */
  empty(): void {
    this.#chunks = this.#chunks.filter(({ length }) => length === CHUNK_BYTES).slice(0, KEPT_CHUNKS);
    this.#current = -1;
    this.#used = 0;
  }

  #withRoom(bytes: number): Buffer {
    const chunk = this.#chunks[this.#current];
    if (chunk !== undefined && chunk.length - this.#used >= bytes) return chunk;
    this.#used = 0;
    this.#current += 1;
    const next = this.#chunks[this.#current];
    if (next !== undefined && next.length >= bytes) return next;
    const made = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#chunks.splice(this.#current, 0, made);
    return made;
  }
}
