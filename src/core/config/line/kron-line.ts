/**
 * The line format (`*.kron`): one job a line, read a line at a time, so that a file of any size is a stream. Blank lines
 * and lines that begin with `#` say nothing.
 */

import type { Problem } from "../../base/problem.js";
import { readJobDefinition } from "../../job/schema.js";
import { KEY_CODES } from "../problem-kinds.js";
import { type LineDefinition, lineDefinition } from "./fields.js";
import { type LineReading, type LineSource, lineReading, tooLongLine } from "./lines.js";
import { originAt, originStretch } from "./origin.js";
import { type LineProblem, LineScanner } from "./text.js";

/** Reads one line without its end; `job` is null when there is none, or not a sound one. */
export function readKronLine(line: string, source: LineSource): LineReading {
  const first = line.search(/[^ \t\r]/);
  if (first < 0 || line[first] === "#") return { job: null, problems: [] };
  const tooLong = tooLongLine(line, source);
  if (tooLong !== null) return tooLong;
  const scanner = new LineScanner(line.endsWith("\r") ? line.slice(0, -1) : line);
  const parts = scanner.readLine();
  const found = lineDefinition(parts, scanner, line);
  const read = readJobDefinition(found.raw);
  const named = new Set(parts.fields.map(({ name }) => name));
  const isNew = (problem: Problem): boolean => !isSaid(problem, named, scanner.isCutShort);
  const others = read.ok ? (source.against?.(read.value.identity) ?? []) : [];
  const meant = read.ok ? others : read.error.filter(isNew).map(inLineWords);
  const problems = [...found.problems, ...meant.map((problem) => placed(problem, found, line, first))];
  const column = (found.origins.get("identity")?.part.start ?? first) + 1;
  return lineReading(source, column, found.raw["identity"], read.ok ? read.value : null, problems);
}

/** A field that is there, or may be, but could not be read at all is not missing as well. */
function isSaid({ code, path }: Problem, named: ReadonlySet<string>, isCutShort: boolean): boolean {
  const isNamed = isCutShort || named.has(path[0] === "identity" ? "name" : String(path[0]));
  return code === "field-missing" && path.length === 1 && isNamed;
}

function inLineWords(problem: Problem): Problem {
  if (problem.code !== "field-missing" || problem.path.length !== 1) return problem;
  const { code } = problem;
  switch (problem.path[0]) {
    case "identity":
      return { code, path: [], message: "missing name=..." };
    case "command":
      return { code, path: [], message: 'missing command="..."', hint: 'write command="program argument"' };
    default:
      return {
        code,
        path: [],
        message: "missing schedule",
        hint: "five fields, a macro like @hourly, @every(90s) or @at(2026-12-01T03:00) come first",
      };
  }
}

function placed(problem: Problem, { origins }: LineDefinition, line: string, first: number): LineProblem {
  for (let depth = problem.path.length; depth > 0; depth--) {
    const origin = originAt(problem.path.slice(0, depth), origins);
    if (origin === null) continue;
    const isWhole = depth === problem.path.length;
    if (isWhole && KEY_CODES.has(problem.code) && origin.name !== undefined) return { problem, ...origin.name };
    return { problem, ...originStretch(origin, isWhole ? problem.span : undefined, line) };
  }
  return { problem, start: first, end: first + 1 };
}
