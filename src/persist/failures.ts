/** The operating failures of a store, worded once. */

import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { errnoOf } from "./private-files.js";

export function storeError(code: ErrorCode, operation: string, message: string, hint?: string): KronError {
  return new KronError(code, message, { component: "persist", operation, ...(hint === undefined ? {} : { hint }) });
}

export function writeFailed(cause: unknown): KronError {
  return new KronError("state-write-failed", `state cannot be written: ${messageOf(cause)}`, {
    component: "persist",
    operation: "commit",
    cause,
  });
}

export function writeRefused(failure: KronError): KronError {
  return new KronError("state-write-failed", "the store takes no more writes after a failed one", {
    component: "persist",
    operation: "commit",
    cause: failure,
  });
}

export function unreadable(operation: string, what: string, cause: unknown): KronError {
  return new KronError("state-unreadable", `${what}: ${messageOf(cause)}`, { component: "persist", operation, cause });
}

export function unwritable(operation: string, what: string, cause: unknown): KronError {
  const context = { component: "persist", operation, cause } as const;
  return new KronError("state-write-failed", `${what}: ${messageOf(cause)}`, context);
}

/** Names of the system's errors, and the bare numbers of LMDB. */
const UNWRITABLE: ReadonlySet<string> = new Set(["ENOSPC", "EROFS", "EDQUOT", "EFBIG", "28", "30", "122", "27"]);

/** A store is written to while it is opened: a disk that is full or read-only is a failed write, not a damaged store. */
export function openFailed(directory: string, cause: unknown): KronError {
  const what = `cannot open the store of ${directory}`;
  return UNWRITABLE.has(errnoOf(cause)) ? unwritable("open", what, cause) : unreadable("open", what, cause);
}

export const RECOVER_HINT = "look at the directory, then run: krond state recover --fence";

export function loadUnfinished(directory: string): KronError {
  const hint = "remove the store and load it again, or run: krond state recover --fence";
  return storeError("state-incompatible", "open", `a load into ${directory} was never finished`, hint);
}
