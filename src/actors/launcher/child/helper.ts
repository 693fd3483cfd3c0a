/** Runs the small system programs that the launcher needs, with an empty environment and none of its descriptors. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import * as fs from "node:fs";
import { LAUNCHER_LIMITS } from "./limits.js";

export interface HelperResult {
  /** null: it could not be run, or was stopped for taking too long. */
  readonly status: number | null;
  readonly output: string;
}

/** Descriptor 3 is the launcher's line to the daemon, and inheritable: every child gets something else in its place. */
export const NO_DAEMON_LINE = "ignore";

const DIRECTORIES = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/run/current-system/sw/bin"] as const;

/** Absolute path of a system program; null when this system has none. Never looked up through a variable. */
export function findProgram(name: string): string | null {
  return DIRECTORIES.map((directory) => `${directory}/${name}`).find((path) => fs.existsSync(path)) ?? null;
}

export function runHelper(program: string, args: readonly string[]): Promise<HelperResult> {
  return new Promise((resolve) => {
    const child = spawnQuietly(program, args, ["ignore", "pipe", "ignore", NO_DAEMON_LINE]);
    if (child === null) return resolve({ status: null, output: "" });
    let output = "";
    const overdue = setTimeout(() => child.kill("SIGKILL"), LAUNCHER_LIMITS.helperMs);
    const finish = (status: number | null) => {
      clearTimeout(overdue);
      resolve({ status, output });
    };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, LAUNCHER_LIMITS.helperOutputBytes);
    });
    child.on("error", () => finish(null));
    child.on("close", finish);
  });
}

function spawnQuietly(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess | null {
  try {
    return spawn(program, args, { env: {}, stdio });
  } catch {
    return null;
  }
}
