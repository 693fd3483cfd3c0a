/** Reading an open environment. Every iteration goes page by page and never holds a snapshot between two pages. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "lmdb";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { StoredJob } from "../../core/restart/resting.js";
import type { EpochMs } from "../../core/time/instant.js";
import { unreadable } from "../failures.js";
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
  type LedgerKey,
  type LedgerPage,
  type Note,
  PAGE_SIZE,
  type StateReader,
  type StoreCounts,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import { type Entry, isIntact, toDefinition, toDocument } from "./entries.js";
import { AFTER_PREFIX, ALIVE_PREFIX, type Databases, META, NOTE_PREFIX } from "./environment.js";
import { jobsIn, type KeyRange } from "./scan.js";

const HIGHEST_KEY = Buffer.alloc(256, 0xff);
/** Behind every instant and kind of one identity. */
const AFTER_INSTANTS = Buffer.alloc(8, 0xff);

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

function entryOf<K extends string | Buffer>(database: Database<string, K>, key: K): Entry<K> | undefined {
  const found = database.getEntry(key);
  return found === undefined ? undefined : { key, ...found };
}

function pageAfter(database: Database<string, string>, after: string | null): Entry<string>[] {
  const position = after === null ? {} : { start: after, exclusiveStart: true };
  return [...database.getRange({ ...position, limit: PAGE_SIZE, versions: true })];
}

function pageBefore(database: Database<string, Buffer>, before: Buffer | null): Entry<Buffer>[] {
  const position = { start: before ?? HIGHEST_KEY, exclusiveStart: true, reverse: true };
  return [...database.getRange({ ...position, limit: PAGE_SIZE, versions: true })];
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

export class LmdbReader implements StateReader {
  readonly storeId: string;
  /** Where other threads find the same store. */
  readonly directory: string;
  protected readonly databases: Databases;
  #isClosed = false;

  constructor(databases: Databases, directory: string) {
    this.databases = databases;
    this.directory = directory;
    this.storeId = databases.meta.get(META.storeId) ?? "";
  }

  protected assertOpen(): void {
    if (this.#isClosed) throw new Error("invariant broken: a closed store was used");
  }

  /** Another process writes: a snapshot that is kept for a turn of the loop would hide its last commits. */
  protected refresh(): void {
    this.databases.root.resetReadTxn();
  }

  protected read<T>(work: (databases: Databases) => T): T {
    this.assertOpen();
    try {
      this.refresh();
      return work(this.databases);
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
    const pages = pagesOf<string>((after) => this.read((it) => pageAfter(it.documents, after)));
    for await (const page of pages) yield page.map(toDocument);
  }

  /** All that is stored of the jobs in a stretch of keys, as of one instant. */
  jobsIn(range: KeyRange): readonly StoredJob[] {
    return this.read((it) => jobsIn(it, range));
  }

  async ledgerRecord(key: LedgerKey): Promise<StoredRecord | undefined> {
    const name = recordKey(key.identity, key.at, key.kind);
    const entry = this.read((it) => entryOf<Buffer>(it.ledger, name));
    return entry === undefined ? undefined : toRecord(entry);
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const prefix = identityPrefix(identity);
    // A record at `before` has its kind behind the instant, so it lies above this key.
    const from = before === undefined ? Buffer.concat([prefix, AFTER_INSTANTS]) : recordKey(identity, before);
    return this.read((it) => newestFirst(it.ledger, from, prefix, limit)).map(toRecord);
  }

  async ledgerRange(identity: string, from: EpochMs, to: EpochMs, limit: number): Promise<readonly StoredRecord[]> {
    const range = { start: recordKey(identity, from), end: recordKey(identity, to), limit, versions: true };
    return this.read((it) => [...it.ledger.getRange(range)]).map(toRecord);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const start = cursor === null ? HIGHEST_KEY : Buffer.from(cursor, "hex");
    const range = { start, exclusiveStart: true, reverse: true, limit, versions: true };
    const entries: Entry<Buffer>[] = this.read((it) => [...it.ledger.getRange(range)]);
    const last = entries.at(-1);
    const isEnd = last === undefined || entries.length < limit;
    return { records: entries.map(toRecord), next: isEnd ? null : last.key.toString("hex") };
  }

  async definitionAt(identity: string, at: EpochMs): Promise<StoredVersion | undefined> {
    const [from, to] = [recordKey(identity, at), identityPrefix(identity)];
    const [entry] = this.read((it) => newestFirst(it.definitions, from, to, 1));
    return entry === undefined ? undefined : toDefinition(entry);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    const prefix = identityPrefix(identity);
    const range = { start: prefix, end: Buffer.concat([prefix, AFTER_INSTANTS]), versions: true };
    return this.read((it) => [...it.definitions.getRange(range)]).map(toDefinition);
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    const pages = pagesOf<Buffer>((before) => this.read((it) => pageBefore(it.definitions, before)));
    for await (const page of pages) yield page.map(toDefinition);
  }

  async aliveSpans(from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
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

  async counts(): Promise<StoreCounts> {
    return this.read(({ documents, ledger, definitions }) => ({
      documents: entriesOf(documents),
      ledger: entriesOf(ledger),
      definitions: entriesOf(definitions),
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.databases.root.close();
  }
}

function entriesOf(database: { getStats(): object }): number {
  const stats = database.getStats();
  return "entryCount" in stats ? Number(stats.entryCount) : 0;
}
