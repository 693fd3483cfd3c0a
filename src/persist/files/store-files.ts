/**
 * The files of one opened store, shared by all views of it: read as they are between two changes, changed a group of
 * batches at a time.
 */
import * as path from "node:path";
import { nameOfRecord } from "../batch.js";
import { admitted } from "../claims.js";
import { CommitQueue } from "../commit-queue.js";
import { storeError, unreadable, writeFailed } from "../failures.js";
import type { Batch, Claim } from "../store.js";
import { applyChanges, replaceFile } from "./atomic.js";
import type { Disk } from "./disk.js";
import { parseRecords } from "./lines.js";
import { formatMeta, META_FILE, type Meta } from "./meta.js";
import { ledgerFile, Plan } from "./plan.js";

export class StoreFiles {
  readonly directory: string;
  readonly #disk: Disk;
  readonly #queue = new CommitQueue((group) => this.#write(group));
  #meta: Meta;
  #isClosed = false;
  /** The change under way, or the last one: readers wait for it, so that they never see a part of a batch. */
  #changing: Promise<void> = Promise.resolve();
  /** After a failed change the files may hold a part of a batch; only the next start can finish it. */
  #isTorn = false;

  constructor(disk: Disk, directory: string, meta: Meta) {
    this.directory = directory;
    this.#disk = disk;
    this.#meta = meta;
  }

  assertOpen(): void {
    if (this.#isClosed) throw new Error("invariant broken: a closed store was used");
  }

  get meta(): Meta {
    this.assertOpen();
    return this.#meta;
  }

  commit(batch: Batch): Promise<readonly Claim[]> {
    return this.#queue.commit(batch);
  }

  async markLoading(isLoading: boolean): Promise<void> {
    const meta = { ...this.meta, isLoading };
    try {
      await replaceFile(this.#disk, path.join(this.directory, META_FILE), formatMeta(meta));
    } catch (error) {
      throw writeFailed(error);
    }
    this.#meta = meta;
  }

  async close(): Promise<void> {
    await this.#queue.settled();
    this.#isClosed = true;
  }

  /** Empty when there is no such file. */
  async read(file: string): Promise<string> {
    return (await this.bytes(file))?.toString() ?? "";
  }

  async bytes(file: string): Promise<Buffer | null> {
    await this.#settled();
    try {
      return await this.#disk.read(path.join(this.directory, file));
    } catch (error) {
      throw unreadable("read", `cannot read ${file}`, error);
    }
  }

  /** Names in their order. */
  async list(directory: string): Promise<string[]> {
    await this.#settled();
    try {
      return [...(await this.#disk.list(path.join(this.directory, directory)))].sort();
    } catch (error) {
      throw unreadable("read", `cannot list ${directory}`, error);
    }
  }

  async #settled(): Promise<void> {
    this.assertOpen();
    // By the time that one change is through the next may be under way, which is no failed write.
    for (let change: Promise<void> | null = null; change !== this.#changing; ) {
      change = this.#changing;
      await change.catch(() => undefined);
    }
    if (this.#isTorn) throw storeError("state-unreadable", "read", "a failed write left the files half-changed");
  }

  async #write(group: readonly Batch[]): Promise<readonly (readonly Claim[])[]> {
    const content = async (file: string): Promise<string> => {
      return (await this.#disk.read(path.join(this.directory, file)))?.toString() ?? "";
    };
    const taken = new Set<string>();
    for (const identity of new Set(group.flatMap(({ claims = [] }) => claims.map(({ key }) => key.identity)))) {
      for (const record of parseRecords(await content(ledgerFile(identity)))) taken.add(nameOfRecord(record));
    }
    const admission = admitted(group, (key) => taken.has(nameOfRecord(key)));
    const plan = new Plan(this.#meta, content);
    for (const batch of admission.admitted) await plan.add(batch);
    this.#changing = this.#change(plan);
    await this.#changing;
    return admission.refused;
  }

  async #change(plan: Plan): Promise<void> {
    this.#isTorn = true;
    await applyChanges(this.#disk, this.directory, plan.changes());
    this.#isTorn = false;
    this.#meta = plan.meta;
  }
}
