/**
 * The way to an open files store (S31): private directory, no links → lock (its term comes in) → journal → marker. An
 * existing directory of state documents without a marker is taken over as it is: that is what STATE describes.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { loadUnfinished, openFailed, RECOVER_HINT, storeError, unreadable } from "../failures.js";
import { readDocumentKey } from "../keys.js";
import { assertHeld, type LockTerm } from "../lock.js";
import { formatMarker, heldByOther, MARKER_FILE, type Marker, parseMarker } from "../marker.js";
import { checkPrivateFile, openPrivateDirectory } from "../private-files.js";
import { moveAside, type RecoverableStore } from "../recoverable.js";
import type { StateReader, StateStore } from "../store.js";
import { JOURNAL_FILE, removeTemporaries, replaceFile, replayJournal } from "./atomic.js";
import { type Disk, systemDisk } from "./disk.js";
import { FORMAT, formatMeta, META_FILE, type Meta, newMeta, parseMeta } from "./meta.js";
import { OBJECTS_DIRECTORY } from "./objects.js";
import { DEFINITIONS_DIRECTORY, LEDGER_DIRECTORY } from "./plan.js";
import { FilesStore } from "./store.js";
import { StoreFiles } from "./store-files.js";

const SUBDIRECTORIES = [LEDGER_DIRECTORY, DEFINITIONS_DIRECTORY, OBJECTS_DIRECTORY];

async function readMarkerOn(disk: Disk, directory: string): Promise<Result<Marker | null, KronError>> {
  const file = path.join(directory, MARKER_FILE);
  const bytes = await disk.read(file);
  return bytes === null ? ok(null) : parseMarker(bytes.toString(), file);
}

async function readMetaOn(disk: Disk, directory: string): Promise<Result<Meta | null, KronError>> {
  const file = path.join(directory, META_FILE);
  const bytes = await disk.read(file);
  const meta = bytes === null ? null : parseMeta(bytes.toString());
  if (bytes !== null && meta === null) {
    return err(storeError("state-damaged", "open", `${file} is damaged`, RECOVER_HINT));
  }
  return ok(meta);
}

function refuse(
  code: "state-incompatible" | "state-missing" | "state-rewound",
  message: string,
  hint?: string,
): Result<never, KronError> {
  return err(storeError(code, "open", message, hint));
}

function otherFormat(directory: string, format: string): Result<never, KronError> {
  return refuse("state-incompatible", `the store of ${directory} has format ${format}, this Kron reads ${FORMAT}`);
}

function admit(directory: string, marker: Marker | null, meta: Meta | null): Result<void, KronError> {
  if (marker !== null && marker.backend !== "files") return err(heldByOther(directory, marker));
  if (meta !== null && meta.format !== FORMAT) {
    return refuse(
      "state-incompatible",
      `the store of ${directory} has format ${meta.format}, this Kron reads ${FORMAT}`,
    );
  }
  if (meta?.isLoading === true) return err(loadUnfinished(directory));
  if (marker === null) return ok(undefined);
  if (meta === null) return refuse("state-missing", `the store of ${directory} is gone or empty`, RECOVER_HINT);
  const isSame = meta.storeId === marker.storeId && meta.generation >= marker.generation;
  return isSame ? ok(undefined) : refuse("state-rewound", `${directory} does not match its marker`, RECOVER_HINT);
}

/** The store first, then the marker: a crash in between leaves the store ahead, which is no rewind. */
async function stamp(
  disk: Disk,
  directory: string,
  marker: Marker | null,
  found: Meta | null,
  isLoading: boolean,
): Promise<Meta> {
  const meta = found ?? newMeta(randomUUID());
  const generation = Math.max(meta.generation, marker?.generation ?? 0) + 1;
  const stamped = { ...meta, generation, isLoading };
  await replaceFile(disk, path.join(directory, META_FILE), formatMeta(stamped));
  const next = formatMarker({ backend: "files", storeId: meta.storeId, generation });
  await replaceFile(disk, path.join(directory, MARKER_FILE), next);
  return stamped;
}

/** What a crash left: temporary files that never got a name, and a commit that was not carried out to its end. */
async function settle(disk: Disk, directory: string): Promise<Result<void, KronError>> {
  for (const name of SUBDIRECTORIES) await disk.makeDirectory(path.join(directory, name));
  for (const name of ["", ...SUBDIRECTORIES]) await removeTemporaries(disk, path.join(directory, name));
  if (await replayJournal(disk, directory)) return ok(undefined);
  return err(storeError("state-damaged", "open", `the journal in ${directory} is damaged`, RECOVER_HINT));
}

async function openSettled(disk: Disk, directory: string): Promise<Result<StateStore, KronError>> {
  const settled = await settle(disk, directory);
  if (!settled.ok) return settled;
  const marker = await readMarkerOn(disk, directory);
  if (!marker.ok) return marker;
  const meta = await readMetaOn(disk, directory);
  if (!meta.ok) return meta;
  const admitted = admit(directory, marker.value, meta.value);
  if (!admitted.ok) return admitted;
  return ok(
    new FilesStore(new StoreFiles(disk, directory, await stamp(disk, directory, marker.value, meta.value, false))),
  );
}

/** Opens a store on any disk; what the real one needs beyond that is checked by `openFilesStore`. */
export async function openFilesStoreOn(disk: Disk, term: LockTerm): Promise<Result<StateStore, KronError>> {
  assertHeld(term, term.place);
  try {
    return await openSettled(disk, term.place);
  } catch (error) {
    return err(openFailed(term.place, error));
  }
}

/** What is no document and cannot be read: moved aside, so that the store can begin anew around its documents. */
async function unreadableFiles(directory: string): Promise<readonly string[]> {
  const meta = await readMetaOn(systemDisk, directory);
  const isSettled = (await settle(systemDisk, directory)).ok;
  return [...(meta.ok ? [] : [META_FILE]), ...(isSettled ? [] : [JOURNAL_FILE])];
}

async function openRecovered(directory: string, suffix: string): Promise<Result<RecoverableStore, KronError>> {
  const marker = await readMarkerOn(systemDisk, directory);
  if (marker.ok && marker.value !== null && marker.value.backend !== "files")
    return err(heldByOther(directory, marker.value));
  const movedAside = moveAside(directory, await unreadableFiles(directory), suffix);
  if (!movedAside.ok) return movedAside;
  const meta = await readMetaOn(systemDisk, directory);
  const found = meta.ok ? meta.value : null;
  if (found !== null && found.format !== FORMAT) return otherFormat(directory, found.format);
  const stamped = await stamp(systemDisk, directory, marker.ok ? marker.value : null, found, true);
  const store = new FilesStore(new StoreFiles(systemDisk, directory, stamped));
  return ok({ store, movedAside: movedAside.value });
}

/** Opens what is left of a store and marks it as being filled; see `recoverStore`. */
export async function openFilesForRecovery(
  term: LockTerm,
  suffix: string,
): Promise<Result<RecoverableStore, KronError>> {
  assertHeld(term, term.place);
  const checked = checkDirectory(term.place);
  if (!checked.ok) return checked;
  try {
    return await openRecovered(term.place, suffix);
  } catch (error) {
    return err(unreadable("recover", `cannot open the store of ${term.place}`, error));
  }
}

/** Reads without the lock, and therefore without finishing what a crash left unfinished. */
export async function openFilesReader(directory: string): Promise<Result<StateReader, KronError>> {
  try {
    if ((await systemDisk.read(path.join(directory, JOURNAL_FILE))) !== null) {
      const message = `a commit in ${directory} is under way or was interrupted`;
      return err(
        storeError("state-unreadable", "open", message, "try again; the next start of the daemon finishes it"),
      );
    }
    const meta = await readMetaOn(systemDisk, directory);
    if (!meta.ok) return meta;
    if (meta.value === null) return refuse("state-missing", `there is no store in ${directory}`);
    return ok(new FilesStore(new StoreFiles(systemDisk, directory, meta.value)));
  } catch (error) {
    return err(unreadable("open", `cannot open the store of ${directory}`, error));
  }
}

function checkSubdirectories(directory: string): Result<void, KronError> {
  for (const name of SUBDIRECTORIES) {
    const opened = openPrivateDirectory(path.join(directory, name));
    if (!opened.ok) return opened;
    fs.closeSync(opened.value);
  }
  return ok(undefined);
}

/** Privacy of everything that belongs to the store. */
function checkDirectory(directory: string): Result<void, KronError> {
  const directories = checkSubdirectories(directory);
  if (!directories.ok) return directories;

  const ours = [MARKER_FILE, META_FILE, JOURNAL_FILE];
  for (const name of fs.readdirSync(directory)) {
    if (readDocumentKey(name) === null && !ours.includes(name)) continue;
    const checked = checkPrivateFile(path.join(directory, name));
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

/** Opens the store of the locked directory, creating it on the very first start. */
export async function openFilesStore(term: LockTerm): Promise<Result<StateStore, KronError>> {
  assertHeld(term, term.place);
  const checked = checkDirectory(term.place);
  return checked.ok ? openFilesStoreOn(systemDisk, term) : checked;
}
