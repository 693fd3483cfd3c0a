/** Lets through one at a time, with a turn of the event loop after each, so that a GO never waits for a row of spawns. */
export class Pacer {
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isRunning) this.#next();
    });
  }

  #next(): void {
    this.#isRunning = true;
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#next();
      else this.#isRunning = false;
    });
  }
}
