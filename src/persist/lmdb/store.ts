import { join } from "node:path";
import { assertBatch } from "../batch.js";
import { CommitQueue } from "../commit-queue.js";
import { writeFailed } from "../failures.js";
import { sealOf, writeFarewell } from "../farewell.js";
import type { KeyRange } from "../key-range.js";
import { assertHeld, type LockTerm } from "../lock.js";
import { Parting } from "../parting.js";
import type { Batch, Claim, FarewellPort, StateStore } from "../store.js";
import { Arena } from "./arena.js";
import { DATA_FILE, META } from "./environment.js";
import { LmdbReader, type Opening } from "./reads.js";
import { writeGroup, writeMeta } from "./writes.js";

/** What all views of a store that is written to share. */
interface Writing {
  readonly queue: CommitQueue;
  readonly parting: Parting;
}

function writingTo({ databases, directory }: Opening, left: Buffer | null): Writing {
  const arena = new Arena();
  return {
    queue: new CommitQueue((group) => writeGroup(databases, group, arena)),
    parting: new Parting(left, (term) => assertHeld(term, directory)),
  };
}

/** The store of one host. `openLmdbStore` makes it; nothing else may. */
export class LmdbStore extends LmdbReader implements StateStore {
  /** Of the whole store: a view knows a part of its jobs. */
  readonly farewell?: FarewellPort;
  readonly #writing: Writing;

  constructor(opening: Opening, left: Buffer | null, range?: KeyRange, writing = writingTo(opening, left)) {
    super(opening, range);
    this.#writing = writing;
    if (range === undefined) this.farewell = writing.parting;
  }

  override inRange(range: KeyRange): StateStore {
    return new LmdbStore(this.opening, null, range, this.#writing);
  }

  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {
    assertHeld(term, this.opening.directory);
    this.assertOpen();
    assertBatch(batch);
    this.#writing.parting.heed(batch);
    return this.#writing.queue.commit(batch);
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
    const { directory, databases, isClosed } = this.opening;
    const { queue, parting } = this.#writing;
    await queue.settled();
    const words = isClosed || queue.hasFailed ? null : parting.words;
    const generation = words === null ? 0 : Number(databases.meta.get(META.generation));
    await super.close();
    // Closed first: nobody changes it any more.
    if (words !== null) {
      await writeFarewell(directory, () => sealOf(join(directory, DATA_FILE), this.storeId, generation), words);
    }
  }
}
