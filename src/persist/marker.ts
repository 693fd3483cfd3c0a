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

export interface Marker {
  readonly backend: BackendName;
  readonly storeId: string;
  readonly generation: number;
}

function isMarker(value: unknown): value is Marker {
  if (typeof value !== "object" || value === null) return false;
  const { backend, storeId, generation } = value as Partial<Record<keyof Marker, unknown>>;
  return isBackendName(backend) && typeof storeId === "string" && storeId !== "" && Number.isSafeInteger(generation);
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
