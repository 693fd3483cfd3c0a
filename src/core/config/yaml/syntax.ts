/** Puts the YAML parser's complaints into words that help, one for each line, with the mistakes that cron invites. */
import type { YAMLParseError } from "yaml";
import type { Problem } from "../../base/problem.js";
import type { LineIndex } from "../located.js";
import type { YamlPiece } from "./pieces.js";
import type { YamlProblem } from "./values.js";

/** After so many a file is no YAML at all, and more of the same helps nobody. */
const SYNTAX_PROBLEMS = 20;

/** A field whose value begins with a character that YAML keeps for itself: `schedule: *\/5 * * * *`. */
const UNQUOTED = /^[ \t]*(?:- +)*([A-Za-z_]+): +([*@%`&!][^\r\n]*)/;

export function syntaxProblems(piece: YamlPiece, source: string, lines: LineIndex): YamlProblem[] {
  const problems = structureProblems(piece);
  let lastLine = -1;
  for (const error of piece.errors) {
    const start = Math.min(piece.toSource(error.pos[0]), source.length);
    const lineStart = start - lines.placeOf({ start, end: start }).column + 1;
    if (lineStart === lastLine) continue;
    lastLine = lineStart;
    problems.push(unquoted(source, lineStart) ?? described(error, start, piece));
    if (problems.length === SYNTAX_PROBLEMS) break;
  }
  return problems;
}

function structureProblems({ tooDeepAt, secondDocumentAt, toSource }: YamlPiece): YamlProblem[] {
  const problems: YamlProblem[] = [];
  if (tooDeepAt !== null) {
    const start = toSource(tooDeepAt);
    problems.push({ problem: syntax("values are nested too deeply"), start, end: start + 1 });
  }
  if (secondDocumentAt !== null) {
    const start = toSource(secondDocumentAt);
    const hint = "remove --- and put all jobs in one list";
    problems.push({ problem: syntax("a file holds one document", hint), start, end: start + 3 });
  }
  return problems;
}

function unquoted(source: string, lineStart: number): YamlProblem | null {
  const [whole, name = "", text = ""] = UNQUOTED.exec(lineAt(source, lineStart)) ?? [];
  if (whole === undefined) return null;
  const start = lineStart + whole.length - text.length;
  const shown = text.trim().replace(/\s+#.*$/, "");
  const message = `a text that begins with ${text[0]} needs quotes`;
  const hint = `write ${name}: ${JSON.stringify(shown.slice(0, 60))}`;
  return { problem: syntax(message, hint), start, end: start + shown.length };
}

function lineAt(source: string, lineStart: number): string {
  const end = source.indexOf("\n", lineStart);
  return source.slice(lineStart, Math.min(end < 0 ? source.length : end, lineStart + 1000));
}

function described(error: YAMLParseError, start: number, piece: YamlPiece): YamlProblem {
  const end = Math.max(start + 1, piece.toSource(error.pos[1]));
  switch (error.code) {
    case "NON_STRING_KEY":
      return { problem: syntax("a key must be a plain text"), start, end };
    case "BLOCK_AS_IMPLICIT_KEY":
      return {
        problem: syntax("a value contains another key", 'write a text that contains ": " in quotes'),
        start,
        end,
      };
    case "TAB_AS_INDENT":
      return { problem: syntax("tabs cannot be used for indentation", "use spaces"), start, end };
    default:
      return { problem: syntax(lowerFirst(error.message)), start, end };
  }
}

function syntax(message: string, hint?: string): Problem {
  return { code: "file-syntax", message, path: [], ...(hint === undefined ? {} : { hint }) };
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
