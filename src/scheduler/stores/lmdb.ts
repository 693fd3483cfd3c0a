/**
 * The default task store: one LMDB environment in a directory of its own, one JSON document a task. A resolved
 * transaction is durable, and one that rejects changed nothing; a crash at any point leaves the last resolved state.
 * Only one process may hold the directory, and nothing is loaded, created or locked before the first transaction.
 */
import { createHash } from "node:crypto";
import * as path from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { acquireDirectoryLock, type LockTerm } from "../../persist/lock.js";
import { checkPrivateFile, FILE_MODE, syncDirectory } from "../../persist/private-files.js";
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

const DATA_FILE = "tasks.mdb";
const FORMAT_KEY = "format";
const FORMAT = "1";
/** Longer names are found by their hash: LMDB's keys are limited. */
const NAME_KEY_BYTES = 500;
const NAME_PREFIX = "n";
const HASH_PREFIX = "h";

/**
 * The key of a task. Names with lone surrogates have no UTF-8, so they go by the hash of their JSON text, in which such
 * characters are escaped.
 */
export function keyOfName(name: string): Buffer {
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

interface OpenEnvironment {
  readonly term: LockTerm;
  readonly root: RootDatabase<string, string>;
  readonly tasks: Database<string, Buffer>;
}

type Lmdb = typeof import("lmdb");

function openDatabases(lmdb: Lmdb, directory: string): Pick<OpenEnvironment, "root" | "tasks"> {
  const file = path.join(directory, DATA_FILE);
  for (const name of [file, `${file}-lock`]) {
    const checked = checkPrivateFile(name);
    if (!checked.ok) throw checked.error;
  }
  const options = { path: file, encoding: "string", overlappingSync: false, permissionsMode: FILE_MODE } as const;
  const root = lmdb.open<string, string>(options);
  const tasks = root.openDB<string, Buffer>({ name: "tasks", encoding: "string", keyEncoding: "binary" });
  return { root, tasks };
}

async function checkFormat(root: RootDatabase<string, string>): Promise<void> {
  const found = root.get(FORMAT_KEY);
  if (found === undefined) await root.put(FORMAT_KEY, FORMAT);
  else if (found !== FORMAT) throw new Error(`the task store has format ${found}, this program reads ${FORMAT}`);
}

async function openEnvironment(directory: string): Promise<OpenEnvironment> {
  const lmdb = await import("lmdb");
  const lock = acquireDirectoryLock(directory);
  if (!lock.ok) throw lock.error;
  const term = lock.value;
  try {
    const databases = openDatabases(lmdb, term.place);
    try {
      await checkFormat(databases.root);
      syncDirectory(term.place);
      return { term, ...databases };
    } catch (error) {
      await databases.root.close();
      throw error;
    }
  } catch (error) {
    term.release();
    throw error;
  }
}

class LmdbTaskStore implements TaskStore {
  readonly byName: TaskRecordsByName;
  readonly #directory: string;
  readonly #line = new Line();
  #open: OpenEnvironment | null = null;
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
      if (open === null) return;
      try {
        await open.root.close();
      } finally {
        open.term.release();
      }
    });
  }

  async #environment(): Promise<OpenEnvironment> {
    this.#open ??= await openEnvironment(this.#directory);
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
  async #write(open: OpenEnvironment, put: readonly TaskRecord[], gone: readonly Buffer[]): Promise<void> {
    const puts = put.map((record) => ({ key: keyOfName(record.name), text: JSON.stringify(record) }));
    // In key order: a bulk load is several times faster, and the file half as large.
    if (puts.length > 1) puts.sort((a, b) => Buffer.compare(a.key, b.key));
    await open.tasks.batch(() => {
      for (const key of gone) open.tasks.remove(key);
      for (const { key, text } of puts) open.tasks.put(key, text);
    });
    this.#revision++;
  }
}

function readOne(open: OpenEnvironment, name: string): unknown {
  const text = open.tasks.get(keyOfName(name));
  return text === undefined ? undefined : parseDocument(text);
}

function* readAll(open: OpenEnvironment): Iterable<StoredTaskRecord & { readonly key: Buffer }> {
  for (const { key, value } of open.tasks.getRange()) {
    const raw = parseDocument(value);
    const isNameKey = key[0] === NAME_PREFIX.charCodeAt(0);
    yield { key, name: isNameKey ? key.toString("utf8", 1) : nameOf(raw), raw };
  }
}

/**
 * Keeps task records in a directory that belongs to one scheduler at a time; a second one is refused for as long as the
 * first is neither stopped nor dead. The directory is made with mode 0700 when it is missing.
 */
export function lmdbStore(directory: string): TaskStore {
  return new LmdbTaskStore(directory);
}
