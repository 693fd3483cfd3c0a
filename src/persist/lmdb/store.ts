import { assertBatch } from "../batch.js";
import { CommitQueue } from "../commit-queue.js";
import { writeFailed } from "../failures.js";
import type { KeyRange } from "../key-range.js";
import { assertHeld, type LockTerm } from "../lock.js";
import type { Batch, Claim, StateStore } from "../store.js";
import { Arena } from "./arena.js";
import { META } from "./environment.js";
import { LmdbReader, type Opening } from "./reads.js";
import { writeGroup, writeMeta } from "./writes.js";

/** The store of one host. `openLmdbStore` makes it; nothing else may. */
export class LmdbStore extends LmdbReader implements StateStore {
  readonly #queue: CommitQueue;

  constructor(opening: Opening, range?: KeyRange, queue?: CommitQueue) {
    super(opening, range);
    const arena = new Arena();
    this.#queue = queue ?? new CommitQueue((group) => writeGroup(opening.databases, group, arena));
  }

  override inRange(range: KeyRange): StateStore {
    return new LmdbStore(this.opening, range, this.#queue);
  }

  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {
    assertHeld(term, this.opening.directory);
    this.assertOpen();
    assertBatch(batch);
    return this.#queue.commit(batch);
  }

  /** It lies in one piece. */
  async dropLedger(): Promise<number> {
    return 0;
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.opening.directory);
    this.assertOpen();
    try {
      await writeMeta(this.opening.databases, [[META.loading, isLoading ? "1" : null]]);
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
