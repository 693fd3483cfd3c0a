/**
 * A store as a directory of plain files, without loss. The documents are exactly the files that STATE describes; ledger
 * and definitions lie beside them as the files backend keeps them. So an export is a directory that the files backend
 * opens, and that can be imported into any other.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { KronError } from "../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../core/base/result.js";
import { storeError, writeFailed } from "./failures.js";
import { formatRecord, formatVersion } from "./files/lines.js";
import { formatMeta, META_FILE, type Meta, newMeta } from "./files/meta.js";
import { formatObject, OBJECTS_DIRECTORY, objectFile } from "./files/objects.js";
import { DEFINITIONS_DIRECTORY, definitionsFile, LEDGER_DIRECTORY, ledgerFile } from "./files/plan.js";
import { DIRECTORY_MODE, FILE_MODE } from "./private-files.js";
import type { LedgerCursor, StateReader, StoredRecord } from "./store.js";
import { objectPages, TRANSFER_CHUNK, type TransferReport } from "./transfer.js";

function writeNew(file: string, content: string | Buffer): void {
  fs.writeFileSync(file, content, { mode: FILE_MODE, flag: "wx" });
}

function makeEmptyDirectory(directory: string): Result<void, KronError> {
  fs.mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (fs.readdirSync(directory).length > 0) {
    return err(storeError("state-write-failed", "export", `${directory} is not empty`, "name a new directory"));
  }
  fs.chmodSync(directory, DIRECTORY_MODE);
  for (const name of [LEDGER_DIRECTORY, DEFINITIONS_DIRECTORY, OBJECTS_DIRECTORY]) {
    fs.mkdirSync(path.join(directory, name), { mode: DIRECTORY_MODE });
  }
  return ok(undefined);
}

/** One sync of the file system instead of one for each of a million files. */
function syncFileSystem(directory: string): void {
  const { status, error } = spawnSync("sync", ["-f", directory], { stdio: "ignore" });
  if (status !== 0) throw error ?? new Error(`sync ended with ${status}`);
}

async function exportDocuments(reader: StateReader, directory: string): Promise<number> {
  let count = 0;
  for await (const page of reader.documents()) {
    for (const { key, text, isIntact } of page) {
      writeNew(path.join(directory, key), isIntact ? text : ((await reader.bytes(key)) ?? text));
    }
    count += page.length;
  }
  return count;
}

/** Lines that belong to the same file are written at once. */
function append(directory: string, lines: readonly (readonly [file: string, line: string])[]): void {
  const files = new Map<string, string>();
  for (const [file, line] of lines) files.set(file, (files.get(file) ?? "") + line);
  for (const [file, text] of files) fs.appendFileSync(path.join(directory, file), text, { mode: FILE_MODE });
}

async function* ledgerPages(reader: StateReader): AsyncGenerator<readonly StoredRecord[]> {
  let cursor: LedgerCursor | null = null;
  do {
    const page: { records: readonly StoredRecord[]; next: LedgerCursor | null } = await reader.ledgerScan(
      cursor,
      TRANSFER_CHUNK,
    );
    yield page.records;
    cursor = page.next;
    await nextTurn();
  } while (cursor !== null);
}

interface Exported {
  readonly written: number;
  readonly damaged: number;
}

/** What matches its checksum, each in the file of its identity. */
async function exportLines<T extends { readonly isIntact: boolean }>(
  pages: AsyncIterable<readonly T[]>,
  directory: string,
  lineOf: (entry: T) => readonly [file: string, line: string],
): Promise<Exported> {
  let [written, damaged] = [0, 0];
  for await (const page of pages) {
    const intact = page.filter(({ isIntact }) => isIntact);
    append(directory, intact.map(lineOf));
    written += intact.length;
    damaged += page.length - intact.length;
  }
  return { written, damaged };
}

/** The files backend takes this for a store of its own that was never opened: it stamps it with its first start. */
async function exportMeta(reader: StateReader, directory: string): Promise<void> {
  const spans = await reader.aliveSpans(null, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const notes = await reader.notes();
  const meta: Meta = {
    ...newMeta(randomUUID()),
    notes: Object.fromEntries(notes.map(({ key, text }) => [key, text])),
    alive: Object.fromEntries(spans.map(({ bootedAt, at }) => [String(bootedAt), at])),
  };
  writeNew(path.join(directory, META_FILE), formatMeta(meta));
}

/** Writes everything into a new or empty directory; durable when it resolves. */
export async function exportState(reader: StateReader, directory: string): Promise<Result<TransferReport, KronError>> {
  try {
    const target = path.resolve(directory);
    const made = makeEmptyDirectory(target);
    if (!made.ok) return made;
    const documents = await exportDocuments(reader, target);
    const ledger = await exportLines(ledgerPages(reader), target, (it) => [ledgerFile(it.identity), formatRecord(it)]);
    const definitions = await exportLines(reader.definitions(), target, (it) => {
      return [definitionsFile(it.identity), formatVersion(it)];
    });
    const objects = await exportLines(objectPages(reader), target, ({ key, text }) => {
      return [objectFile(key), formatObject(key, text)];
    });
    await exportMeta(reader, target);
    syncFileSystem(target);
    const damaged = ledger.damaged + definitions.damaged + objects.damaged;
    const written = { ledger: ledger.written, definitions: definitions.written, objects: objects.written };
    return ok({ documents, ...written, damaged });
  } catch (error) {
    return err(error instanceof KronError ? error : writeFailed(error));
  }
}
