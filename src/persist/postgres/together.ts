/** Questions of one turn of the loop, asked together: a server answers a hundred of them as fast as one. */

interface Waiting<V> {
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 1_000;

export class Together<K, V> {
  readonly #ask: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>;
  #waiting = new Map<K, Waiting<V>[]>();

  constructor(ask: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>) {
    this.#ask = ask;
  }

  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) queueMicrotask(() => void this.#askAll());
      const others = this.#waiting.get(key);
      if (others === undefined) this.#waiting.set(key, [{ resolve, reject }]);
      else others.push({ resolve, reject });
      if (this.#waiting.size >= MOST_AT_ONCE) void this.#askAll();
    });
  }

  async #askAll(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    if (waiting.size === 0) return;
    try {
      const found = await this.#ask([...waiting.keys()]);
      for (const [key, askers] of waiting) for (const it of askers) it.resolve(found.get(key));
    } catch (error) {
      for (const askers of waiting.values()) for (const it of askers) it.reject(error);
    }
  }
}
