/**
 * STATE literally: one file per identity, each change by temporary file, sync, rename, sync of the directory. For
 * installations of moderate size that want to read their state with a text editor.
 */
import { isUtf8 } from "node:buffer";
import * as path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredJob } from "../../core/restart/resting.js";
import type { EpochMs } from "../../core/time/instant.js";
import { assertBatch } from "../batch.js";
import { ALL_KEYS, isInRange, type KeyRange } from "../key-range.js";
import { type DocumentKey, documentKey, identityPrefix, readDocumentKey, recordKey } from "../keys.js";
import { assertHeld, type LockTerm } from "../lock.js";
import {
  type AliveSpan,
  type Batch,
  type Claim,
  type DocumentEntry,
  type LedgerCursor,
  type LedgerPage,
  type LedgerRecord,
  type Note,
  type ObjectsAsked,
  PAGE_SIZE,
  SLICE_JOBS,
  type StateStore,
  type StoreCounts,
  type StoredObject,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import { storedJob } from "../stored-job.js";
import { parseRecords, parseVersions } from "./lines.js";
import { keyOfObjectFile, OBJECTS_DIRECTORY, objectFile, parseObject } from "./objects.js";
import { DEFINITIONS_DIRECTORY, definitionsFile, LEDGER_DIRECTORY, ledgerFile, linesFile } from "./plan.js";
import type { StoreFiles } from "./store-files.js";

const LINES_SUFFIX = ".jsonl";
const DOCUMENT_SUFFIX = ".json";

/** STATE leaves no room for a checksum beside a document; what is no UTF-8 was certainly not written by us. */
function toDocument(key: DocumentKey, bytes: Buffer): DocumentEntry {
  return { key, text: bytes.toString(), isIntact: isUtf8(bytes) };
}

function keyOfLines(name: string): DocumentKey | null {
  return readDocumentKey(name.slice(0, -LINES_SUFFIX.length) + DOCUMENT_SUFFIX);
}

function cursorOf(record: LedgerRecord): LedgerCursor {
  return recordKey(record.identity, record.at, record.kind).toString("hex");
}

export class FilesStore implements StateStore {
  readonly storeId: string;
  /** Documents are what STATE describes, and nothing else. */
  readonly isChecked = false;
  readonly source = null;
  readonly range: KeyRange;
  readonly #files: StoreFiles;

  constructor(files: StoreFiles, range: KeyRange = ALL_KEYS) {
    this.storeId = files.meta.storeId;
    this.range = range;
    this.#files = files;
  }

  inRange(range: KeyRange): StateStore {
    return new FilesStore(this.#files, range);
  }

  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {
    this.#assertWritable(term);
    assertBatch(batch);
    return this.#files.commit(batch);
  }

  /** It lies in one piece. */
  async dropLedger(): Promise<number> {
    return 0;
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    this.#assertWritable(term);
    await this.#files.markLoading(isLoading);
  }

  async get(identity: string): Promise<DocumentEntry | undefined> {
    const key = documentKey(identity);
    const bytes = await this.#files.bytes(key);
    return bytes === null ? undefined : toDocument(key, bytes);
  }

  async bytes(key: DocumentKey): Promise<Buffer | undefined> {
    return (await this.#files.bytes(key)) ?? undefined;
  }

  async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
    const keys = await this.#documentKeys();
    for (let at = 0; at < keys.length; at += PAGE_SIZE) yield await this.#page(keys.slice(at, at + PAGE_SIZE));
  }

  async *jobs(): AsyncGenerator<readonly StoredJob[]> {
    const defined = (await this.#linesFiles(DEFINITIONS_DIRECTORY)).map(keyOfLines).filter((key) => key !== null);
    const keys = [...new Set([...(await this.#documentKeys()), ...defined])].sort();
    for (let at = 0; at < keys.length; at += SLICE_JOBS) {
      yield await Promise.all(keys.slice(at, at + SLICE_JOBS).map((key) => this.#job(key)));
      await nextTurn();
    }
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const records = (await this.#records(identity)).reverse();
    return records.filter((it) => before === undefined || it.at < before).slice(0, limit);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const records: StoredRecord[] = [];
    for (const file of await this.#ledgerFilesFrom(cursor)) {
      const ofFile = parseRecords(await this.#files.read(file)).reverse();
      records.push(...ofFile.filter((it) => cursor === null || cursorOf(it) < cursor));
      if (records.length >= limit) break;
    }
    const page = records.slice(0, limit);
    const last = page.at(-1);
    return { records: page, next: last === undefined || page.length < limit ? null : cursorOf(last) };
  }

  async newestVersion(identity: string): Promise<StoredVersion | undefined> {
    return (await this.definitionVersions(identity)).at(-1);
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    return parseVersions(await this.#files.read(definitionsFile(identity)));
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    const files = await this.#linesFiles(DEFINITIONS_DIRECTORY);
    for (let at = 0; at < files.length; at += PAGE_SIZE) {
      const page: StoredVersion[] = [];
      for (const name of files.slice(at, at + PAGE_SIZE)) {
        page.push(...parseVersions(await this.#files.read(path.join(DEFINITIONS_DIRECTORY, name))).reverse());
      }
      yield page;
    }
  }

  async aliveSpans(_identity: string | null, from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const spans = Object.entries(this.#files.meta.alive).map(([bootedAt, at]) => ({
      bootedAt: Number(bootedAt),
      at,
    }));
    return spans
      .filter((span) => span.bootedAt < to && span.at >= from)
      .sort((left, right) => left.bootedAt - right.bootedAt);
  }

  async meta(key: string): Promise<string | undefined> {
    const { notes } = this.#files.meta;
    return Object.hasOwn(notes, key) ? notes[key] : undefined;
  }

  async notes(): Promise<readonly Note[]> {
    const notes = Object.entries(this.#files.meta.notes).sort(([left], [right]) => (left < right ? -1 : 1));
    return notes.map(([key, text]) => ({ key, text }));
  }

  async object(key: string): Promise<StoredObject | undefined> {
    const bytes = await this.#files.bytes(objectFile(key));
    return bytes === null ? undefined : parseObject(key, bytes.toString());
  }

  async objects({ prefix, after = "", limit }: ObjectsAsked): Promise<readonly StoredObject[]> {
    // An export, or a store of before, that nobody has opened for writing may have none.
    const hasAny = (await this.#files.list(".")).includes(OBJECTS_DIRECTORY);
    const names = hasAny ? await this.#files.list(OBJECTS_DIRECTORY) : [];
    const keys = names.flatMap((name) => keyOfObjectFile(name) ?? []);
    const asked = keys.filter((key) => key.startsWith(prefix) && key > after).sort();
    const found = await Promise.all(asked.slice(0, limit).map((key) => this.object(key)));
    return found.filter((it) => it !== undefined);
  }

  async counts(): Promise<StoreCounts> {
    const documents = (await this.#documentKeys()).length;
    const ledger = await this.#countLines(LEDGER_DIRECTORY, (text) => parseRecords(text).length);
    const definitions = await this.#countLines(DEFINITIONS_DIRECTORY, (text) => parseVersions(text).length);
    return { documents, ledger, definitions };
  }

  async size(): Promise<null> {
    return null;
  }

  close(): Promise<void> {
    return this.#files.close();
  }

  #assertWritable(term: LockTerm): void {
    assertHeld(term, this.#files.directory);
    this.#files.assertOpen();
  }

  async #documentKeys(): Promise<DocumentKey[]> {
    const keys = (await this.#files.list(".")).map(readDocumentKey).filter((key) => key !== null);
    return keys.filter((key) => isInRange(key, this.range));
  }

  /** Their names begin as the keys of their jobs do. */
  async #linesFiles(directory: string): Promise<string[]> {
    const names = (await this.#files.list(directory)).filter((name) => name.endsWith(LINES_SUFFIX));
    return names.filter((name) => isInRange(name, this.range));
  }

  async #job(key: DocumentKey): Promise<StoredJob> {
    const bytes = await this.#files.bytes(key);
    const versions = parseVersions(await this.#files.read(linesFile(DEFINITIONS_DIRECTORY, key)));
    return storedJob(bytes === null ? null : toDocument(key, bytes), versions.at(-1) ?? null, key);
  }

  async #page(keys: readonly DocumentKey[]): Promise<readonly DocumentEntry[]> {
    const page: DocumentEntry[] = [];
    for (const key of keys) {
      const bytes = await this.#files.bytes(key);
      if (bytes !== null) page.push(toDocument(key, bytes));
    }
    await nextTurn();
    return page;
  }

  async #records(identity: string): Promise<StoredRecord[]> {
    return parseRecords(await this.#files.read(ledgerFile(identity)));
  }

  /** Files whose records may lie behind the cursor: names begin with the bytes that keys begin with. */
  async #ledgerFilesFrom(cursor: LedgerCursor | null): Promise<string[]> {
    const prefixLength = 2 * identityPrefix("").length;
    const names = (await this.#linesFiles(LEDGER_DIRECTORY)).reverse();
    return names
      .filter((name) => cursor === null || name.slice(0, prefixLength) <= cursor.slice(0, prefixLength))
      .map((name) => path.join(LEDGER_DIRECTORY, name));
  }

  async #countLines(directory: string, count: (text: string) => number): Promise<number> {
    let sum = 0;
    for (const name of await this.#linesFiles(directory))
      sum += count(await this.#files.read(path.join(directory, name)));
    return sum;
  }
}
