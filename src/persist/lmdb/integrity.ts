/**
 * Walks a data file in a process of its own before ours maps it: reading a truncated or damaged map kills the process
 * that reads it (SIGBUS, SIGSEGV), and that must not be the daemon (S31).
 */
import { once } from "node:events";
import * as path from "node:path";
import { text } from "node:stream/consumers";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { RECOVER_HINT, storeError, unreadable } from "../failures.js";
import type { StoreCounts } from "../store.js";
import { DATA_FILE, META } from "./environment.js";
import { startReader } from "./reader-child.js";

/** Of what a failed child wrote. */
const ERROR_CHARS = 300;

/** What the child found: enough to refuse a store before it is opened. */
export interface StoreSummary extends StoreCounts {
  readonly storeId: string | null;
  readonly format: string | null;
  readonly generation: number;
  /** A load into the store was begun and never finished. */
  readonly isLoading: boolean;
}

/** A walk reads a gigabyte in seconds; one that takes longer than this goes round in a damaged tree. */
const CHECK_TIMEOUT_MS = 15 * 60_000;

/**
 * Counts the entries of every database against what the database claims and checks that keys rise strictly: pages that
 * were swapped, lost or linked into a circle show in one of the two.
 */
const CHECK_PROGRAM = `
const [, lmdbPath, file, mode, metaKeys] = process.argv;
const { open } = require(lmdbPath);
const texts = { encoding: "string", useVersions: true };
const binary = { ...texts, keyEncoding: "binary" };
const compare = (a, b) => typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a.compare(b);
function walk(root, name, options) {
  const database = root.openDB(name, options);
  if (!database) return 0;
  const expected = database.getStats().entryCount;
  let count = 0, previous;
  for (const { key } of database.getRange({ versions: true })) {
    count += 1;
    if (count > expected) throw new Error(name + " holds more entries than it claims");
    if (previous !== undefined && compare(previous, key) >= 0) throw new Error(name + " is out of order");
    previous = key;
  }
  if (count !== expected) throw new Error(name + " holds " + count + " entries and claims " + expected);
  return count;
}
function check() {
  const root = open({ path: file, noSubdir: true, readOnly: true, maxDbs: 4, permissionsMode: +mode });
  const documents = walk(root, "documents", texts);
  const ledger = walk(root, "ledger", binary), definitions = walk(root, "definitions", binary);
  const meta = walk(root, "meta", texts) === 0 ? undefined : root.openDB("meta", texts);
  const read = (key) => meta?.get(key) ?? null, keys = JSON.parse(metaKeys);
  return { documents, ledger, definitions, storeId: read(keys.storeId), format: read(keys.format),
    generation: Number(read(keys.generation) ?? 0), isLoading: read(keys.loading) !== null };
}
let answer;
try {
  answer = { summary: check() };
} catch (error) {
  // Positive codes come from the system and say nothing about what is in the file.
  answer = error.code > 0 ? { trouble: error.message } : { damage: error.message };
}
process.stdout.write(JSON.stringify(answer));
`;

type Answer = { readonly summary: StoreSummary } | { readonly damage: string } | { readonly trouble: string };

/** How a process ends that followed a damaged number out of the map. Other signals come from outside. */
const DAMAGE_SIGNALS = ["SIGBUS", "SIGSEGV", "SIGABRT", "SIGILL", "SIGFPE", "SIGTRAP"];

export function damaged(directory: string, how: string): KronError {
  return storeError("state-damaged", "check", `the store in ${directory} is damaged: ${how}`, RECOVER_HINT);
}

function failed(what: string): Result<never, KronError> {
  return err(storeError("state-unreadable", "check", `the integrity check cannot be run: ${what}`));
}

function readAnswer(directory: string, output: string): Result<StoreSummary, KronError> {
  const answer = JSON.parse(output) as Answer;
  if ("summary" in answer) return ok(answer.summary);
  return "damage" in answer ? err(damaged(directory, answer.damage)) : failed(answer.trouble);
}

/** Whether the data file can be read from end to end. */
export async function checkIntegrity(directory: string): Promise<Result<StoreSummary, KronError>> {
  const file = path.join(directory, DATA_FILE);
  const child = startReader(CHECK_PROGRAM, file, JSON.stringify(META), CHECK_TIMEOUT_MS);
  const ended = once(child, "close");
  try {
    const [output, errors, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code === 0) return readAnswer(directory, output);
    if (code !== null) return failed(errors.trim().slice(0, ERROR_CHARS));
    if (!DAMAGE_SIGNALS.includes(String(signal))) return failed(`it was ended by ${signal}`);
    return err(damaged(directory, `reading it ends with ${signal}`));
  } catch (error) {
    return err(unreadable("check", "the integrity check cannot be run", error));
  }
}
