/** Where hosts open stores: by name of the backend, or for reading by what the directory says. */
import * as path from "node:path";
import type { KronError } from "../core/base/errors/kron-error.js";
import { err, type Result } from "../core/base/result.js";
import { storeError } from "./failures.js";
import { openFilesReader, openFilesStore } from "./files/open.js";
import { openLmdbReader, openLmdbStore } from "./lmdb/open.js";
import type { LockTerm } from "./lock.js";
import { type Backend, readMarker } from "./marker.js";
import type { OpenedStore, StateReader } from "./store.js";

/** Opens the store of the locked directory, creating it on the very first start. */
export function openStateStore(term: LockTerm, backend: Backend): Promise<OpenedStore> {
  return backend === "lmdb" ? openLmdbStore(term) : openFilesStore(term);
}

/** Reads a store without its lock, for commands that work while no daemon runs. Creates and changes nothing. */
export async function openStateReader(directory: string): Promise<Result<StateReader, KronError>> {
  const absolute = path.resolve(directory);
  const marker = readMarker(absolute);
  if (!marker.ok) return marker;
  if (marker.value === null) return err(storeError("state-missing", "open", `there is no store in ${absolute}`));
  return marker.value.backend === "lmdb" ? openLmdbReader(absolute) : openFilesReader(absolute);
}
