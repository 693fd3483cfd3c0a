/**
 * The only way to an open store (S31): private directory, no links → lock (its term comes in) → integrity check in a
 * child → open → marker. Everything that is not exactly as we left it is refused; recovery is a decision of a person.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { loadUnfinished, openFailed, RECOVER_HINT, storeError, unreadable, unwritable } from "../failures.js";
import { type Farewell, farewellWords, forgetFarewell, sealedFarewell } from "../farewell.js";
import { readDocumentKey } from "../keys.js";
import { assertHeld, type LockTerm } from "../lock.js";
import { heldByOther, type Marker, readMarker, writeMarker } from "../marker.js";
import { checkPrivateFile } from "../private-files.js";
import { moveAside, type RecoverableStore } from "../recoverable.js";
import type { StateReader, StateStore } from "../store.js";
import { INTACT_TESTS } from "./entries.js";
import { DATA_FILE, DATABASE_NAMES, type Databases, FORMAT, LOCK_FILE, META, openDatabases } from "./environment.js";
import { checkIntegrity, damaged, type StoreSummary } from "./integrity.js";
import { checkPages } from "./pages.js";
import { LmdbReader } from "./reads.js";
import { assertRoom } from "./room.js";
import { LmdbStore } from "./store.js";
import { writeMeta } from "./writes.js";

const SMALLEST_STORE_BYTES = 2 * 4_096;

/** What was found before anything was opened. */
interface Findings {
  readonly marker: Marker | null;
  /** null: there is no data file, or none that anything was ever written to. */
  readonly summary: StoreSummary | null;
  /** null: nothing was left, or something has changed since. */
  readonly farewell: Farewell | null;
}

function incompatible(message: string, hint?: string): Result<never, KronError> {
  return err(storeError("state-incompatible", "open", message, hint));
}

/**
 * Whether there is a data file with anything in it. What is shorter than the first two pages was never a store: without a
 * marker it is what a full disk has left of the attempt to make one.
 */
function checkFiles(directory: string, marker: Marker | null): Result<boolean, KronError> {
  const lock = checkPrivateFile(path.join(directory, LOCK_FILE));
  if (!lock.ok) return lock;
  const data = checkPrivateFile(path.join(directory, DATA_FILE));
  return data.ok ? ok((data.value?.size ?? 0) >= (marker === null ? SMALLEST_STORE_BYTES : 1)) : data;
}

/**
 * Making a store on a full disk kills the process that does it: LMDB reads what it could not write through its map. So
 * there has to be room first, as bytes that were really written.
 */
function makeRoom(directory: string): void {
  const file = path.join(directory, DATA_FILE);
  fs.rmSync(file, { force: true });
  assertRoom(file);
}

/** A directory of state documents that nobody converted must not look like a first start: its history would be lost. */
function refuseLooseDocuments(directory: string): Result<void, KronError> {
  try {
    const isLoose = fs.readdirSync(directory).some((name) => readDocumentKey(name) !== null);
    if (!isLoose) return ok(undefined);
  } catch (error) {
    return err(unreadable("open", `cannot list ${directory}`, error));
  }
  return incompatible(`${directory} holds state documents of another store`, "run: krond state import");
}

type Checked = Pick<Findings, "farewell"> & { readonly summary: StoreSummary };

/** Both checks at once: they read the same file, on two cores. Only an exclusive one may read bytes nobody changes. */
async function checkData(directory: string, isExclusive: boolean): Promise<Result<Checked, KronError>> {
  const file = path.join(directory, DATA_FILE);
  const left = isExclusive ? sealedFarewell(directory, file) : null;
  try {
    const bytes = isExclusive ? checkPages(file, DATABASE_NAMES, left === null ? {} : { tests: INTACT_TESTS }) : null;
    const [pages, found] = await Promise.all([bytes, checkIntegrity(directory)]);
    if (pages !== null && !pages.ok) return err(damaged(directory, pages.error));
    if (!found.ok) return found;
    const { storeId, generation } = found.value;
    const isIts = left?.seal.storeId === storeId && left.seal.generation === generation;
    const isBelieved = isIts && pages?.value.areIntact === true;
    return ok({ summary: found.value, farewell: isBelieved ? left : null });
  } catch (error) {
    return err(unreadable("check", `the store of ${directory} cannot be checked`, error));
  }
}

async function look(directory: string, isExclusive: boolean): Promise<Result<Findings, KronError>> {
  const marker = readMarker(directory);
  if (!marker.ok) return marker;
  const hasData = checkFiles(directory, marker.value);
  if (!hasData.ok) return hasData;
  if (!hasData.value) return ok({ marker: marker.value, summary: null, farewell: null });
  const checked = await checkData(directory, isExclusive);
  return checked.ok ? ok({ marker: marker.value, ...checked.value }) : checked;
}

function matchMarker(directory: string, marker: Marker, summary: StoreSummary | null): Result<void, KronError> {
  if (marker.backend !== "lmdb") return err(heldByOther(directory, marker));
  if (summary === null || summary.storeId === null) {
    return err(storeError("state-missing", "open", `the store of ${directory} is gone or empty`, RECOVER_HINT));
  }
  const isSame = summary.storeId === marker.storeId;
  if (isSame && summary.generation >= marker.generation) return ok(undefined);
  const what = isSame ? "is older than its marker" : "is not the one its marker names";
  return err(storeError("state-rewound", "open", `the store of ${directory} ${what}`, RECOVER_HINT));
}

function otherFormat(directory: string, format: string | null): Result<never, KronError> {
  return incompatible(`the store of ${directory} has format ${format}, this Kron reads ${FORMAT}`);
}

function admit(directory: string, { marker, summary }: Findings): Result<void, KronError> {
  if (summary !== null && summary.format !== null && summary.format !== FORMAT) {
    return otherFormat(directory, summary.format);
  }
  if (summary?.isLoading === true) return err(loadUnfinished(directory));
  if (marker !== null) return matchMarker(directory, marker, summary);
  return summary === null ? refuseLooseDocuments(directory) : ok(undefined);
}

/** The store first, then the marker: a crash in between leaves the store ahead, which is no rewind. */
async function stamp(
  directory: string,
  databases: Databases,
  { marker, summary }: Findings,
  isLoading: boolean,
): Promise<void> {
  const storeId = summary?.storeId ?? randomUUID();
  const generation = Math.max(summary?.generation ?? 0, marker?.generation ?? 0) + 1;
  await writeMeta(databases, [
    [META.storeId, storeId],
    [META.format, FORMAT],
    [META.generation, String(generation)],
    [META.loading, isLoading ? "1" : null],
  ]);
  writeMarker(directory, { backend: "lmdb", storeId, generation });
}

function makeDatabases(directory: string, { summary }: Findings): Result<Databases, KronError> {
  try {
    if (summary === null) makeRoom(directory);
    return ok(openDatabases(directory, false));
  } catch (error) {
    return err(openFailed(directory, error));
  }
}

async function openStamped(
  directory: string,
  findings: Findings,
  isLoading: boolean,
): Promise<Result<StateStore, KronError>> {
  const { farewell } = findings;
  const left = farewell === null ? null : await farewellWords(directory, farewell);
  const databases = makeDatabases(directory, findings);
  if (!databases.ok) return databases;
  try {
    forgetFarewell(directory);
    await stamp(directory, databases.value, findings, isLoading);
    return ok(new LmdbStore({ databases: databases.value, directory, isClosed: false }, left));
  } catch (error) {
    await databases.value.root.close();
    return err(unwritable("open", `cannot write to the store of ${directory}`, error));
  }
}

/** Opens the store of the locked directory, creating it on the very first start. */
export async function openLmdbStore(term: LockTerm): Promise<Result<StateStore, KronError>> {
  assertHeld(term, term.place);
  const findings = await look(term.place, true);
  if (!findings.ok) return findings;
  const admitted = admit(term.place, findings.value);
  return admitted.ok ? openStamped(term.place, findings.value, false) : admitted;
}

/**
 * Opens what is left of a store, or a new one when nothing readable is, and marks it as being filled: a recovery that is
 * interrupted must not look like a recovered store. What could not be read is moved aside, never deleted.
 */
export async function openLmdbForRecovery(
  term: LockTerm,
  suffix: string,
): Promise<Result<RecoverableStore, KronError>> {
  assertHeld(term, term.place);
  const findings = await lookForRecovery(term.place);
  if (!findings.ok) return findings;
  const { summary } = findings.value;
  const movedAside = summary === null ? moveAside(term.place, [DATA_FILE, LOCK_FILE], suffix) : ok([]);
  if (!movedAside.ok) return movedAside;
  const store = await openStamped(term.place, findings.value, true);
  return store.ok ? ok({ store: store.value, movedAside: movedAside.value }) : store;
}

/** Only damage makes a store unreadable: a check that could not be run says nothing. */
async function lookForRecovery(directory: string): Promise<Result<Findings, KronError>> {
  const readable = readMarker(directory);
  const marker = readable.ok ? readable.value : null;
  if (marker !== null && marker.backend !== "lmdb") return err(heldByOther(directory, marker));
  const hasData = checkFiles(directory, marker);
  if (!hasData.ok) return hasData;
  const nothing = { marker, summary: null, farewell: null };
  if (!hasData.value) return ok(nothing);
  const found = await checkData(directory, true);
  if (!found.ok) return found.error.code === "state-damaged" ? ok(nothing) : found;
  const { summary } = found.value;
  if (summary.storeId === null) return ok(nothing);
  // Whoever fills it is no daemon: what the last one knew does not count any more.
  return summary.format === FORMAT ? ok({ ...nothing, summary }) : otherFormat(directory, summary.format);
}

/** Reads the store of a directory without its lock: for commands that work while no daemon runs. Creates nothing. */
export async function openLmdbReader(directory: string): Promise<Result<StateReader, KronError>> {
  const absolute = path.resolve(directory);
  const findings = await look(absolute, false);
  if (!findings.ok) return findings;
  if (findings.value.summary === null) {
    return err(storeError("state-missing", "open", `there is no store in ${absolute}`));
  }
  const admitted = admit(absolute, findings.value);
  if (!admitted.ok) return admitted;
  try {
    return ok(attachLmdb(absolute));
  } catch (error) {
    return err(unreadable("open", `cannot open the store of ${absolute}`, error));
  }
}

/** Once more, in another thread of a process that has opened it: what was checked is not checked again. */
export function attachLmdb(directory: string): StateReader {
  return new LmdbReader({ databases: openDatabases(directory, true), directory, isClosed: false });
}
