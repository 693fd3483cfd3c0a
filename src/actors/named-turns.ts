/** One after another under each name: for what reads something and writes it changed. */
export class NamedTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(name: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const turn = before.then(act, act);
    // What comes of it is for whoever has asked; here it counts only that it is over.
    this.#last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name);
    }
  }
}
