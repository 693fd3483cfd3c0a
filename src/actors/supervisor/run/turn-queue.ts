/**
 * Whoever has something to take: so many in each turn of the loop, in the order in which they came. What comes from the
 * launchers comes in heaps, and everything else must have its turn in between.
 */
import { Fifo } from "../../fifo.js";

/** Each takes a tenth of a millisecond or two. */
const TAKEN_PER_TURN = 64;

export class TurnQueue {
  readonly #waiting = new Fifo<() => void>();
  #taken = 0;
  #isScheduled = false;

  /** null: at once. */
  next(): Promise<void> | null {
    this.#schedule();
    if (this.#taken < TAKEN_PER_TURN && this.#waiting.length === 0) {
      this.#taken += 1;
      return null;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const due = this.#waiting.takeSome(TAKEN_PER_TURN);
      this.#taken = due.length;
      for (const resolve of due) resolve();
      if (due.length > 0) this.#schedule();
    });
  }
}
