/** A store for tests and simulations: the same contract over a `MemoryDisk`, with its faults. */
import { err, ok } from "../../core/base/result.js";
import type { StoredJob } from "../../core/restart/resting.js";
import type { EpochMs } from "../../core/time/instant.js";
import { assertBatch } from "../batch.js";
import { admitted } from "../claims.js";
import { CommitQueue } from "../commit-queue.js";
import { loadUnfinished } from "../failures.js";
import { ALL_KEYS, isInRange, type KeyRange } from "../key-range.js";
import { type DocumentKey, documentKey, recordKey } from "../keys.js";
import { assertHeld, type LockTerm } from "../lock.js";
import { Parting } from "../parting.js";
import {
  type AliveSpan,
  type Batch,
  type Claim,
  type DocumentEntry,
  type FarewellPort,
  type LedgerCursor,
  type LedgerPage,
  type LedgerRecord,
  type Note,
  type ObjectsAsked,
  type OpenedStore,
  PAGE_SIZE,
  SLICE_JOBS,
  type StateStore,
  type StoreCounts,
  type StoredObject,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import { storedJob } from "../stored-job.js";
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

function* pages<T>(items: readonly T[], size = PAGE_SIZE): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** What all views of one opened store share. */
class Opening {
  readonly queue = new CommitQueue((group) => this.#write(group));
  readonly parting: Parting;
  isClosed = false;

  constructor(
    readonly disk: MemoryDisk,
    readonly place: string,
  ) {
    this.parting = new Parting(disk.takeFarewell(), (term) => assertHeld(term, place));
  }

  /** Like a real disk it takes its time, so that nothing comes to rely on a commit being there at once. */
  async #write(group: readonly Batch[]): Promise<readonly (readonly Claim[])[]> {
    await Promise.resolve();
    const { disk } = this;
    const admission = admitted(group, (key) => disk.hasRecord(key));
    if (admission.admitted.length === 0) return admission.refused;
    disk.commits += 1;
    const fault = disk.faults(disk.commits, admission.admitted);
    if (fault === null || fault.isDurable) for (const batch of admission.admitted) disk.apply(batch);
    if (fault?.kind === "fail") throw new DiskFault(fault.errno);
    return fault?.kind === "crash" ? this.#crash() : admission.refused;
  }

  #crash(): Promise<never> {
    this.isClosed = true;
    this.disk.onCrash();
    return new Promise<never>(() => undefined);
  }
}

class MemoryStore implements StateStore {
  readonly storeId: string;
  readonly isChecked = false;
  readonly source = null;
  readonly range: KeyRange;
  readonly farewell?: FarewellPort;
  readonly #opening: Opening;

  constructor(opening: Opening, range: KeyRange = ALL_KEYS) {
    this.storeId = opening.disk.storeId;
    this.range = range;
    if (range === ALL_KEYS) this.farewell = opening.parting;
    this.#opening = opening;
  }

  inRange(range: KeyRange): StateStore {
    return new MemoryStore(this.#opening, range);
  }

  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {
    assertHeld(term, this.#opening.place);
    this.#open();
    assertBatch(batch);
    this.#opening.parting.heed(batch);
    return this.#opening.queue.commit(batch);
  }

  /** It lies in one piece. */
  async dropLedger(): Promise<number> {
    return 0;
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.#opening.place);
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
    const entries = this.#documents().sort(([left], [right]) => (left < right ? -1 : 1));
    yield* pages(entries.map(([key, document]) => ({ key, ...document })));
  }

  async *jobs(): AsyncGenerator<readonly StoredJob[]> {
    const identities = new Map(this.#identities().map((identity) => [documentKey(identity), identity]));
    const keys = [...new Set([...this.#documents().map(([key]) => key), ...identities.keys()])].sort();
    for (const slice of pages(keys, SLICE_JOBS)) yield slice.map((key) => this.#job(key, identities.get(key)));
  }

  #job(key: DocumentKey, identity: string | undefined): StoredJob {
    const document = this.#open().documents.get(key);
    const newest = identity === undefined ? undefined : this.#versions(identity).at(-1);
    return storedJob(document === undefined ? null : { key, ...document }, newest ?? null, key);
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const records = this.#records(identity).reverse();
    return records.filter((it) => before === undefined || it.at < before).slice(0, limit);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const ours = [...this.#open().ledger].filter(([identity]) => this.#isOurs(identity));
    const all = ours.flatMap(([, records]) => [...records.values()]).sort(byKey);
    const rest = all.reverse().filter((it) => cursor === null || nameOf(it) < cursor);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { records: page.map(stored), next: last === undefined || page.length < limit ? null : nameOf(last) };
  }

  async newestVersion(identity: string): Promise<StoredVersion | undefined> {
    return this.#versions(identity).at(-1);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    return this.#versions(identity);
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    yield* pages(this.#identities().flatMap((identity) => this.#versions(identity).reverse()));
  }

  async aliveSpans(_identity: string | null, from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const spans = [...this.#open().alive.values()].sort((left, right) => left.bootedAt - right.bootedAt);
    return spans.filter((span) => span.bootedAt < to && span.at >= from);
  }

  async meta(key: string): Promise<string | undefined> {
    return this.#open().notes.get(key);
  }

  async notes(): Promise<readonly Note[]> {
    return [...this.#open().notes].sort().map(([key, text]) => ({ key, text }));
  }

  async object(key: string): Promise<StoredObject | undefined> {
    const text = this.#open().objects.get(key);
    return text === undefined ? undefined : { key, text, isIntact: true };
  }

  async objects({ prefix, after = "", limit }: ObjectsAsked): Promise<readonly StoredObject[]> {
    const keys = [...this.#open().objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    return keys.slice(0, limit).map((key) => ({ key, text: this.#open().objects.get(key) ?? "", isIntact: true }));
  }

  async counts(): Promise<StoreCounts> {
    const { ledger, definitions } = this.#open();
    const sum = (outer: ReadonlyMap<string, ReadonlyMap<unknown, unknown>>): number =>
      [...outer].reduce((count, [identity, it]) => count + (this.#isOurs(identity) ? it.size : 0), 0);
    return { documents: this.#documents().length, ledger: sum(ledger), definitions: sum(definitions) };
  }

  async size(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {
    const { disk, isClosed, parting, queue } = this.#opening;
    await queue.settled();
    if (!isClosed && !queue.hasFailed && parting.words !== null) disk.farewell = Buffer.concat(parting.words);
    this.#opening.isClosed = true;
  }

  #open(): MemoryDisk {
    if (this.#opening.isClosed) throw new Error("invariant broken: a closed store was used");
    return this.#opening.disk;
  }

  #isOurs(identity: string): boolean {
    return this.range === ALL_KEYS || isInRange(documentKey(identity), this.range);
  }

  #documents(): [DocumentKey, StoredDocument][] {
    return [...this.#open().documents].filter(([key]) => isInRange(key, this.range));
  }

  /** Of definitions. */
  #identities(): string[] {
    return [...this.#open().definitions.keys()].filter((identity) => this.#isOurs(identity));
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
}

/** Opens whatever the disk holds; `acquireMemoryLock(disk)` gives the term. */
export function openMemoryStore(term: LockTerm, disk: MemoryDisk): OpenedStore {
  assertHeld(term, term.place);
  if (disk.isLoading) return err(loadUnfinished(term.place));
  return ok(new MemoryStore(new Opening(disk, term.place)));
}
