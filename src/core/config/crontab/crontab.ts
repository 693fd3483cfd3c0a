/**
 * Reads a crontab: text in, jobs and problems with their places out, as the readers of Kron's own formats do, and a
 * verdict for every line. A job gets what cron would give it: its shell, its environment, its way with clock changes.
 */

import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import { parseKronCron } from "../../cron/kron-dialect.js";
import { REBOOT } from "../../cron/reboot.js";
import { compileSchedule } from "../../cron/schedule.js";
import { sha256Hex } from "../../decision/seed.js";
import { WINDOW_DEADLINE } from "../../job/definition.js";
import { readJobDefinition } from "../../job/schema.js";
import { formatSize } from "../../job/size.js";
import { formatDuration } from "../../time/duration.js";
import { zoneOf } from "../../time/zone.js";
import type { LocatedJob, LocatedProblem, Stretch } from "../located.js";
import { splitCrontabCommand } from "./command.js";
import { type JobText, splitCrontabLine, type VariableText } from "./line.js";
import type { CrontabLine, CrontabReading, CrontabRules, CrontabVerdict } from "./report.js";
import { type CrontabSchedule, readCrontabSchedule } from "./schedule.js";
import { CrontabVariables, type Surroundings } from "./variables.js";

export type { CrontabForm, CrontabLine, CrontabReading, CrontabRules } from "./report.js";

/** Cron starts a job at some moment of its minute, so a little lateness is no reason to leave it out. */
const DEADLINE = WINDOW_DEADLINE;
const IDENTITY_HASH_CHARS = 12;
const SHOWN_OF_LONG = 80;
const DESCRIPTION_CHARS = 200;

export function readCrontab(file: string, text: string, rules: CrontabRules): CrontabReading {
  return new CrontabReader(file, rules).read(text);
}

/** One reading of one file. */
class CrontabReader {
  readonly #file: string;
  readonly #rules: CrontabRules;
  readonly #variables: CrontabVariables;
  readonly #jobs: LocatedJob[] = [];
  readonly #problems: LocatedProblem[] = [];
  readonly #lines: CrontabLine[] = [];
  readonly #seen = new Map<string, number>();
  /** Of the values that variables have where the reading is. */
  readonly #places = new Map<string, Stretch & { readonly line: number }>();
  #comments: string[] = [];

  constructor(file: string, rules: CrontabRules) {
    this.#file = file;
    this.#rules = rules;
    this.#variables = new CrontabVariables(rules.timezone);
  }

  read(text: string): CrontabReading {
    const lines = (text.startsWith("\ufeff") ? text.slice(1) : text).split("\n");
    const last = lines.length - 1;
    for (const [index, line] of lines.entries()) this.#readLine(line, index + 1, index === last);
    return { file: this.#file, jobs: this.#jobs, settings: [], problems: this.#problems, lines: this.#lines };
  }

  #readLine(written: string, number: number, isLast: boolean): void {
    if (written.length > LIMITS.crontabLineChars) {
      const at = new LineNotes(number, `${written.slice(0, SHOWN_OF_LONG)}...`, this.#comments);
      this.#comments = [];
      const message = `the line is longer than ${formatSize(LIMITS.crontabLineChars)}`;
      this.#refuse(at, "job", { code: "limit-exceeded", message, path: [] }, { start: 0, end: 1 });
      return;
    }
    const hasReturn = written.endsWith("\r");
    const line = hasReturn ? written.slice(0, -1) : written;
    const at = new LineNotes(number, line, this.#comments);
    if (hasReturn) at.note("the carriage return at its end, which cron would hand on to the command, is left out");
    if (isLast) at.note("the line has no end: some crons ignore such a line");
    this.#readText(line, at);
  }

  #readText(line: string, at: LineNotes): void {
    const text = splitCrontabLine(line, this.#rules.form);
    if (text.kind === "comment") this.#comments.push(text.text);
    else this.#comments = [];
    if (text.kind === "broken") this.#refuse(at, "job", text.problem, text);
    else if (text.kind === "variable") this.#readVariable(text, at);
    else if (text.kind === "job") this.#readJob(text, at);
  }

  #readVariable({ name, value }: VariableText, at: LineNotes): void {
    const { verdict, notes, problem } = this.#variables.set(name.text, value.text, at.line);
    if (problem === null) {
      this.#places.set(name.text, { line: at.line, start: value.start, end: value.end });
      this.#lines.push(at.closed("variable", verdict, notes, null));
    }
    if (problem !== null) this.#refuse(at, "variable", problem, problem.code === "environment-name" ? name : value);
  }

  #readJob(text: JobText, at: LineNotes): void {
    const { unusable } = this.#variables;
    const identity = this.#identityOf(text);
    const schedule = readCrontabSchedule(text.schedule.map((word) => word.text));
    if (!schedule.ok) {
      const { problem, word } = schedule.error;
      this.#refuse(at, "job", problem, text.schedule[word] ?? text.command, identity);
    } else if (unusable !== null) {
      this.#refuse(at, "job", dependsOn(unusable), text.command, identity);
    } else {
      this.#takeJob(text, identity, schedule.value, at);
    }
  }

  #takeJob(text: JobText, identity: string, schedule: CrontabSchedule, at: LineNotes): void {
    const { surroundings } = this.#variables;
    const windowMs = windowOf(schedule.text, surroundings.delayMs);
    const raw = this.#rawJob(text, identity, schedule, surroundings, windowMs);
    const read = readJobDefinition(raw, undefined, { mayUseReservedPrefix: true });
    if (!read.ok) {
      for (const problem of read.error) {
        this.#addProblem(at, { ...problem, path: [] }, placeOf(problem, text), identity);
      }
      this.#lines.push(at.closed("job", "unsupported", [read.error[0]?.message ?? ""], null));
      return;
    }
    if (!schedule.isAsWritten) at.note(`the schedule is written ${schedule.text} here`);
    if (text.isQuiet) at.note("the - before it, which keeps cron from logging the start, has no effect");
    if (windowMs > 0) at.note(windowNote(windowMs, surroundings.delayMs));
    for (const problem of this.#rules.against?.(identity) ?? []) this.#addAgainst(problem, text, at, identity);
    const column = (text.schedule[0]?.start ?? 0) + 1;
    this.#jobs.push({ definition: read.value, file: this.#file, line: at.line, column });
    this.#lines.push(at.closed("job", "same", [], identity));
  }

  #rawJob(
    { user, command: written }: JobText,
    identity: string,
    schedule: CrontabSchedule,
    { timezone, shell, env, cwd, mailTo }: Surroundings,
    windowMs: number,
  ): Record<string, unknown> {
    const { command, stdin } = splitCrontabCommand(written.text);
    const account = user?.text ?? this.#rules.owner;
    return {
      identity,
      schedule: schedule.text,
      timezone,
      // Cron runs a fixed time once a day, whatever the clock does, and follows the clock with a star.
      ...(schedule.isFixedTime ? { dst: { gap: "next", overlap: "first" } } : {}),
      ...(windowMs === 0 ? {} : { window: { mode: "after", duration: formatDuration(windowMs) } }),
      policy: { deadline: DEADLINE },
      // An empty command is refused as such, whatever the shell.
      ...(shell === "/bin/sh" || command.trim() === ""
        ? { command, shell: true }
        : { command: [shell, "-c", command] }),
      ...(account === null ? {} : { user: account }),
      env,
      ...(cwd === null ? {} : { cwd }),
      ...(stdin === null ? {} : { stdin }),
      ...(mailTo === null ? {} : { notify: [{ on: ["output"], mail: mailTo }] }),
      description: descriptionOf(written.text),
    };
  }

  /** S37. What is hashed is what stands in the file, but for the blanks between the fields. */
  #identityOf({ schedule, command }: JobText): string {
    const hash = sha256Hex(schedule.map((word) => word.text).join(" ") + command.text).slice(0, IDENTITY_HASH_CHARS);
    const count = (this.#seen.get(hash) ?? 0) + 1;
    this.#seen.set(hash, count);
    return `crontab:${this.#file.split("/").at(-1)}:${hash}${count === 1 ? "" : `#${count}`}`;
  }

  /** `identity` of the job in question, so that the others need not suffer for it (S35). */
  #refuse(
    at: LineNotes,
    kind: CrontabLine["kind"],
    problem: Problem,
    stretch: Stretch,
    identity: string | null = null,
  ): void {
    this.#addProblem(at, problem, stretch, identity);
    this.#lines.push(at.closed(kind, "unsupported", [problem.message], null));
  }

  /** The shell and the directory of a job stand in variables above it, where the crontab says them at all. */
  #addAgainst(problem: Problem, text: JobText, at: LineNotes, identity: string): void {
    const [field, index] = problem.path;
    const name = field === "cwd" ? "HOME" : field === "command" && index === 0 ? "SHELL" : null;
    const place = name === null ? undefined : this.#places.get(name);
    if (place === undefined) this.#addProblem(at, problem, placeOf(problem, text), identity);
    else this.#addProblem(place, problem, place, identity);
  }

  #addProblem(
    { line }: Pick<LineNotes, "line">,
    problem: Problem,
    { start, end }: Stretch,
    identity: string | null,
  ): void {
    const length = Math.max(1, end - start);
    this.#problems.push({ problem, file: this.#file, line, column: start + 1, length, identity });
  }
}

/** Collects what is to be said about one line. */
class LineNotes {
  readonly line: number;
  readonly #text: string;
  readonly #comments: readonly string[];
  readonly #notes: string[] = [];

  constructor(line: number, text: string, comments: readonly string[]) {
    this.line = line;
    this.#text = text;
    this.#comments = comments;
  }

  note(note: string): void {
    this.#notes.push(note);
  }

  closed(
    kind: CrontabLine["kind"],
    verdict: CrontabVerdict,
    notes: readonly string[],
    identity: string | null,
  ): CrontabLine {
    const all = [...notes, ...this.#notes];
    const worst = verdict === "same" && all.length > 0 ? "noted" : verdict;
    return { kind, line: this.line, text: this.#text, verdict: worst, notes: all, identity, comments: this.#comments };
  }
}

/** The command as it stands there: the identity says nothing to people. */
function descriptionOf(command: string): string {
  const text = command.replace(/[\p{C}\u2028\u2029]/gu, " ").trim();
  return text.length > DESCRIPTION_CHARS ? `${text.slice(0, DESCRIPTION_CHARS - 1)}\u2026` : text;
}

/** S11: a window may not reach into the next period, and a delay of cron's may. */
function windowOf(schedule: string, delayMs: number): number {
  // A boot has no window.
  if (delayMs === 0 || schedule === REBOOT) return 0;
  const fields = parseKronCron(schedule);
  const utc = zoneOf("UTC");
  if (!fields.ok || !utc.ok) return delayMs;
  return Math.min(delayMs, compileSchedule(fields.value, utc.value).smallestGapMs);
}

function windowNote(windowMs: number, delayMs: number): string {
  const shorter = windowMs < delayMs ? `, not ${formatDuration(delayMs)}, which would reach into the next period` : "";
  return `each run gets its own second within ${formatDuration(windowMs)}${shorter}; cron delays all by one random number of minutes`;
}

function dependsOn({ name, line }: { readonly name: string; readonly line: number }): Problem {
  return { code: "field-conflict", message: `${name}, set on line ${line}, has no value that can be used`, path: [] };
}

function placeOf({ path: [field] }: Problem, { schedule, user, command }: JobText): Stretch {
  const [first = command] = schedule;
  if (field === "user") return user ?? command;
  return field === "schedule" || field === "timezone" || field === "window" ? first : command;
}
