/** What is under way under each name, any number at once: whoever changes what it goes by waits for all that has begun. */
export class UnderWay {
  readonly #begun = new Map<string, Set<Promise<unknown>>>();

  async during<T>(name: string, act: () => Promise<T>): Promise<T> {
    const begun = this.#begun.get(name) ?? new Set();
    this.#begun.set(name, begun);
    const done = act();
    begun.add(done);
    try {
      return await done;
    } finally {
      begun.delete(done);
      if (begun.size === 0) this.#begun.delete(name);
    }
  }

  /** What begins from here on is not waited for. */
  async over(name: string): Promise<void> {
    await Promise.allSettled([...(this.#begun.get(name) ?? [])]);
  }
}
