/** So much at a time, in the order in which it came; the rest waits for its turn. */
export class AtMost {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#underWay >= this.#most) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#underWay += 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // Its place is handed on.
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}
