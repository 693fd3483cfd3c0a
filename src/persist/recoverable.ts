import * as fs from "node:fs";
import * as path from "node:path";
import type { KronError } from "../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../core/base/result.js";
import { unreadable } from "./failures.js";
import { syncDirectory } from "./private-files.js";
import type { StateStore } from "./store.js";

/** A store that is open although it would be refused otherwise, marked as being filled. */
export interface RecoverableStore {
  readonly store: StateStore;
  /** Files that could not be read and have another name now. */
  readonly movedAside: readonly string[];
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** What was moved aside before stays where it is. */
function freeName(wanted: string): string {
  return exists(wanted) ? freeName(`${wanted}.1`) : wanted;
}

/** Gives files another name, durably. What recovery cannot read, somebody else may. */
export function moveAside(
  directory: string,
  names: readonly string[],
  suffix: string,
): Result<readonly string[], KronError> {
  try {
    const moved: string[] = [];
    for (const name of names) {
      const file = path.join(directory, name);
      if (!exists(file)) continue;
      const aside = freeName(file + suffix);
      fs.renameSync(file, aside);
      moved.push(aside);
    }
    syncDirectory(directory);
    return ok(moved);
  } catch (error) {
    return err(unreadable("recover", `cannot move aside what is damaged in ${directory}`, error));
  }
}
