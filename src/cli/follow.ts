/** Reads what is written to files while it is written, for people who look on. */
import { type FileHandle, open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as wait } from "node:timers/promises";

/** Short enough to look alive, long enough to cost nothing. */
const LOOK_EVERY_MS = 200;
const PIECE_BYTES = 64 * 1024;

export function nextLook(): Promise<void> {
  return wait(LOOK_EVERY_MS);
}

/** One file that grows. It stays the same file when another takes its name. */
export class Tail {
  readonly #decoder = new StringDecoder("utf8");
  readonly #buffer = Buffer.alloc(PIECE_BYTES);
  #offset = 0;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<Tail> {
    return new Tail(await open(path));
  }

  /** What came since the last time; never half a character. */
  async *news(): AsyncGenerator<string> {
    const { size } = await this.#handle.stat();
    // Its middle was dropped when its run ended: what is left was shown, but for what came at the very end.
    if (size < this.#offset) this.#offset = size;
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#buffer, 0, PIECE_BYTES, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      const text = this.#decoder.write(this.#buffer.subarray(0, bytesRead));
      if (text !== "") yield text;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
