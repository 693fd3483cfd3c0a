/** A store for tests and simulations: the same contract over a `MemoryDisk`, with its faults. */
import { err, ok } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import { assertBatch } from "../batch.js";
import { CommitQueue } from "../commit-queue.js";
import { loadUnfinished } from "../failures.js";
import { type DocumentKey, documentKey, recordKey } from "../keys.js";
import { assertHeld, type LockTerm } from "../lock.js";
import {
  type AliveSpan,
  type Batch,
  type DocumentEntry,
  type LedgerCursor,
  type LedgerKey,
  type LedgerPage,
  type LedgerRecord,
  type Note,
  type OpenedStore,
  PAGE_SIZE,
  type StateStore,
  type StoreCounts,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import type { MemoryDisk, StoredDocument } from "./disk.js";

class DiskFault extends Error {
  readonly code: string;

  constructor(errno: string) {
    super(`${errno}: simulated`);
    this.code = errno;
  }
}

function nameOf(record: LedgerRecord): string {
  return recordKey(record.identity, record.at, record.kind).toString("hex");
}

function byKey(left: LedgerRecord, right: LedgerRecord): number {
  return nameOf(left) < nameOf(right) ? -1 : 1;
}

function stored(record: LedgerRecord): StoredRecord {
  return { ...record, isIntact: true };
}

function* pages<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += PAGE_SIZE) yield items.slice(at, at + PAGE_SIZE);
}

class MemoryStore implements StateStore {
  readonly storeId: string;
  readonly #disk: MemoryDisk;
  readonly #directory: string;
  readonly #queue: CommitQueue;
  #isClosed = false;

  constructor(disk: MemoryDisk, directory: string) {
    this.storeId = disk.storeId;
    this.#disk = disk;
    this.#directory = directory;
    this.#queue = new CommitQueue((group) => this.#write(group));
  }

  commit(term: LockTerm, batch: Batch): Promise<void> {
    assertHeld(term, this.#directory);
    this.#open();
    assertBatch(batch);
    return this.#queue.commit(batch);
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.#directory);
    this.#open().isLoading = isLoading;
  }

  async get(identity: string): Promise<DocumentEntry | undefined> {
    const key = documentKey(identity);
    const found = this.#open().documents.get(key);
    return found === undefined ? undefined : { key, ...found };
  }

  async bytes(key: DocumentKey): Promise<Buffer | undefined> {
    const found = this.#open().documents.get(key);
    return found === undefined ? undefined : Buffer.from(found.text);
  }

  async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
    const entries = [...this.#open().documents].sort(([left], [right]) => (left < right ? -1 : 1));
    yield* pages(entries.map(([key, document]: [DocumentKey, StoredDocument]) => ({ key, ...document })));
  }

  async ledgerRecord(key: LedgerKey): Promise<StoredRecord | undefined> {
    return this.#records(key.identity).find((it) => it.at === key.at && it.kind === key.kind);
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const records = this.#records(identity).reverse();
    return records.filter((it) => before === undefined || it.at < before).slice(0, limit);
  }

  async ledgerRange(identity: string, from: EpochMs, to: EpochMs, limit: number): Promise<readonly StoredRecord[]> {
    return this.#records(identity)
      .filter((it) => it.at >= from && it.at < to)
      .slice(0, limit);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const all = [...this.#open().ledger.values()].flatMap((records) => [...records.values()]).sort(byKey);
    const rest = all.reverse().filter((it) => cursor === null || nameOf(it) < cursor);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { records: page.map(stored), next: last === undefined || page.length < limit ? null : nameOf(last) };
  }

  async definitionAt(identity: string, at: EpochMs): Promise<StoredVersion | undefined> {
    return this.#versions(identity)
      .filter((it) => it.definedAt <= at)
      .at(-1);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    return this.#versions(identity);
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    yield* pages([...this.#open().definitions.keys()].flatMap((identity) => this.#versions(identity).reverse()));
  }

  async aliveSpans(from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const spans = [...this.#open().alive.values()].sort((left, right) => left.bootedAt - right.bootedAt);
    return spans.filter((span) => span.bootedAt < to && span.at >= from);
  }

  async meta(key: string): Promise<string | undefined> {
    return this.#open().notes.get(key);
  }

  async notes(): Promise<readonly Note[]> {
    return [...this.#open().notes].sort().map(([key, text]) => ({ key, text }));
  }

  async counts(): Promise<StoreCounts> {
    const { documents, ledger, definitions } = this.#open();
    return { documents: documents.size, ledger: sizes(ledger), definitions: sizes(definitions) };
  }

  async close(): Promise<void> {
    await this.#queue.settled();
    this.#isClosed = true;
  }

  #open(): MemoryDisk {
    if (this.#isClosed) throw new Error("invariant broken: a closed store was used");
    return this.#disk;
  }

  #records(identity: string): StoredRecord[] {
    const records = this.#open().ledger.get(identity);
    return records === undefined ? [] : [...records.values()].sort(byKey).map(stored);
  }

  #versions(identity: string): StoredVersion[] {
    const versions = this.#open().definitions.get(identity);
    const found = versions === undefined ? [] : [...versions.values()].map((it) => ({ ...it, isIntact: true }));
    return found.sort((left, right) => left.definedAt - right.definedAt);
  }

  /** Like a real disk it takes its time, so that nothing comes to rely on a commit being there at once. */
  async #write(group: readonly Batch[]): Promise<void> {
    await Promise.resolve();
    this.#disk.commits += 1;
    const fault = this.#disk.faults(this.#disk.commits, group);
    if (fault === null || fault.isDurable) for (const batch of group) this.#disk.apply(batch);
    if (fault?.kind === "fail") throw new DiskFault(fault.errno);
    if (fault?.kind === "crash") await this.#crash();
  }

  #crash(): Promise<never> {
    this.#isClosed = true;
    this.#disk.onCrash();
    return new Promise<never>(() => undefined);
  }
}

function sizes(outer: ReadonlyMap<string, ReadonlyMap<unknown, unknown>>): number {
  return [...outer.values()].reduce((sum, it) => sum + it.size, 0);
}

/** Opens whatever the disk holds; `acquireMemoryLock(disk)` gives the term. */
export function openMemoryStore(term: LockTerm, disk: MemoryDisk): OpenedStore {
  assertHeld(term, term.directory);
  if (disk.isLoading) return err(loadUnfinished(term.directory));
  return ok(new MemoryStore(disk, term.directory));
}
