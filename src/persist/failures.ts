/** The operating failures of a store, worded once. */
import { KronError } from "../core/errors/kron-error.js";
import type { ErrorCode } from "../core/errors/registry.js";
import { messageOf } from "./private-files.js";

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

export const RECOVER_HINT = "look at the directory, then run: krond state recover --fence";

export function loadUnfinished(directory: string): KronError {
  const hint = "remove the store and load it again, or run: krond state recover --fence";
  return storeError("state-incompatible", "open", `a load into ${directory} was never finished`, hint);
}
