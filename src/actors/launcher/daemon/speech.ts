/**
 * What is said to one launcher. Of one turn of the loop it goes out in one write, at its end, and what takes several turns at
 * the end of the last: of a thousand that are released together each write alone would cost as much as all of them, and the
 * first to begin would take the processors from whoever still releases the others.
 */
import { LAUNCHER_LIMITS } from "../child/limits.js";

export class Speech {
  #text = "";
  #framesOfTurn = 0;
  #sinceMs = 0;
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** A frame, encoded. */
  say(frame: string): void {
    if (this.#text === "") {
      this.#sinceMs = performance.now();
      setImmediate(() => this.#endTurn());
    }
    this.#text += frame;
    this.#framesOfTurn += 1;
  }

  #endTurn(): void {
    const { framesOfMany, heldFramesMs } = LAUNCHER_LIMITS;
    const goesOn = this.#framesOfTurn >= framesOfMany && performance.now() - this.#sinceMs < heldFramesMs;
    this.#framesOfTurn = 0;
    if (goesOn) {
      setImmediate(() => this.#endTurn());
      return;
    }
    const text = this.#text;
    this.#text = "";
    this.#write(text);
  }
}
