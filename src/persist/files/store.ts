/**
 * STATE literally: one file per identity, each change by temporary file, sync, rename, sync of the directory. For
 * installations of moderate size that want to read their state with a text editor.
 */
import { isUtf8 } from "node:buffer";
import * as path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EpochMs } from "../../core/time/instant.js";
import { assertBatch } from "../batch.js";
import { CommitQueue } from "../commit-queue.js";
import { storeError, unreadable, writeFailed } from "../failures.js";
import { type DocumentKey, documentKey, identityPrefix, readDocumentKey, recordKey } from "../keys.js";
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
  PAGE_SIZE,
  type StateStore,
  type StoreCounts,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import { applyChanges, replaceFile } from "./atomic.js";
import type { Disk } from "./disk.js";
import { parseRecords, parseVersions } from "./lines.js";
import { formatMeta, META_FILE, type Meta } from "./meta.js";
import { DEFINITIONS_DIRECTORY, definitionsFile, LEDGER_DIRECTORY, ledgerFile, Plan } from "./plan.js";

const LINES_SUFFIX = ".jsonl";

/** STATE leaves no room for a checksum beside a document; what is no UTF-8 was certainly not written by us. */
function toDocument(key: DocumentKey, bytes: Buffer): DocumentEntry {
  return { key, text: bytes.toString(), isIntact: isUtf8(bytes) };
}

function cursorOf(record: LedgerRecord): LedgerCursor {
  return recordKey(record.identity, record.at, record.kind).toString("hex");
}

export class FilesStore implements StateStore {
  readonly storeId: string;
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #queue: CommitQueue;
  #meta: Meta;
  #isClosed = false;
  /** The change under way, or the last one: readers wait for it, so that they never see a part of a batch. */
  #changing: Promise<void> = Promise.resolve();
  /** After a failed change the files may hold a part of a batch; only the next start can finish it. */
  #isTorn = false;

  constructor(disk: Disk, directory: string, meta: Meta) {
    this.storeId = meta.storeId;
    this.#disk = disk;
    this.#directory = directory;
    this.#meta = meta;
    this.#queue = new CommitQueue((group) => this.#write(group));
  }

  commit(term: LockTerm, batch: Batch): Promise<void> {
    assertHeld(term, this.#directory);
    this.#assertOpen();
    assertBatch(batch);
    return this.#queue.commit(batch);
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.#directory);
    const meta = { ...this.#assertOpen(), isLoading };
    try {
      await replaceFile(this.#disk, path.join(this.#directory, META_FILE), formatMeta(meta));
    } catch (error) {
      throw writeFailed(error);
    }
    this.#meta = meta;
  }

  async get(identity: string): Promise<DocumentEntry | undefined> {
    const key = documentKey(identity);
    const bytes = await this.#bytes(key);
    return bytes === null ? undefined : toDocument(key, bytes);
  }

  async bytes(key: DocumentKey): Promise<Buffer | undefined> {
    return (await this.#bytes(key)) ?? undefined;
  }

  async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
    const keys = (await this.#list(".")).map(readDocumentKey).filter((key) => key !== null);
    for (let at = 0; at < keys.length; at += PAGE_SIZE) yield await this.#page(keys.slice(at, at + PAGE_SIZE));
  }

  async ledgerRecord(key: LedgerKey): Promise<StoredRecord | undefined> {
    return (await this.#records(key.identity)).find((it) => it.at === key.at && it.kind === key.kind);
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const records = (await this.#records(identity)).reverse();
    return records.filter((it) => before === undefined || it.at < before).slice(0, limit);
  }

  async ledgerRange(identity: string, from: EpochMs, to: EpochMs, limit: number): Promise<readonly StoredRecord[]> {
    return (await this.#records(identity)).filter((it) => it.at >= from && it.at < to).slice(0, limit);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const records: StoredRecord[] = [];
    for (const file of await this.#ledgerFilesFrom(cursor)) {
      const ofFile = parseRecords(await this.#read(file)).reverse();
      records.push(...ofFile.filter((it) => cursor === null || cursorOf(it) < cursor));
      if (records.length >= limit) break;
    }
    const page = records.slice(0, limit);
    const last = page.at(-1);
    return { records: page, next: last === undefined || page.length < limit ? null : cursorOf(last) };
  }

  async definitionAt(identity: string, at: EpochMs): Promise<StoredVersion | undefined> {
    return (await this.definitionVersions(identity)).filter((it) => it.definedAt <= at).at(-1);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    return parseVersions(await this.#read(definitionsFile(identity)));
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    const files = (await this.#list(DEFINITIONS_DIRECTORY)).filter((name) => name.endsWith(LINES_SUFFIX));
    for (let at = 0; at < files.length; at += PAGE_SIZE) {
      const page: StoredVersion[] = [];
      for (const name of files.slice(at, at + PAGE_SIZE)) {
        page.push(...parseVersions(await this.#read(path.join(DEFINITIONS_DIRECTORY, name))).reverse());
      }
      yield page;
    }
  }

  async aliveSpans(from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const spans = Object.entries(this.#assertOpen().alive).map(([bootedAt, at]) => ({
      bootedAt: Number(bootedAt),
      at,
    }));
    return spans
      .filter((span) => span.bootedAt < to && span.at >= from)
      .sort((left, right) => left.bootedAt - right.bootedAt);
  }

  async meta(key: string): Promise<string | undefined> {
    const { notes } = this.#assertOpen();
    return Object.hasOwn(notes, key) ? notes[key] : undefined;
  }

  async notes(): Promise<readonly Note[]> {
    const notes = Object.entries(this.#assertOpen().notes).sort(([left], [right]) => (left < right ? -1 : 1));
    return notes.map(([key, text]) => ({ key, text }));
  }

  async counts(): Promise<StoreCounts> {
    const documents = (await this.#list(".")).filter((name) => readDocumentKey(name) !== null).length;
    const ledger = await this.#countLines(LEDGER_DIRECTORY, (text) => parseRecords(text).length);
    const definitions = await this.#countLines(DEFINITIONS_DIRECTORY, (text) => parseVersions(text).length);
    return { documents, ledger, definitions };
  }

  async close(): Promise<void> {
    await this.#queue.settled();
    this.#isClosed = true;
  }

  #assertOpen(): Meta {
    if (this.#isClosed) throw new Error("invariant broken: a closed store was used");
    return this.#meta;
  }

  async #settledFiles(): Promise<void> {
    this.#assertOpen();
    await this.#changing.catch(() => undefined);
    if (this.#isTorn) throw storeError("state-unreadable", "read", "a failed write left the files half-changed");
  }

  /** Empty when there is no such file. */
  async #read(file: string): Promise<string> {
    return (await this.#bytes(file))?.toString() ?? "";
  }

  async #bytes(file: string): Promise<Buffer | null> {
    await this.#settledFiles();
    try {
      return await this.#disk.read(path.join(this.#directory, file));
    } catch (error) {
      throw unreadable("read", `cannot read ${file}`, error);
    }
  }

  async #list(directory: string): Promise<string[]> {
    await this.#settledFiles();
    try {
      return [...(await this.#disk.list(path.join(this.#directory, directory)))].sort();
    } catch (error) {
      throw unreadable("read", `cannot list ${directory}`, error);
    }
  }

  async #page(keys: readonly DocumentKey[]): Promise<readonly DocumentEntry[]> {
    const page: DocumentEntry[] = [];
    for (const key of keys) {
      const bytes = await this.#bytes(key);
      if (bytes !== null) page.push(toDocument(key, bytes));
    }
    await nextTurn();
    return page;
  }

  async #records(identity: string): Promise<StoredRecord[]> {
    return parseRecords(await this.#read(ledgerFile(identity)));
  }

  /** Files whose records may lie behind the cursor: names begin with the bytes that keys begin with. */
  async #ledgerFilesFrom(cursor: LedgerCursor | null): Promise<string[]> {
    const prefixLength = 2 * identityPrefix("").length;
    const names = (await this.#list(LEDGER_DIRECTORY)).reverse().filter((name) => name.endsWith(LINES_SUFFIX));
    return names
      .filter((name) => cursor === null || name.slice(0, prefixLength) <= cursor.slice(0, prefixLength))
      .map((name) => path.join(LEDGER_DIRECTORY, name));
  }

  async #countLines(directory: string, count: (text: string) => number): Promise<number> {
    let sum = 0;
    for (const name of await this.#list(directory)) sum += count(await this.#read(path.join(directory, name)));
    return sum;
  }

  async #write(group: readonly Batch[]): Promise<void> {
    const plan = new Plan(this.#meta, async (file) => {
      return (await this.#disk.read(path.join(this.#directory, file)))?.toString() ?? "";
    });
    for (const batch of group) await plan.add(batch);
    this.#changing = this.#change(plan);
    await this.#changing;
  }

  async #change(plan: Plan): Promise<void> {
    this.#isTorn = true;
    await applyChanges(this.#disk, this.#directory, plan.changes());
    this.#isTorn = false;
    this.#meta = plan.meta;
  }
}
