/**
 * Where a run's words go: the descriptors a job gets for its standard streams, and the files behind them. A file belongs
 * to one run, is only ever appended to, and stays the run's own when daemon and launcher are gone (S29).
 */

import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Stream } from "node:stream";
import { messageOf } from "../../../core/base/errors/message.js";
import { err, ok, type Result } from "../../../core/base/result.js";
import type { ArmFailure } from "../../runner/port.js";
import type { OutputPlan } from "../port.js";
import { failure } from "../request-check.js";
import { findProgram, NO_DAEMON_LINE } from "./helper.js";

export interface OpenOutput {
  /** For `stdio[1]` and `stdio[2]` of the job. */
  readonly stdio: number | "inherit" | "ignore" | Stream;
  /** Set when it is a file. */
  readonly path: string | null;
  /** Frees our own copies of the descriptors; the job keeps its. */
  release(): void;
}

interface OutputOwner {
  readonly uid: number;
  readonly gid: number;
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;

export function outputPath(plan: OutputPlan): string | null {
  return plan.to === "file" ? path.join(plan.directory, plan.name) : null;
}

export function openOutput(plan: OutputPlan, owner: OutputOwner): Result<OpenOutput, ArmFailure> {
  try {
    return ok(opened(plan, owner));
  } catch (error) {
    const code = isExhaustion(error) ? "descriptors-exhausted" : "output-unusable";
    return err(failure(code, `the output cannot be opened: ${messageOf(error)}`));
  }
}

function opened(plan: OutputPlan, owner: OutputOwner): OpenOutput {
  switch (plan.to) {
    case "file":
      return openFile(path.join(plan.directory, plan.name), owner);
    case "syslog":
      return openSyslog(plan.tag);
    case "inherit":
      return { stdio: "inherit", path: null, release: () => undefined };
    case "discard":
      return { stdio: "ignore", path: null, release: () => undefined };
  }
}

/** The file is given to the job's user, so that a script can write to /dev/stderr; the directory stays the daemon's. */
function openFile(file: string, owner: OutputOwner): OpenOutput {
  makeDirectory(path.dirname(file));
  const fd = fs.openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    if (owner.uid !== process.geteuid?.()) fs.fchownSync(fd, owner.uid, owner.gid);
  } catch (error) {
    fs.closeSync(fd);
    fs.rmSync(file, { force: true });
    throw error;
  }
  return { stdio: fd, path: file, release: () => fs.closeSync(fd) };
}

/** Not `mkdirSync` with `recursive`: below /proc, for one, that never returns. */
function makeDirectory(directory: string): void {
  if (fs.existsSync(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) makeDirectory(parent);
  try {
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Made by somebody else in between.
    if (!isCode(error, "EEXIST")) throw error;
  }
}

/** `logger` reads from a pipe of which only the job holds the other end, so it lives exactly as long as the job does. */
function openSyslog(tag: string): OpenOutput {
  const logger = findProgram("logger");
  if (logger === null) throw new Error("logger is not installed");
  const child = spawn(logger, ["-t", tag, "-p", "cron.info"], {
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore", NO_DAEMON_LINE],
  });
  return syslogOutput(child);
}

function syslogOutput(child: ChildProcess): OpenOutput {
  // Its absence was ruled out; what else may go wrong shows as a closed pipe, which is the job's to see.
  child.on("error", () => undefined);
  const pipe = child.stdin;
  if (child.pid === undefined || pipe === null) throw new Error("logger cannot be started");
  pipe.on("error", () => undefined);
  return { stdio: pipe, path: null, release: () => void pipe.destroy() };
}

/** A descriptor that reads `text` and then the end, from a file that has no name any more. */
export function openStdin(text: string | null): Result<number | "ignore", ArmFailure> {
  if (text === null) return ok("ignore");
  try {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "kron-"));
    try {
      const file = path.join(directory, "stdin");
      fs.writeFileSync(file, text, { mode: 0o600, flag: "wx" });
      return ok(fs.openSync(file, fs.constants.O_RDONLY));
    } finally {
      fs.rmSync(directory, { recursive: true, force: true });
    }
  } catch (error) {
    return err(failure("output-unusable", `the standard input cannot be prepared: ${messageOf(error)}`));
  }
}

export function discardOutput(file: string | null): void {
  if (file !== null) fs.rmSync(file, { force: true });
}

/** Leaves the newest files of a directory, judged by name. Returns how many went. */
export function rotate(plan: OutputPlan): number {
  if (plan.to !== "file" || !fs.existsSync(plan.directory)) return 0;
  const names = fs
    .readdirSync(plan.directory)
    .filter((name) => !name.startsWith("."))
    .sort();
  const surplus = names.slice(0, Math.max(0, names.length - Math.max(plan.keep, 1)));
  for (const name of surplus) fs.rmSync(path.join(plan.directory, name), { force: true });
  return surplus.length;
}

/** The first words of an output file: why a gate failed. */
export function firstWords(file: string | null): string {
  if (file === null) return "";
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | O_NOFOLLOW);
    try {
      const text = Buffer.alloc(300);
      return text.toString("utf8", 0, fs.readSync(fd, text, 0, text.length, 0)).trim();
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return "";
  }
}

function isExhaustion(error: unknown): boolean {
  return isCode(error, "EMFILE") || isCode(error, "ENFILE");
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
