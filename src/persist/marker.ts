/**
 * The marker says that this directory holds a store, and which one. It lies beside the store's data, so that a lost,
 * emptied or exchanged data file is noticed instead of being taken for a first start (S32).
 *
 * Its generation counts the openings. The store keeps the same number and is written first: a store whose generation is
 * below the marker's was put back from a copy and does not know what happened since.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { KronError } from "../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../core/base/result.js";
import { RECOVER_HINT, storeError, unreadable } from "./failures.js";
import { checkPrivateFile, FILE_MODE, syncDirectory } from "./private-files.js";

export const MARKER_FILE = "kron-store.json";

/** What a store in a directory can be made of. */
export const BACKEND_NAMES = ["lmdb", "files"] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

export function isBackendName(name: unknown): name is BackendName {
  return BACKEND_NAMES.some((known) => known === name);
}

interface Stamp {
  readonly storeId: string;
  readonly generation: number;
}

/** The store lies elsewhere: in the directory is what belongs to this machine. */
export interface RemoteMarker extends Stamp {
  readonly backend: "postgres";
  readonly address: string;
  /** Of the server, as it was found then. Absent: an earlier version has not noted it. */
  readonly timeline?: string;
  /** Where the password is, for whoever reads the store while no daemon runs. */
  readonly passwordFile?: string;
}

export type Marker = (Stamp & { readonly backend: BackendName }) | RemoteMarker;

function isMarker(value: unknown): value is Marker {
  if (typeof value !== "object" || value === null) return false;
  const { backend, storeId, generation, address, ...texts } = value as Readonly<Record<string, unknown>>;
  const isPlace = isBackendName(backend) || (backend === "postgres" && typeof address === "string");
  const isStamped = typeof storeId === "string" && storeId !== "" && Number.isSafeInteger(generation);
  const areTexts = ["timeline", "passwordFile"].every((name) => ["string", "undefined"].includes(typeof texts[name]));
  return isPlace && isStamped && areTexts;
}

/** Why the store of a directory is not opened with a backend that it was not made by. */
export function heldByOther(directory: string, marker: Marker): KronError {
  const asked = marker.backend === "postgres" ? marker.address : marker.backend;
  const hint = `start with --store '${asked}'; to move it: krond state export, then import with another --state`;
  return storeError("state-incompatible", "open", `${directory} holds a store of the ${marker.backend} backend`, hint);
}

export function formatMarker(marker: Marker): string {
  return `${JSON.stringify(marker)}\n`;
}

export function parseMarker(text: string, file: string): Result<Marker, KronError> {
  try {
    const value: unknown = JSON.parse(text);
    if (isMarker(value)) return ok(value);
  } catch {
    // Not JSON: the same trouble as JSON of another form.
  }
  return err(storeError("state-damaged", "open", `${file} is not a store marker`, RECOVER_HINT));
}

/** null where no store has ever been opened. */
export function readMarker(directory: string): Result<Marker | null, KronError> {
  const file = path.join(directory, MARKER_FILE);
  const exists = checkPrivateFile(file);
  if (!exists.ok) return exists;
  if (exists.value === null) return ok(null);
  try {
    return parseMarker(fs.readFileSync(file, "utf8"), file);
  } catch (error) {
    return err(unreadable("open", `cannot read ${file}`, error));
  }
}

/** Durable when it returns. Throws what the system says. */
export function writeMarker(directory: string, marker: Marker): void {
  const file = path.join(directory, MARKER_FILE);
  const temporary = `${file}.new`;
  fs.rmSync(temporary, { force: true });
  const descriptor = fs.openSync(temporary, "wx", FILE_MODE);
  try {
    fs.writeFileSync(descriptor, formatMarker(marker));
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
  fs.renameSync(temporary, file);
  syncDirectory(directory);
}
