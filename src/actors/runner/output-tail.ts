/**
 * Follows the output file of one run. The job writes to its file and to nothing of ours, so that it can outlive us (S29):
 * whoever wants its lines has to look. What a file gains faster than it can be looked at is left out and counted.
 */
import * as fs from "node:fs";
import { LineSplitter } from "./output-lines.js";

export const OUTPUT_TAIL_LIMITS = {
  /** Read at one look, so that no job holds up the loop. */
  lookBytes: 256 * 1024,
  /** Further behind than this, the tail goes to where the file ends. */
  behindBytes: 4 * 1024 * 1024,
} as const;

export interface Seen {
  readonly lines: readonly string[];
  readonly bytesLeftOut: number;
}

const NOTHING: Seen = { lines: [], bytesLeftOut: 0 };
/** One for all: it is read and split in one breath. */
const BUFFER = Buffer.alloc(OUTPUT_TAIL_LIMITS.lookBytes);

export class OutputTail {
  readonly #file: string;
  readonly #splitter = new LineSplitter();
  #descriptor: number | null = null;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** What is there already has been told by somebody else, or by nobody. */
  skipToEnd(): void {
    this.#guarded((descriptor) => {
      this.#offset = fs.fstatSync(descriptor).size;
      return NOTHING;
    });
  }

  look(): Seen {
    return this.#guarded((descriptor) => this.#readOn(descriptor));
  }

  #readOn(descriptor: number): Seen {
    const { size } = fs.fstatSync(descriptor);
    // Cut to its cap: what is new stands behind what is left.
    if (size < this.#offset) this.#offset = size;
    const behind = size - this.#offset;
    const bytesLeftOut = behind > OUTPUT_TAIL_LIMITS.behindBytes ? behind - OUTPUT_TAIL_LIMITS.lookBytes : 0;
    this.#offset += bytesLeftOut;
    const read = fs.readSync(descriptor, BUFFER, 0, BUFFER.length, this.#offset);
    this.#offset += read;
    return { lines: this.#splitter.push(BUFFER.subarray(0, read)), bytesLeftOut };
  }

  /** Everything up to the end, as far as it is not too much. */
  finish(): Seen {
    const looks: Seen[] = [];
    const most = OUTPUT_TAIL_LIMITS.behindBytes / OUTPUT_TAIL_LIMITS.lookBytes + 1;
    for (let count = 0; count < most; count += 1) {
      const before = this.#offset;
      looks.push(this.look());
      if (this.#offset === before) break;
    }
    this.close();
    const bytesLeftOut = looks.reduce((sum, look) => sum + look.bytesLeftOut, 0);
    return { lines: [...looks.flatMap(({ lines }) => lines), ...this.#splitter.end()], bytesLeftOut };
  }

  close(): void {
    if (this.#descriptor !== null) fs.closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** No trouble with a file is one of the daemon: `kron logs` shows what is there, and the next look may find more. */
  #guarded(look: (descriptor: number) => Seen): Seen {
    try {
      this.#descriptor ??= fs.openSync(this.#file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
      return look(this.#descriptor);
    } catch {
      return NOTHING;
    }
  }
}
