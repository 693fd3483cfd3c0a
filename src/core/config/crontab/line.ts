/**
 * Takes one line of a crontab apart, as cron does: first as a variable, and what is none is a job. Nothing is judged here
 * but the form of the line.
 */
import type { Problem } from "../../base/problem.js";
import type { Stretch } from "../located.js";
import type { CrontabForm } from "./report.js";

/** A piece of a line, and where it stands. */
interface LineText extends Stretch {
  readonly text: string;
}

export interface VariableText {
  readonly kind: "variable";
  readonly name: LineText;
  readonly value: LineText;
}

export interface JobText {
  readonly kind: "job";
  /** One macro, or five fields. */
  readonly schedule: readonly LineText[];
  /** Of the system form. */
  readonly user: LineText | null;
  /** All the rest of the line. */
  readonly command: LineText;
  /** Whether a `-` comes first: cronie's "write no line to the log". */
  readonly isQuiet: boolean;
}

interface BrokenText extends Stretch {
  readonly kind: "broken";
  readonly problem: Problem;
}

type CrontabText =
  | { readonly kind: "blank" }
  | { readonly kind: "comment"; readonly text: string }
  | VariableText
  | JobText
  | BrokenText;

const FIELDS = 5;

export function splitCrontabLine(line: string, form: CrontabForm): CrontabText {
  const start = skipBlanks(line, 0);
  if (start === line.length) return { kind: "blank" };
  if (line[start] === "#") return { kind: "comment", text: line.slice(start + 1).trim() };
  return splitVariable(line, start) ?? splitJob(line, start, form);
}

/** Blanks as C has them: a no-break space is none. */
const VARIABLE_NAME =
  /(?:"(?<double>[^"=]*)"|'(?<single>[^'=]*)'|(?<bare>[^\t\v\f\r ='"][^\t\v\f\r =]*))[\t\v\f\r ]*=[\t\v\f\r ]*/y;

/**
 * `NAME = value`: name and value may each stand in quotes of one kind. Of a bare value the blanks around it are dropped;
 * nothing is expanded, and a quote inside a bare value is a character like any other.
 */
function splitVariable(line: string, start: number): VariableText | null {
  VARIABLE_NAME.lastIndex = start;
  const match = VARIABLE_NAME.exec(line);
  if (match === null) return null;
  const { double, single, bare } = match.groups ?? {};
  const value = splitValue(line, VARIABLE_NAME.lastIndex);
  const name = { text: bare ?? double ?? single ?? "", start, end: start + match[0].indexOf("=") };
  return value && { kind: "variable", name, value };
}

function splitValue(line: string, start: number): LineText | null {
  const quote = line[start];
  if (quote !== '"' && quote !== "'") {
    const end = endWithoutBlanks(line, start);
    return { text: line.slice(start, end), start, end };
  }
  const close = line.indexOf(quote, start + 1);
  // Cron takes such a line for a job, and then finds no minutes in it.
  if (close < 0 || endWithoutBlanks(line, close + 1) > close + 1) return null;
  return { text: line.slice(start + 1, close), start, end: close + 1 };
}

function endWithoutBlanks(line: string, start: number): number {
  let end = line.length;
  while (end > start && "\t\v\f\r ".includes(line[end - 1] as string)) end--;
  return end;
}

function splitJob(line: string, start: number, form: CrontabForm): JobText | BrokenText {
  const isQuiet = line[start] === "-";
  let at = isQuiet ? start + 1 : start;
  const schedule: LineText[] = [];
  const wanted = line[at] === "@" ? 1 : FIELDS;
  while (schedule.length < wanted) {
    const word = wordAt(line, at);
    if (word.text === "") return broken(line, start, tooFew(schedule.length, wanted, line.slice(start)));
    schedule.push(word);
    at = skipBlanks(line, word.end);
  }
  if (line[at] === "*") return { ...broken(line, at, tooMany()), end: at + 1 };
  const user = form === "system" ? wordAt(line, at) : null;
  const commandAt = user === null ? at : skipBlanks(line, user.end);
  if (commandAt >= line.length) return broken(line, start, user === null ? noCommand() : noUser());
  const command = { text: line.slice(commandAt), start: commandAt, end: line.length };
  return { kind: "job", schedule, user, command, isQuiet };
}

function wordAt(line: string, start: number): LineText {
  let end = start;
  while (end < line.length && !isBlank(line[end])) end++;
  return { text: line.slice(start, end), start, end };
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && isBlank(line[at])) at++;
  return at;
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

function broken(line: string, start: number, problem: Problem): BrokenText {
  return { kind: "broken", problem, start, end: line.length };
}

function syntax(message: string, hint: string): Problem {
  return { code: "file-syntax", message, path: [], hint };
}

function tooFew(count: number, wanted: number, line: string): Problem {
  if (/^[A-Za-z_]\w*\s*=/.test(line)) {
    return syntax("the quotes of this value do not match", "quote the whole value, or none of it");
  }
  const message = `a line has ${wanted} fields and a command, this one has ${count} words`;
  return syntax(message, "write minute hour day month weekday command, or NAME=value");
}

function tooMany(): Problem {
  return syntax("a command cannot begin with *", "a crontab has five fields: seconds and years are not known");
}

function noCommand(): Problem {
  return syntax("the command is missing", "write minute hour day month weekday command");
}

function noUser(): Problem {
  return syntax("the user or the command is missing", "in the system form a user comes before the command");
}
