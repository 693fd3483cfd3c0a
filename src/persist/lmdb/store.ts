import { assertBatch } from "../batch.js";
import { CommitQueue } from "../commit-queue.js";
import { writeFailed } from "../failures.js";
import { assertHeld, type LockTerm } from "../lock.js";
import type { Batch, StateStore } from "../store.js";
import { Arena } from "./arena.js";
import { type Databases, META } from "./environment.js";
import { LmdbReader } from "./reads.js";
import { writeGroup, writeMeta } from "./writes.js";

/** The store of one host. `openLmdbStore` makes it; nothing else may. */
export class LmdbStore extends LmdbReader implements StateStore {
  readonly #queue: CommitQueue;

  constructor(databases: Databases, directory: string) {
    super(databases, directory);
    const arena = new Arena();
    this.#queue = new CommitQueue((group) => writeGroup(databases, group, arena));
  }

  commit(term: LockTerm, batch: Batch): Promise<void> {
    assertHeld(term, this.directory);
    this.assertOpen();
    assertBatch(batch);
    return this.#queue.commit(batch);
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.directory);
    this.assertOpen();
    try {
      await writeMeta(this.databases, [[META.loading, isLoading ? "1" : null]]);
    } catch (error) {
      throw writeFailed(error);
    }
  }

  /** Ours are the only commits, and each of them refreshes by itself. */
  protected override refresh(): void {}

  override async close(): Promise<void> {
    await this.#queue.settled();
    await super.close();
  }
}
