/**
 * What a store can be made of: one record for each backend, which holds everything that is done to its stores as a whole.
 * Whoever opens, reads, repairs or copies a store goes by the record; nobody else knows one backend from another.
 */
import type { KronError } from "../core/base/errors/kron-error.js";
import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { openFilesForRecovery, openFilesReader, openFilesStore } from "./files/open.js";
import { attachLmdb, openLmdbForRecovery, openLmdbReader, openLmdbStore } from "./lmdb/open.js";
import { peekNote } from "./lmdb/peek.js";
import { withLmdbSnapshot } from "./lmdb/snapshot.js";
import { acquireDirectoryLock, type LockTerm } from "./lock.js";
import { BACKEND_NAMES, type BackendName, isBackendName, readMarker } from "./marker.js";
import type { RecoverableStore } from "./recoverable.js";
import type { OpenedStore, StateReader } from "./store.js";

type OpenedReader = Promise<Result<StateReader, KronError>>;

export interface Backend {
  readonly name: BackendName;
  /** Becomes the only one who may write there. Fails at once, with `lock-held`, when somebody else may. */
  acquire(at: string): Promise<Result<LockTerm, KronError>>;
  /** Opens the store at the place of the term, creating it on the very first start. */
  open(term: LockTerm): Promise<OpenedStore>;
  /** Reads a store without its lock, for commands that work while no daemon runs. Creates and changes nothing. */
  openReader(directory: string): OpenedReader;
  /** Opens what is left of a store and marks it as being filled; see `recoverStore`. */
  recover(term: LockTerm, suffix: string): Promise<Result<RecoverableStore, KronError>>;
  /** The same store once more, in another thread of the process that has it open; null: it has no `source`. */
  readonly attach: ((at: string) => StateReader) | null;
  /** A store as it is at one instant, beside whoever writes to it; null: only while nobody writes. */
  readonly snapshot: typeof withLmdbSnapshot | null;
  /** One note of a store that is not ours yet and that nobody has checked: a hint. undefined: there is none. */
  peekNote(directory: string, key: string): Promise<string | undefined>;
}

const LMDB: Backend = {
  name: "lmdb",
  acquire: async (at) => acquireDirectoryLock(at),
  open: openLmdbStore,
  openReader: openLmdbReader,
  recover: openLmdbForRecovery,
  attach: attachLmdb,
  snapshot: withLmdbSnapshot,
  peekNote,
};

const FILES: Backend = {
  name: "files",
  acquire: async (at) => acquireDirectoryLock(at),
  open: openFilesStore,
  openReader: openFilesReader,
  recover: openFilesForRecovery,
  attach: null,
  snapshot: null,
  peekNote: readNote,
};

export const BACKENDS: Readonly<Record<BackendName, Backend>> = { lmdb: LMDB, files: FILES };

/** What is taken where nobody names one. */
export const USUAL_BACKEND = LMDB;

async function readNote(directory: string, key: string): Promise<string | undefined> {
  const opened = await openFilesReader(directory);
  if (!opened.ok) return undefined;
  try {
    return await opened.value.meta(key);
  } finally {
    await opened.value.close();
  }
}

/** Where a store is, and what it is made of. */
export interface StorePlace {
  readonly backend: Backend;
  /** A directory. */
  readonly at: string;
}

const ADDRESS_FORM = /^([a-z][a-z0-9+.-]*):/i;

/**
 * What an operator asks for by `text`: the name of a backend, whose store then lies in `directory`, or the address of a
 * store. Of an address no more is repeated than how it begins: it may hold a password.
 */
export function storePlace(text: string | undefined, directory: string): Result<StorePlace, Problem> {
  if (text === undefined) return ok({ backend: USUAL_BACKEND, at: directory });
  if (isBackendName(text)) return ok({ backend: BACKENDS[text], at: directory });
  const names = BACKEND_NAMES.join(", ");
  const scheme = ADDRESS_FORM.exec(text)?.[1];
  const message =
    scheme === undefined ? `"${text}" is not one of ${names}` : `no store can be reached by "${scheme.toLowerCase()}:"`;
  return err({ code: "field-range", message, path: [], hint: `write one of ${names}` });
}

/** What lies in a directory; null where no store has ever been opened. */
export function storeIn(directory: string): Result<StorePlace | null, KronError> {
  const marker = readMarker(directory);
  if (!marker.ok) return marker;
  return ok(marker.value === null ? null : { backend: BACKENDS[marker.value.backend], at: directory });
}
