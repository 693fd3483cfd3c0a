/** An empty store filled from a directory of state documents, written by `exportState` or by any program after STATE. */
import * as fs from "node:fs";
import * as path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { KronError } from "../core/base/errors/kron-error.js";
import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { storeError, unreadable } from "./failures.js";
import { JOURNAL_FILE } from "./files/atomic.js";
import { parseRecords, parseVersions } from "./files/lines.js";
import { META_FILE, parseMeta } from "./files/meta.js";
import { keyOfObjectFile, OBJECTS_DIRECTORY, objectFile, parseObject } from "./files/objects.js";
import { DEFINITIONS_DIRECTORY, LEDGER_DIRECTORY } from "./files/plan.js";
import { type DocumentKey, isObjectKey, readDocumentKey } from "./keys.js";
import type { LockTerm } from "./lock.js";
import type { StateStore } from "./store.js";
import { TRANSFER_CHUNK, type TransferReport } from "./transfer.js";

interface ImportRules {
  /** Whether a document can be used under this key. */
  readonly check: (text: string, key: DocumentKey) => Result<unknown, Problem>;
}

/** Each may hold a thousand records. */
const FILES_AT_ONCE = 100;

/** Problems that one refusal lists by name. */
const LISTED_PROBLEMS = 10;

function readText(file: string): string {
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    return fs.readFileSync(descriptor, "utf8");
  } finally {
    fs.closeSync(descriptor);
  }
}

/** In the order of the keys, which makes the store smaller and faster. */
function documentKeys(directory: string): readonly DocumentKey[] {
  return fs
    .readdirSync(directory)
    .map(readDocumentKey)
    .filter((key) => key !== null)
    .sort();
}

async function* chunks<T, U>(items: readonly T[], size: number, read: (item: T) => U): AsyncGenerator<U[]> {
  for (let at = 0; at < items.length; at += size) {
    yield items.slice(at, at + size).map(read);
    await nextTurn();
  }
}

async function firstProblems(directory: string, keys: readonly DocumentKey[], rules: ImportRules): Promise<string[]> {
  const problemOf = (key: DocumentKey): string | null => {
    const checked = rules.check(readText(path.join(directory, key)), key);
    return checked.ok ? null : `${key}: ${checked.error.message}`;
  };
  const problems: string[] = [];
  for await (const found of chunks(keys, TRANSFER_CHUNK, problemOf)) {
    problems.push(...found.filter((problem) => problem !== null));
    if (problems.length >= LISTED_PROBLEMS) break;
  }
  return problems.slice(0, LISTED_PROBLEMS);
}

function linesIn(directory: string): readonly string[] {
  if (!fs.existsSync(directory)) return [];
  return fs
    .readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => path.join(directory, name));
}

interface Imported {
  readonly written: number;
  readonly damaged: number;
}

async function importDocuments(
  directory: string,
  keys: readonly DocumentKey[],
  store: StateStore,
  term: LockTerm,
): Promise<number> {
  const read = (key: DocumentKey) => ({ key, text: readText(path.join(directory, key)) });
  for await (const documents of chunks(keys, TRANSFER_CHUNK, read)) await store.commit(term, { documents });
  return keys.length;
}

/** Of files of lines: what matches its checksum. */
async function importLines<T extends { readonly isIntact: boolean }>(
  directory: string,
  parse: (text: string) => readonly T[],
  commit: (intact: readonly T[]) => Promise<unknown>,
): Promise<Imported> {
  let [written, damaged] = [0, 0];
  for await (const texts of chunks(linesIn(directory), FILES_AT_ONCE, readText)) {
    const read = texts.flatMap(parse);
    const intact = read.filter(({ isIntact }) => isIntact);
    await commit(intact);
    written += intact.length;
    damaged += read.length - intact.length;
  }
  return { written, damaged };
}

/** Files that are no objects of ours are left alone, as beside documents. */
async function importObjects(directory: string, store: StateStore, term: LockTerm): Promise<Imported> {
  const names = fs.existsSync(directory) ? fs.readdirSync(directory).sort() : [];
  const keys = names.flatMap((name) => keyOfObjectFile(name) ?? []).filter(isObjectKey);
  const read = (key: string) => parseObject(key, readText(path.join(path.dirname(directory), objectFile(key))));
  let written = 0;
  for await (const found of chunks(keys, TRANSFER_CHUNK, read)) {
    const objects = found.filter(({ isIntact }) => isIntact);
    await store.commit(term, { objects });
    written += objects.length;
  }
  return { written, damaged: keys.length - written };
}

async function importMeta(directory: string, store: StateStore, term: LockTerm): Promise<void> {
  const file = path.join(directory, META_FILE);
  const found = fs.existsSync(file) ? parseMeta(readText(file)) : null;
  if (found === null) return;
  await store.commit(term, { meta: Object.entries(found.notes).map(([key, text]) => ({ key, text })) });
  for (const [bootedAt, at] of Object.entries(found.alive)) {
    await store.commit(term, { alive: { bootedAt: Number(bootedAt), at } });
  }
}

async function fill(
  directory: string,
  keys: readonly DocumentKey[],
  store: StateStore,
  term: LockTerm,
): Promise<TransferReport> {
  await store.markLoading(term, true);
  const documents = await importDocuments(directory, keys, store, term);
  const ledger = await importLines(path.join(directory, LEDGER_DIRECTORY), parseRecords, (ledger) => {
    return store.commit(term, { ledger });
  });
  const definitions = await importLines(path.join(directory, DEFINITIONS_DIRECTORY), parseVersions, (versions) => {
    return store.commit(term, { definitions: versions });
  });
  const objects = await importObjects(path.join(directory, OBJECTS_DIRECTORY), store, term);
  await importMeta(directory, store, term);
  await store.markLoading(term, false);
  const damaged = ledger.damaged + definitions.damaged + objects.damaged;
  const written = { ledger: ledger.written, definitions: definitions.written, objects: objects.written };
  return { documents, ...written, damaged };
}

function refuse(code: "state-incompatible" | "state-unreadable", message: string): Result<never, KronError> {
  return err(storeError(code, "import", message));
}

/**
 * Fills an empty store from a directory of state documents. Everything is checked before anything is written; a fill
 * that is interrupted leaves a store that is refused, not one that looks complete.
 */
export async function importState(
  directory: string,
  store: StateStore,
  term: LockTerm,
  rules: ImportRules,
): Promise<Result<TransferReport, KronError>> {
  try {
    const source = path.resolve(directory);
    const { documents, ledger, definitions } = await store.counts();
    const { length: objects } = await store.objects({ prefix: "", limit: 1 });
    if (documents + ledger + definitions + objects > 0) return refuse("state-incompatible", "the store is not empty");
    if (fs.existsSync(path.join(source, JOURNAL_FILE))) {
      return refuse("state-unreadable", `${source} holds a commit that was interrupted: open it once where it belongs`);
    }
    const keys = documentKeys(source);
    const problems = await firstProblems(source, keys, rules);
    if (problems.length > 0) return refuse("state-incompatible", problems.join("; "));
    return ok(await fill(source, keys, store, term));
  } catch (error) {
    return err(error instanceof KronError ? error : unreadable("import", `cannot import ${directory}`, error));
  }
}
