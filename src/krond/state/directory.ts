/** Where state lies when nobody says otherwise. */
import { homedir } from "node:os";
import { join } from "node:path";

const SYSTEM_DIRECTORY = "/var/lib/krond";

export function defaultStateDirectory(
  env: Readonly<Record<string, string | undefined>>,
  isRoot: boolean = process.geteuid?.() === 0,
): string {
  if (isRoot) return SYSTEM_DIRECTORY;
  return join(env["XDG_STATE_HOME"] || join(env["HOME"] || homedir(), ".local", "state"), "krond");
}

export function socketPathIn(stateDirectory: string): string {
  return join(stateDirectory, "krond.sock");
}

/** A directory of its own for each identity. */
export function outputDirectoryIn(stateDirectory: string): string {
  return join(stateDirectory, "output");
}
