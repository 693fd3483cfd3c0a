/**
 * The LMDB environment of a task store: locked, looked over before it is mapped, and noticed when it is taken away. A
 * damaged map ends the process that reads it, without a word, and here that process is the user's.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { commit } from "../../persist/lmdb/commit.js";
import { TREE_FLAGS } from "../../persist/lmdb/page-format.js";
import { checkPages } from "../../persist/lmdb/pages.js";
import { assertRoom } from "../../persist/lmdb/room.js";
import { acquireDirectoryLock, type LockTerm } from "../../persist/lock.js";
import { checkPrivateFile, errnoOf, FILE_MODE, syncDirectory } from "../../persist/private-files.js";

const DATA_FILE = "tasks.mdb";
const TASKS = "tasks";
/** As it is called in the data file. */
const TASKS_IN_FILE = `${TASKS}\0`;
const FORMAT_KEY = "format";
const FORMAT = "1";
/** How the binding tells of a write that was cut short; that the disk is full is the usual reason. */
const EIO = "5";
const OWN_DESCRIPTORS = "/proc/self/fd";

type Lmdb = typeof import("lmdb");
type Databases = Pick<TaskEnvironment, "root" | "tasks">;

export interface TaskEnvironment {
  readonly root: RootDatabase<string, string>;
  readonly tasks: Database<string, Buffer>;
  /** Durable when it resolves; when it rejects nothing changed, and the error says why. */
  write(change: () => void): Promise<void>;
  close(): Promise<void>;
}

function storeError(code: ErrorCode, operation: string, message: string): KronError {
  return new KronError(code, message, { component: "scheduler", operation });
}

function isSameFile(a: fs.Stats, b: fs.Stats | undefined): boolean {
  return b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Whether a descriptor of ours leads to the directory: its lock is held by such a one, in whatever thread. */
function isHeldByUs(directory: string): boolean {
  const wanted = fs.statSync(directory, { throwIfNoEntry: false });
  if (wanted === undefined) return false;
  try {
    const descriptors = fs.readdirSync(OWN_DESCRIPTORS).map((name) => path.join(OWN_DESCRIPTORS, name));
    return descriptors.some((name) => isSameFile(wanted, fs.statSync(name, { throwIfNoEntry: false })));
  } catch {
    // Elsewhere than on Linux it cannot be told apart.
    return false;
  }
}

function acquire(directory: string): LockTerm {
  const lock = acquireDirectoryLock(directory);
  if (lock.ok) return lock.value;
  if (lock.error.code !== "lock-held" || !isHeldByUs(directory)) throw lock.error;
  const message = `this process already holds ${path.resolve(directory)}: stop the scheduler that does, or name another directory`;
  throw storeError("lock-held", "lock", message);
}

/** Reads every page once, without mapping any: a tenth of what `initialize` takes. */
async function lookOver(file: string): Promise<void> {
  const data = checkPrivateFile(file);
  const lock = checkPrivateFile(`${file}-lock`);
  if (!data.ok) throw data.error;
  if (!lock.ok) throw lock.error;
  // A store that is made on a full disk ends the process: LMDB reads what it could not write through its map.
  if (data.value === null || data.value.size === 0) return assertRoom(file);
  const pages = await checkPages(file, [TASKS_IN_FILE], { flags: TREE_FLAGS.plain });
  if (pages.ok) return;
  const message = `${file} is damaged: ${pages.error}; put a copy in its place, or move it away: then all tasks are new`;
  throw storeError("state-damaged", "open", message);
}

/** `eventTurnBatching: false`: see `commit`. `permissionsMode` is not in the typings. */
function openDatabases(lmdb: Lmdb, file: string): Databases {
  const options = {
    path: file,
    encoding: "string",
    overlappingSync: false,
    eventTurnBatching: false,
    permissionsMode: FILE_MODE,
  } as const;
  const root = lmdb.open<string, string>(options);
  const tasks = root.openDB<string, Buffer>({ name: TASKS, encoding: "string", keyEncoding: "binary" });
  return { root, tasks };
}

async function checkFormat(root: RootDatabase<string, string>): Promise<void> {
  const found = root.get(FORMAT_KEY);
  if (found === undefined) await commit(root, () => void root.put(FORMAT_KEY, FORMAT));
  else if (found !== FORMAT) throw new Error(`the task store has format ${found}, this program reads ${FORMAT}`);
}

/** What the system says when it is asked for room, if the disk is full; else the error as it came. */
function writeCause(error: unknown, file: string): unknown {
  if (errnoOf(error) !== EIO) return error;
  try {
    assertRoom(file);
    return error;
  } catch (cause) {
    return cause;
  }
}

class OpenEnvironment implements TaskEnvironment {
  readonly root: RootDatabase<string, string>;
  readonly tasks: Database<string, Buffer>;
  readonly #term: LockTerm;
  readonly #file: string;
  readonly #opened: fs.Stats;

  constructor(term: LockTerm, { root, tasks }: Databases) {
    this.root = root;
    this.tasks = tasks;
    this.#term = term;
    this.#file = path.join(term.place, DATA_FILE);
    this.#opened = fs.statSync(this.#file);
  }

  async write(change: () => void): Promise<void> {
    this.#assertPresent();
    try {
      await commit(this.root, change);
    } catch (error) {
      throw writeCause(error, this.#file);
    }
  }

  async close(): Promise<void> {
    try {
      await this.root.close();
    } finally {
      this.#term.release();
    }
  }

  /** What is written to a file without a name is lost with the process. */
  #assertPresent(): void {
    if (isSameFile(this.#opened, fs.statSync(this.#file, { throwIfNoEntry: false }))) return;
    const message = `${this.#file} was removed or replaced while in use: stop the scheduler and initialize it again`;
    throw storeError("state-missing", "commit", message);
  }
}

export async function openTaskEnvironment(directory: string): Promise<TaskEnvironment> {
  const lmdb = await import("lmdb");
  const term = acquire(directory);
  try {
    const file = path.join(term.place, DATA_FILE);
    await lookOver(file);
    const databases = openDatabases(lmdb, file);
    try {
      await checkFormat(databases.root);
      syncDirectory(term.place);
      return new OpenEnvironment(term, databases);
    } catch (error) {
      await databases.root.close();
      throw writeCause(error, file);
    }
  } catch (error) {
    term.release();
    throw error;
  }
}
