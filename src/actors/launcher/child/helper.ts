/** Runs the small system programs that the launcher needs, with an empty environment and none of its descriptors. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import * as fs from "node:fs";
import { spawnErrorCode } from "../../../core/base/errors/errno.js";
import type { ArmFailure } from "../../runner/port.js";
import { failure } from "../request-check.js";
import { LAUNCHER_LIMITS } from "./limits.js";

export interface HelperResult {
  /** null: it has no exit status, because it could not be run or was stopped. */
  readonly status: number | null;
  readonly output: string;
  /** Why there is no answer; null when it ended by itself, however. */
  readonly refusal: ArmFailure | null;
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
    if (child instanceof Error) return resolve(notRun(program, child));
    let output = "";
    const overdue = setTimeout(() => child.kill("SIGKILL"), LAUNCHER_LIMITS.helperMs);
    const finish = (result: HelperResult) => {
      clearTimeout(overdue);
      resolve(result);
    };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, LAUNCHER_LIMITS.helperOutputBytes);
    });
    child.on("error", (error) => finish(notRun(program, error)));
    child.on("close", (status, signal) => finish({ status, output, refusal: signal && stopped(program, signal) }));
  });
}

/** What the system refused says nothing about what was asked. */
function notRun(program: string, error: Error): HelperResult {
  const errno = systemErrorName(error);
  return { status: null, output: "", refusal: failure(spawnErrorCode(errno), `${program} cannot be run: ${errno}`) };
}

function stopped(program: string, signal: string): ArmFailure {
  return failure("privilege-drop-failed", `${program} was ended by ${signal} before it had answered`);
}

/** Such as EAGAIN. */
export function systemErrorName(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function spawnQuietly(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess | Error {
  try {
    return spawn(program, args, { env: {}, stdio });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
