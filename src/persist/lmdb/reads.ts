/** Reading an open environment. Every iteration goes page by page and never holds a snapshot between two pages. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "lmdb";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { StoredJob } from "../../core/restart/resting.js";
import type { EpochMs } from "../../core/time/instant.js";
import { unreadable } from "../failures.js";
import { ALL_KEYS, type KeyRange, keyRanges, shareOf } from "../key-range.js";
import {
  type DocumentKey,
  documentKey,
  identityPrefix,
  instantOfKey,
  kindOfKey,
  recordKey,
  splitIdentity,
} from "../keys.js";
import {
  type AliveSpan,
  type DocumentEntry,
  type LedgerCursor,
  type LedgerPage,
  type Note,
  type ObjectsAsked,
  PAGE_SIZE,
  SLICE_JOBS,
  type StateReader,
  type StoreCounts,
  type StoredObject,
  type StoredRecord,
  type StoredVersion,
  type StoreSource,
} from "../store.js";
import { type Entry, isIntact, toDefinition, toDocument } from "./entries.js";
import {
  AFTER_PREFIX,
  ALIVE_PREFIX,
  DATA_FILE,
  type Databases,
  META,
  NOTE_PREFIX,
  OBJECT_PREFIX,
} from "./environment.js";
import { jobsIn } from "./scan.js";

const HIGHEST_KEY = Buffer.alloc(256, 0xff);
/** Behind every instant and kind of one identity. */
const AFTER_INSTANTS = Buffer.alloc(8, 0xff);
const AFTER_ASCII = "\x7f";

function toRecord(entry: Entry<Buffer>): StoredRecord {
  const { identity, text } = splitIdentity(entry.value);
  return {
    identity,
    at: instantOfKey(entry.key),
    kind: kindOfKey(entry.key),
    text: text ?? "",
    isIntact: isIntact(entry),
  };
}

function textOf(entry: Entry<string>): string {
  if (!isIntact(entry)) throw unreadable("read", `the entry ${entry.key} of the store is damaged`, "checksum");
  return entry.value;
}

function toObject(entry: Entry<string>): StoredObject {
  return { key: entry.key.slice(OBJECT_PREFIX.length), text: entry.value, isIntact: isIntact(entry) };
}

function entryOf<K extends string | Buffer>(database: Database<string, K>, key: K): Entry<K> | undefined {
  const found = database.getEntry(key);
  return found === undefined ? undefined : { key, ...found };
}

/** The first keys of a stretch, or those behind one of them. */
function pageAfter(database: Database<string, string>, { from, to }: KeyRange, after: string | null): Entry<string>[] {
  const position = after === null ? { start: from } : { start: after, exclusiveStart: true };
  const end = to === null ? {} : { end: to };
  return [...database.getRange({ ...position, ...end, limit: PAGE_SIZE, versions: true })];
}

/** The last keys of a stretch, or those before one of them. */
function pageBefore(
  database: Database<string, Buffer>,
  { from, to }: KeyRange,
  before: Buffer | null,
  limit: number,
): Entry<Buffer>[] {
  const start = before ?? (to === null ? HIGHEST_KEY : Buffer.from(to, "hex"));
  const bounds = { start, exclusiveStart: true, end: Buffer.from(from, "hex"), reverse: true };
  return [...database.getRange({ ...bounds, limit, versions: true })];
}

/** Keys from `from` down to, and without, `to`. */
function newestFirst(database: Database<string, Buffer>, from: Buffer, to: Buffer, limit: number): Entry<Buffer>[] {
  return [...database.getRange({ start: from, end: to, limit, reverse: true, versions: true })];
}

/** `next` fetches the entries behind a key, or the first ones. */
async function* pagesOf<K>(next: (after: K | null) => Entry<K>[]): AsyncGenerator<Entry<K>[]> {
  let after: K | null = null;
  for (;;) {
    const page: Entry<K>[] = next(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.key;
    await nextTurn();
  }
}

/** What all views of one opened store share. */
export interface Opening {
  readonly databases: Databases;
  readonly directory: string;
  isClosed: boolean;
}

export class LmdbReader implements StateReader {
  readonly storeId: string;
  readonly isChecked = true;
  readonly source: StoreSource;
  readonly range: KeyRange;
  protected readonly opening: Opening;

  constructor(opening: Opening, range: KeyRange = ALL_KEYS) {
    this.opening = opening;
    this.range = range;
    this.storeId = opening.databases.meta.get(META.storeId) ?? "";
    this.source = { backend: "lmdb", at: opening.directory };
  }

  inRange(range: KeyRange): StateReader {
    return new LmdbReader(this.opening, range);
  }

  protected assertOpen(): void {
    if (this.opening.isClosed) throw new Error("invariant broken: a closed store was used");
  }

  /** Another process writes: a snapshot that is kept for a turn of the loop would hide its last commits. */
  protected refresh(): void {
    this.opening.databases.root.resetReadTxn();
  }

  protected read<T>(work: (databases: Databases) => T): T {
    this.assertOpen();
    try {
      this.refresh();
      return work(this.opening.databases);
    } catch (error) {
      throw error instanceof KronError ? error : unreadable("read", "the store cannot be read", error);
    }
  }

  async get(identity: string): Promise<DocumentEntry | undefined> {
    const entry = this.read((it) => entryOf<string>(it.documents, documentKey(identity)));
    return entry === undefined ? undefined : toDocument(entry);
  }

  async bytes(key: DocumentKey): Promise<Buffer | undefined> {
    return this.read((it) => it.documents.getBinary(key));
  }

  async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
    const pages = pagesOf<string>((after) => this.read((it) => pageAfter(it.documents, this.range, after)));
    for await (const page of pages) yield page.map(toDocument);
  }

  async *jobs(): AsyncGenerator<readonly StoredJob[]> {
    for (const slice of keyRanges(Math.max(1, Math.ceil(this.#jobsAbout() / SLICE_JOBS)), this.range)) {
      const jobs = this.read((it) => jobsIn(it, slice));
      if (jobs.length > 0) yield jobs;
      await nextTurn();
    }
  }

  /** Keys are hashes: a stretch holds its share of them. */
  #jobsAbout(): number {
    return this.read(({ documents, definitions }) => {
      return Math.max(entriesOf(documents), entriesOf(definitions)) * shareOf(this.range);
    });
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const prefix = identityPrefix(identity);
    // A record at `before` has its kind behind the instant, so it lies above this key.
    const from = before === undefined ? Buffer.concat([prefix, AFTER_INSTANTS]) : recordKey(identity, before);
    return this.read((it) => newestFirst(it.ledger, from, prefix, limit)).map(toRecord);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const before = cursor === null ? null : Buffer.from(cursor, "hex");
    const entries = this.read((it) => pageBefore(it.ledger, this.range, before, limit));
    const last = entries.at(-1);
    const isEnd = last === undefined || entries.length < limit;
    return { records: entries.map(toRecord), next: isEnd ? null : last.key.toString("hex") };
  }

  async newestVersion(identity: string): Promise<StoredVersion | undefined> {
    const prefix = identityPrefix(identity);
    const from = Buffer.concat([prefix, AFTER_INSTANTS]);
    const [entry] = this.read((it) => newestFirst(it.definitions, from, prefix, 1));
    return entry === undefined ? undefined : toDefinition(entry);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    const prefix = identityPrefix(identity);
    const range = { start: prefix, end: Buffer.concat([prefix, AFTER_INSTANTS]), versions: true };
    return this.read((it) => [...it.definitions.getRange(range)]).map(toDefinition);
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    const pages = pagesOf<Buffer>((before) =>
      this.read((it) => pageBefore(it.definitions, this.range, before, PAGE_SIZE)),
    );
    for await (const page of pages) yield page.map(toDefinition);
  }

  async aliveSpans(_identity: string | null, from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const range = { start: ALIVE_PREFIX, end: ALIVE_PREFIX.slice(0, -1) + AFTER_PREFIX, versions: true };
    const spans = this.read((it) => [...it.meta.getRange(range)]).map((entry) => ({
      bootedAt: Number(entry.key.slice(ALIVE_PREFIX.length)),
      at: Number(textOf(entry)),
    }));
    return spans.filter((span) => span.bootedAt < to && span.at >= from);
  }

  async meta(key: string): Promise<string | undefined> {
    const entry = this.read((it) => entryOf<string>(it.meta, NOTE_PREFIX + key));
    return entry === undefined ? undefined : textOf(entry);
  }

  async notes(): Promise<readonly Note[]> {
    const range = { start: NOTE_PREFIX, end: NOTE_PREFIX.slice(0, -1) + AFTER_PREFIX, versions: true };
    const entries = this.read((it) => [...it.meta.getRange(range)]);
    return entries.map((entry) => ({ key: entry.key.slice(NOTE_PREFIX.length), text: textOf(entry) }));
  }

  async object(key: string): Promise<StoredObject | undefined> {
    const entry = this.read((it) => entryOf<string>(it.meta, OBJECT_PREFIX + key));
    return entry === undefined ? undefined : toObject(entry);
  }

  async objects({ prefix, after, limit }: ObjectsAsked): Promise<readonly StoredObject[]> {
    const first = OBJECT_PREFIX + prefix;
    const isBehind = after !== undefined && after >= prefix;
    const position = isBehind ? { start: OBJECT_PREFIX + after, exclusiveStart: true } : { start: first };
    // Names are ASCII: no name that begins so lies behind this one.
    const range = { ...position, end: first + AFTER_ASCII, limit, versions: true };
    return this.read((it) => [...it.meta.getRange(range)]).map(toObject);
  }

  async counts(): Promise<StoreCounts> {
    const { from, to } = this.range;
    const [first, end] = [Buffer.from(from, "hex"), to === null ? null : Buffer.from(to, "hex")];
    return this.read(({ documents, ledger, definitions }) => ({
      documents: this.range === ALL_KEYS ? entriesOf(documents) : keysOf(documents, from, to),
      ledger: this.range === ALL_KEYS ? entriesOf(ledger) : keysOf(ledger, first, end),
      definitions: this.range === ALL_KEYS ? entriesOf(definitions) : keysOf(definitions, first, end),
    }));
  }

  async size(): Promise<number> {
    this.assertOpen();
    return (await stat(join(this.opening.directory, DATA_FILE))).size;
  }

  async close(): Promise<void> {
    if (this.opening.isClosed) return;
    this.opening.isClosed = true;
    await this.opening.databases.root.close();
  }
}

/** Without reading a key of them. */
function entriesOf(database: { getStats(): object }): number {
  const stats = database.getStats();
  return "entryCount" in stats ? Number(stats.entryCount) : 0;
}

function keysOf<K extends string | Buffer>(database: Database<string, K>, start: K, end: K | null): number {
  return database.getKeysCount({ start, ...(end === null ? {} : { end }) });
}
