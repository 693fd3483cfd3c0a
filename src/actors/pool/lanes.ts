/** Many pieces of work, some at a time; what comes of them is taken in the order in which they were put in. */

interface Failure {
  readonly cause: unknown;
}

export class Lanes<T> {
  readonly #width: number;
  readonly #take: (made: T) => void | Promise<void>;
  #underWay = 0;
  #failure: Failure | null = null;
  #tail: Promise<void> = Promise.resolve();
  readonly #waiting: (() => void)[] = [];

  /** At most `width` pieces are under way, and each counts until `take` is done with what came of it. */
  constructor(width: number, take: (made: T) => void | Promise<void>) {
    this.#width = width;
    this.#take = take;
  }

  /** Waits for room, then begins. Rejects with the first failure of any piece: nothing is begun after it. */
  async put(make: () => Promise<T>): Promise<void> {
    while (this.#underWay >= this.#width && this.#failure === null) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#failure !== null) throw this.#failure.cause;
    this.#enqueue(make());
  }

  /** Takes its turn without waiting for room. */
  note(made: T): void {
    this.#enqueue(Promise.resolve(made));
  }

  /** When everything has been taken. Rejects with the first failure, when nothing is under way any more. */
  async end(): Promise<void> {
    await this.#tail;
    if (this.#failure !== null) throw this.#failure.cause;
  }

  #enqueue(made: Promise<T>): void {
    this.#underWay += 1;
    // Its turn may come long after it failed.
    made.catch(() => {});
    this.#tail = this.#inTurn(this.#tail, made);
  }

  async #inTurn(before: Promise<void>, made: Promise<T>): Promise<void> {
    await before;
    try {
      const it = await made;
      if (this.#failure === null) await this.#take(it);
    } catch (cause) {
      this.#failure ??= { cause };
    }
    this.#underWay -= 1;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
