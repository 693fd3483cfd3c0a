/** System error names, as the codes of the registry. Pure tables: the caller has caught the error already. */
import type { ErrorCode } from "./registry.js";

/** Why no process came to be (S24). `fork-failed` for what the system names and we do not know. */
export function spawnErrorCode(errno: string): ErrorCode {
  return SPAWN_CODES.get(errno) ?? "fork-failed";
}

const SPAWN_CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ["ENOENT", "command-not-found"],
  ["ENOTDIR", "command-not-found"],
  ["EACCES", "command-not-executable"],
  ["EPERM", "command-not-executable"],
  ["ENOEXEC", "command-not-executable"],
  ["E2BIG", "command-too-long"],
  ["EAGAIN", "fork-failed"],
  ["ENOMEM", "memory-exhausted"],
  ["EMFILE", "descriptors-exhausted"],
  ["ENFILE", "descriptors-exhausted"],
]);
