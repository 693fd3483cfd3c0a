/**
 * The default task store: one LMDB environment in a directory of its own, one JSON document a task. A resolved
 * transaction is durable, and one that rejects changed nothing; a crash at any point leaves the last resolved state.
 * Only one process may hold the directory, and nothing is loaded, created or locked before the first transaction.
 */
import { createHash } from "node:crypto";
import { hasChanges, Line, nameOf } from "../record-access.js";
import type {
  StoredTaskRecord,
  TaskRecord,
  TaskRecordChanges,
  TaskRecordsByName,
  TaskRecordView,
  TaskStore,
  TaskStoreUpdate,
} from "../types.js";
import { openTaskEnvironment, type TaskEnvironment } from "./lmdb-environment.js";

/** Longer names are found by their hash: LMDB's keys are limited. */
const NAME_KEY_BYTES = 500;
const NAME_PREFIX = "n";
const HASH_PREFIX = "h";

/**
 * The key of a task. Names with lone surrogates have no UTF-8, so they go by the hash of their JSON text, in which such
 * characters are escaped.
 */
function keyOfName(name: string): Buffer {
  const bytes = Buffer.byteLength(name);
  const isPlain = bytes <= NAME_KEY_BYTES && Buffer.from(name).toString() === name;
  if (isPlain) return Buffer.from(NAME_PREFIX + name);
  return Buffer.from(HASH_PREFIX + createHash("sha256").update(JSON.stringify(name)).digest("hex"));
}

/** A document that is no JSON is handed on as its text: the reader of the record says what is wrong. */
function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

class LmdbTaskStore implements TaskStore {
  readonly byName: TaskRecordsByName;
  readonly #directory: string;
  readonly #line = new Line();
  #open: TaskEnvironment | null = null;
  #revision = 0;

  constructor(directory: string) {
    this.#directory = directory;
    this.byName = {
      revision: () => this.#revision,
      transact: (update) => this.#line.run(() => this.#transactByName(update)),
    };
  }

  transact<T>(update: (records: readonly TaskRecord[]) => TaskStoreUpdate<T>): Promise<T> {
    return this.#line.run(() => this.#transactWhole(update));
  }

  release(): Promise<void> {
    return this.#line.run(async () => {
      const open = this.#open;
      this.#open = null;
      await open?.close();
    });
  }

  async #environment(): Promise<TaskEnvironment> {
    this.#open ??= await openTaskEnvironment(this.#directory);
    return this.#open;
  }

  async #transactByName<T>(update: (view: TaskRecordView) => TaskRecordChanges<T>): Promise<T> {
    const open = await this.#environment();
    const changes = update({
      revision: this.#revision,
      get: (name) => readOne(open, name),
      all: () => readAll(open),
    });
    if (hasChanges(changes)) await this.#write(open, changes.put ?? [], (changes.remove ?? []).map(keyOfName));
    return changes.result;
  }

  async #transactWhole<T>(update: (records: readonly TaskRecord[]) => TaskStoreUpdate<T>): Promise<T> {
    const open = await this.#environment();
    const stored = [...readAll(open)];
    const { records, result } = update(stored.map(({ raw }) => raw as TaskRecord));
    if (records === undefined) return result;
    const unchanged = new Set<unknown>(stored.map(({ raw }) => raw));
    const kept = new Set<unknown>(records);
    const names = new Set(records.map(nameOf));
    const put = records.filter((record) => nameOf(record) !== null && !unchanged.has(record));
    const gone = stored.filter(({ name, raw }) => !(kept.has(raw) || (name !== null && names.has(name))));
    const goneKeys = gone.map(({ key }) => key);
    await this.#write(open, put, goneKeys);
    return result;
  }

  /** Everything is turned into bytes first, then written in one turn and thereby in one LMDB transaction. */
  async #write(open: TaskEnvironment, put: readonly TaskRecord[], gone: readonly Buffer[]): Promise<void> {
    const puts = put.map((record) => ({ key: keyOfName(record.name), text: JSON.stringify(record) }));
    // In key order: a bulk load is several times faster, and the file half as large.
    if (puts.length > 1) puts.sort((a, b) => Buffer.compare(a.key, b.key));
    await open.write(() => {
      for (const key of gone) open.tasks.remove(key);
      for (const { key, text } of puts) open.tasks.put(key, text);
    });
    this.#revision++;
  }
}

function readOne(open: TaskEnvironment, name: string): unknown {
  const text = open.tasks.get(keyOfName(name));
  return text === undefined ? undefined : parseDocument(text);
}

function* readAll(open: TaskEnvironment): Iterable<StoredTaskRecord & { readonly key: Buffer }> {
  for (const { key, value } of open.tasks.getRange()) {
    const raw = parseDocument(value);
    const isNameKey = key[0] === NAME_PREFIX.charCodeAt(0);
    yield { key, name: isNameKey ? key.toString("utf8", 1) : nameOf(raw), raw };
  }
}

/**
 * Keeps task records in a directory that belongs to one scheduler at a time; a second one is refused for as long as the
 * first is neither stopped nor dead. The directory is made with mode 0700 when it is missing.
 *
 * @throws TypeError when the directory has no name: an empty one would be the working directory
 */
export function lmdbStore(directory: string): TaskStore {
  if (typeof directory !== "string" || directory === "") throw new TypeError("directory must be a non-empty path");
  return new LmdbTaskStore(directory);
}
