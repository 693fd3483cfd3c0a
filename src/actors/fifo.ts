/**
 * First in, first out. To take one costs the same however many wait: an array moves all that are left once there are some ten
 * thousand of them.
 */

/** Places of what was taken are given up when there are so many, and most are such. */
const SWEPT_ABOVE = 1_024;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** undefined: there is none. */
  take(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.#restart([]);
    else if (this.#head > SWEPT_ABOVE && 2 * this.#head > this.#items.length) {
      this.#restart(this.#items.slice(this.#head));
    }
    return item;
  }

  /** At most so many. */
  takeSome(most: number): readonly T[] {
    const taken: T[] = [];
    while (taken.length < most && this.length > 0) taken.push(this.take() as T);
    return taken;
  }

  #restart(items: (T | undefined)[]): void {
    this.#items = items;
    this.#head = 0;
  }
}
