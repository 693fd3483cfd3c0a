/** Reads what a job does when its time has come: a command with its surroundings, or a request. */
import { LIMITS } from "../base/limits.js";
import { memoised } from "../base/memo.js";
import { type Problem, problemAt } from "../base/problem.js";
import { err, type Result } from "../base/result.js";
import { splitWords } from "../base/words.js";
import type { OutputRule, ProcessTarget, Target } from "./definition.js";
import { readEnvSources } from "./env-sources.js";
import { readHttp } from "./http-reader.js";
import { quote } from "./issues.js";
import { byteLength, readTimeout, take, twice } from "./reading.js";
import type { PartialRawJob } from "./shape.js";
import { parseSize } from "./size.js";

const OUTPUT_DEFAULTS: OutputRule = Object.freeze({
  to: "file",
  maxBytes: 10_000_000,
  keep: 10,
  onExcess: "drop-middle",
});

/** Fields that mean nothing for a request. */
const PROCESS_FIELDS = [
  "shell",
  "user",
  "group",
  "cwd",
  "env",
  "env_file",
  "pass_env",
  "env_credentials",
  "stdin",
  "umask",
  "timeout",
  "output",
  "max_output",
] as const satisfies readonly (keyof PartialRawJob)[];

const NO_ENVIRONMENT: Readonly<Record<string, string>> = Object.freeze({});
const NO_ARGUMENTS: readonly string[] = Object.freeze([]);
/** NUL ends a text early in every system call; half a surrogate pair cannot be encoded. */
const UNPASSABLE = /[\0\p{Cs}]/u;
const PLAIN = /^[\x20-\x7e]*$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const UMASK = /^0?[0-7]{3}$/;

/** `raw` has defaults merged in; contradictions are only looked for in what the job itself says. */
export function readTarget(raw: PartialRawJob, own: PartialRawJob, problems: Problem[]): Target {
  if (raw.http === undefined) return readProcess(raw, own, problems);
  if (raw.command !== undefined) {
    problems.push({ code: "field-conflict", message: "a job has a command or a request, not both", path: ["http"] });
  }
  for (const field of PROCESS_FIELDS) {
    if (own[field] !== undefined) problems.push(notForHttp(field));
  }
  return readHttp(raw.http, problems);
}

function notForHttp(field: string): Problem {
  const hint = field === "timeout" ? "write http: { timeout: ... }" : undefined;
  const message = `${field} does not apply to a request`;
  return { code: "field-conflict", message, path: [field], ...(hint === undefined ? {} : { hint }) };
}

function readProcess(raw: PartialRawJob, own: PartialRawJob, problems: Problem[]): ProcessTarget {
  // A default of `shell: true` speaks of commands written as one text only.
  const shell = raw.shell === true && (typeof raw.command === "string" || own.shell === true);
  const envSources = readEnvSources(raw, problems);
  return Object.freeze({
    kind: "process",
    argv: readCommand(raw.command, shell, problems),
    shell,
    user: readAccount(raw.user, "user", problems),
    group: readAccount(raw.group, "group", problems),
    cwd: readCwd(raw.cwd, problems),
    env: readEnvironment(raw.env, problems),
    ...(envSources === undefined ? {} : { envSources }),
    stdin: readStdin(raw.stdin, problems),
    umask: readUmask(raw.umask, problems),
    timeoutMs: raw.timeout === undefined ? null : readTimeout(raw.timeout, ["timeout"], LIMITS.timeoutMs, problems),
    output: readOutput(raw, own, problems),
  });
}

function readCommand(command: PartialRawJob["command"], shell: boolean, problems: Problem[]): readonly string[] {
  const before = problems.length;
  const argv = typeof command === "string" ? [command] : (command ?? []);
  if (command === undefined) problems.push(noCommand());
  else if (typeof command === "string" && !shell) problems.push(needsShell(command));
  else if (Array.isArray(command) && shell) problems.push(needsText());
  else if (argv.length === 0 || argv[0]?.trim() === "") problems.push(emptyCommand(Array.isArray(command)));
  else checkArguments(argv, shell, problems);
  return problems.length > before ? NO_ARGUMENTS : Object.freeze([...argv]);
}

function noCommand(): Problem {
  const hint = "write command: [program, argument] or http: { url: ... }";
  return { code: "field-missing", message: 'missing field "command"', path: ["command"], hint };
}

/** Only a shell knows what these mean. */
const SHELL_SIGNS = /[|<>&;`$*?]|^\w+=|^~|\s~/;

function needsShell(command: string): Problem {
  const message = "a command in one text needs shell: true";
  if (SHELL_SIGNS.test(command)) {
    const hint = "add shell: true: without a shell |, <, >, &, ; and $ are handed to the program as they are";
    return { code: "field-type", message, path: ["command"], hint };
  }
  const words = splitWords(command);
  const list = words.ok ? JSON.stringify(words.value.map((word) => word.text)) : "[program, argument]";
  const hint = `write it as a list, ${list.length > 100 ? "[program, argument]" : list}, or add shell: true`;
  return { code: "field-type", message, path: ["command"], hint };
}

function needsText(): Problem {
  const message = "with shell: true the command is one text, not a list";
  return { code: "field-conflict", message, path: ["command"], hint: "leave shell out to run a list as it is" };
}

function emptyCommand(isList: boolean): Problem {
  return { code: "field-range", message: "the command is empty", path: isList ? ["command", 0] : ["command"] };
}

function checkArguments(argv: readonly string[], shell: boolean, problems: Problem[]): void {
  let total = 0;
  for (const [index, argument] of argv.entries()) {
    if (problems.length >= LIMITS.problemsPerJob) return;
    const path = shell ? ["command"] : ["command", index];
    const problem = checkPassable(argument, "an argument");
    if (problem !== null) problems.push(problemAt(problem, ...path));
    total += byteLength(argument) + 1;
  }
  if (total > LIMITS.argvBytes) problems.push(problemAt(tooLong("the command", total, LIMITS.argvBytes), "command"));
}

/** Whether the system can hand `text`, and `extraBytes` with it, to a program at all. */
export function checkPassable(text: string, what: string, extraBytes = 0): Problem | null {
  const bytes = byteLength(text) + extraBytes;
  if (bytes > LIMITS.argumentBytes) return tooLong(what, bytes, LIMITS.argumentBytes);
  const at = PLAIN.test(text) ? -1 : text.search(UNPASSABLE);
  if (at < 0) return null;
  const message = `${what} contains a character that no program can be given`;
  return { code: "field-range", message, path: [], span: { start: at, end: at + 1 } };
}

function tooLong(what: string, bytes: number, limit: number): Problem {
  return { code: "limit-exceeded", message: `${what} has ${bytes} bytes, more than the limit of ${limit}`, path: [] };
}

/** A name or a number; whether it exists is only known where the job runs. */
function readAccount(name: string | undefined, field: "user" | "group", problems: Problem[]): string | null {
  if (name === undefined) return null;
  if (/^[^\p{C}\s:/-][^\p{C}\s:/]{0,254}$/u.test(name)) return name;
  problems.push({ code: "field-range", message: `${quote(name)} is not a ${field} name`, path: [field] });
  return null;
}

function readCwd(cwd: string | undefined, problems: Problem[]): string | null {
  if (cwd === undefined) return null;
  const bytes = byteLength(cwd);
  const problem =
    bytes > LIMITS.pathBytes ? tooLong("the path", bytes, LIMITS.pathBytes) : checkPassable(cwd, "a path");
  if (problem !== null) problems.push(problemAt(problem, "cwd"));
  else if (!cwd.startsWith("/")) {
    problems.push({ code: "field-range", message: "the working directory must be an absolute path", path: ["cwd"] });
  }
  return cwd;
}

function readEnvironment(env: PartialRawJob["env"], problems: Problem[]): Readonly<Record<string, string>> {
  if (env === undefined) return NO_ENVIRONMENT;
  let total = 0;
  // In one order, so that equal definitions have equal texts.
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of entries) {
    if (problems.length >= LIMITS.problemsPerJob) return NO_ENVIRONMENT;
    const problem = checkVariable(name, value);
    if (problem !== null) problems.push(problemAt(problem, "env", name));
    total += byteLength(name) + byteLength(value) + 2;
  }
  if (total > LIMITS.environmentBytes) {
    problems.push(problemAt(tooLong("the environment", total, LIMITS.environmentBytes), "env"));
  }
  return Object.freeze(Object.fromEntries(entries));
}

function checkVariable(name: string, value: string): Problem | null {
  if (!ENV_NAME.test(name)) {
    const hint = "letters, digits and _, not beginning with a digit";
    return badName(`${quote(name)} is not the name of an environment variable`, hint);
  }
  if (name.startsWith("KRON_")) return badName("names that begin with KRON_ are set by Kron itself");
  return checkPassable(value, "a variable", name.length + 1);
}

function badName(message: string, hint?: string): Problem {
  return { code: "environment-name", message, path: [], ...(hint === undefined ? {} : { hint }) };
}

/** Any text that UTF-8 can express; an empty one is the same as none. */
function readStdin(text: string | undefined, problems: Problem[]): string | null {
  if (text === undefined || text === "") return null;
  const bytes = byteLength(text);
  const at = PLAIN.test(text) ? -1 : text.search(/\p{Cs}/u);
  if (bytes > LIMITS.stdinBytes) problems.push(problemAt(tooLong("the input", bytes, LIMITS.stdinBytes), "stdin"));
  else if (at >= 0) {
    const message = "the input contains half a character, which cannot be written";
    problems.push({ code: "field-range", message, path: ["stdin"], span: { start: at, end: at + 1 } });
  }
  return text;
}

function readUmask(text: string | undefined, problems: Problem[]): number | null {
  if (text === undefined) return null;
  if (UMASK.test(text)) return Number.parseInt(text, 8);
  const hint = 'write three octal digits in quotes, like "022"';
  problems.push({ code: "field-range", message: `${quote(text)} is not a umask`, path: ["umask"], hint });
  return null;
}

const outputOf = memoised((key): OutputRule => {
  const [to, maxBytes, keep, onExcess] = JSON.parse(key) as [OutputRule["to"], number, number, OutputRule["onExcess"]];
  return Object.freeze({ to, maxBytes, keep, onExcess });
});

function readOutput(raw: PartialRawJob, own: PartialRawJob, problems: Problem[]): OutputRule {
  if (raw.output === undefined && raw.max_output === undefined) return OUTPUT_DEFAULTS;
  if (own.max_output !== undefined && own.output?.max !== undefined) problems.push(twice("max_output", "output.max"));
  if (own.output?.file !== undefined) checkFile(own.output, problems);
  const {
    to = OUTPUT_DEFAULTS.to,
    max,
    keep = OUTPUT_DEFAULTS.keep,
    on_excess = OUTPUT_DEFAULTS.onExcess,
  } = raw.output ?? {};
  const maxBytes =
    raw.max_output === undefined
      ? readMax(max, ["output", "max"], problems)
      : readMax(raw.max_output, ["max_output"], problems);
  return outputOf(JSON.stringify([to, maxBytes, keep, on_excess]));
}

function checkFile(output: NonNullable<PartialRawJob["output"]>, problems: Problem[]): void {
  if (output.to !== undefined) problems.push(twice("file", "to", ["output", "file"]));
  else if (output.file === false) {
    const hint = "write to: inherit, to: discard or to: syslog";
    problems.push({ code: "field-range", message: "output goes somewhere", path: ["output", "file"], hint });
  }
}

const maxOf = memoised((text): Result<number, Problem> => {
  const size = parseSize(text);
  const { min, max } = LIMITS.outputBytes;
  if (!size.ok || (size.value >= min && size.value <= max)) return size;
  return err({ code: "field-range", message: "an output cap is between 1kB and 1000GB", path: [] });
});

function readMax(text: string | undefined, path: readonly string[], problems: Problem[]): number {
  if (text === undefined) return OUTPUT_DEFAULTS.maxBytes;
  return take(maxOf(text), path, OUTPUT_DEFAULTS.maxBytes, problems);
}
