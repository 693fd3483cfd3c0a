/** The LMDB environment of a state directory and its four databases. Knows options and keys, no procedure. */
import * as path from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { FILE_MODE } from "../private-files.js";

export const DATA_FILE = "kron.mdb";
export const LOCK_FILE = "kron.mdb-lock";

/** Version of keys and values below. Another one cannot be read. */
export const FORMAT = "1";

export interface Databases {
  readonly root: RootDatabase<string, string>;
  /** `hex(sha256(identity)).json` → the document's JSON text (S30). */
  readonly documents: Database<string, string>;
  /** identity, instant, kind → identity, line break, text (S36). */
  readonly ledger: Database<string, Buffer>;
  /** identity, instant → identity, line break, text; without the break from the removal of the job on. */
  readonly definitions: Database<string, Buffer>;
  /** `store/…` about the store, `alive/…` spans, `note/…` and `object/…` what others keep here. */
  readonly meta: Database<string, string>;
}

/** Where each entry keeps its checksum: in the version number that LMDB's binding stores in front of a value. */
const TEXTS = { encoding: "string", useVersions: true } as const;
const RECORDS = { ...TEXTS, keyEncoding: "binary" } as const;

/** As they are called in the data file: with a zero byte behind. */
export const IN_FILE = {
  documents: "documents\0",
  ledger: "ledger\0",
  definitions: "definitions\0",
  meta: "meta\0",
} as const;
export const DATABASE_NAMES: readonly string[] = Object.values(IN_FILE);

export const META = {
  storeId: "store/id",
  format: "store/format",
  generation: "store/generation",
  /** Present while a load into this store is unfinished. */
  loading: "store/loading",
} as const;
export const ALIVE_PREFIX = "alive/";
export const NOTE_PREFIX = "note/";
export const OBJECT_PREFIX = "object/";
/** The character after `/`: the end of a range of keys with one of the prefixes. */
export const AFTER_PREFIX = "0";

const ALIVE_DIGITS = 16;

export function aliveKey(bootedAt: number): string {
  return ALIVE_PREFIX + String(bootedAt).padStart(ALIVE_DIGITS, "0");
}

/**
 * `overlappingSync: false`: a commit resolves after its sync, and a failed sync leaves the old value visible.
 * `eventTurnBatching: false`: every transaction is one explicit batch; the default mode also leaves a rejected promise
 * behind that nobody can handle. `permissionsMode` is not in the typings.
 */
export function openDatabases(directory: string, readOnly: boolean): Databases {
  const options = {
    path: path.join(directory, DATA_FILE),
    noSubdir: true,
    overlappingSync: false,
    eventTurnBatching: false,
    permissionsMode: FILE_MODE,
    maxDbs: DATABASE_NAMES.length,
    readOnly,
  };
  const root = open<string, string>(options);
  return {
    root,
    documents: root.openDB<string, string>("documents", TEXTS),
    ledger: root.openDB<string, Buffer>("ledger", RECORDS),
    definitions: root.openDB<string, Buffer>("definitions", RECORDS),
    meta: root.openDB<string, string>("meta", TEXTS),
  };
}
