/**
 * The order of commits. One group is under way at a time; batches that arrive meanwhile become durable together in the
 * next one (group commit). So what is durable is always a prefix of what was asked for, and a failure stops the queue
 * for good: after a failed write or sync nobody knows what the next start will see (S31).
 */
import type { KronError } from "../core/base/errors/kron-error.js";
import { writeFailed, writeRefused } from "./failures.js";
import type { Batch, Claim } from "./store.js";

/** Makes a group durable as one transaction, less the batches with claims that are refused: these, for each batch. */
type WriteGroup<B extends Batch = Batch> = (group: readonly B[]) => Promise<readonly (readonly Claim[])[]>;

interface Waiting<B extends Batch> {
  readonly batch: B;
  readonly resolve: (refused: readonly Claim[]) => void;
  readonly reject: (error: KronError) => void;
}

/** Writers wait for their commits; so many batches in the queue mean that somebody does not. */
const MAX_WAITING = 100_000;

/** `B`: what a backend has to know of a batch beside what is in it. */
export class CommitQueue<B extends Batch = Batch> {
  readonly #write: WriteGroup<B>;
  #waiting: Waiting<B>[] = [];
  #running: Promise<void> | null = null;
  #failure: KronError | null = null;

  constructor(write: WriteGroup<B>) {
    this.#write = write;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  commit(batch: B): Promise<readonly Claim[]> {
    if (this.#failure !== null) return Promise.reject(writeRefused(this.#failure));
    if (this.#waiting.length >= MAX_WAITING) throw new Error("invariant broken: commits are not waited for");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing is under way or waiting, whether or not it went well. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Lets everything that is committed in the same turn join the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#writeGroup(group);
    }
    this.#running = null;
  }

  async #writeGroup(group: readonly Waiting<B>[]): Promise<void> {
    try {
      const refused = await this.#write(group.map((it) => it.batch));
      for (const [index, it] of group.entries()) it.resolve(refused[index] ?? []);
    } catch (error) {
      this.#fail(writeFailed(error), group);
    }
  }

  #fail(failure: KronError, group: readonly Waiting<B>[]): void {
    this.#failure = failure;
    for (const it of group) it.reject(failure);
    for (const it of this.#waiting) it.reject(writeRefused(failure));
    this.#waiting = [];
  }
}
