/** Where commands read a store: whatever lies in a directory, by what the directory says. */
import * as path from "node:path";
import type { KronError } from "../core/base/errors/kron-error.js";
import { err, type Result } from "../core/base/result.js";
import { storeIn } from "./backends.js";
import { storeError } from "./failures.js";
import type { StateReader } from "./store.js";

/** Reads a store without its lock, for commands that work while no daemon runs. Creates and changes nothing. */
export async function openStateReader(directory: string): Promise<Result<StateReader, KronError>> {
  const absolute = path.resolve(directory);
  const found = storeIn(absolute);
  if (!found.ok) return found;
  if (found.value === null) return err(storeError("state-missing", "open", `there is no store in ${absolute}`));
  return found.value.backend.openReader(found.value.at);
}
