/**
 * Reads constraint clauses such as `dow=MON-FRI;between=22:00-06:00`:
 *
 *     text    = clause *( ";" clause )            ; an empty text has no clauses
 *     clause  = word "=" element *( "," element )
 *     element = value | value "-" value           ; hours, dow, dom, months
 *             | HH:MM "-" HH:MM                   ; between
 *             | DATE                              ; date
 *             | DATE | DATE ".." DATE             ; dates
 *
 * Elements are read by their kinds (`constraint/`). Blanks around separators do not matter, nor does the case of names.
 * All problems are collected, each with its place in the text.
 */
import { LIMITS } from "../base/limits.js";
import type { Problem, TextSpan } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { type Piece, problem, quote, split, splitOnce } from "./constraint/pieces.js";
import { CLAUSE_WORDS, CONSTRAINT_KINDS } from "./constraint/table.js";
import type { Clause } from "./rule.js";

/** Bounds the work of judging one candidate. */
export const RANGES_PER_CLAUSE = 1024;

export function parseConstraintText(text: string): Result<readonly Clause[], readonly Problem[]> {
  const whole: Piece = { text, start: 0, end: text.length };
  if (text.trim() === "") {
    return ok([]);
  }
  const problems: Problem[] = [];
  const pieces = split(whole, ";");
  if (pieces.length > LIMITS.clausesPerJob) {
    return err([tooMany(whole, pieces.length, "clauses", LIMITS.clausesPerJob)]);
  }
  const clauses = pieces.map((piece) => readClause(piece, problems)).filter((clause) => clause !== null);
  return problems.length === 0 ? ok(Object.freeze(clauses)) : err(problems);
}

function readClause(piece: Piece, problems: Problem[]): Clause | null {
  const [wordPiece, valuePiece] = splitOnce(piece, "=");
  if (valuePiece === undefined) {
    const what = piece.text === "" ? "empty clause" : `${quote(piece.text)} is not a clause`;
    problems.push(problem("constraint-syntax", piece, what, "write kind=value, for example dow=MON-FRI"));
    return null;
  }
  const word = wordPiece.text;
  const kind = CLAUSE_WORDS.get(word);
  if (kind === undefined) {
    const hint = `write one of ${[...CLAUSE_WORDS.keys()].join(", ")}`;
    problems.push(problem("constraint-syntax", wordPiece, `unknown constraint kind ${quote(word)}`, hint));
    return null;
  }
  const elements = split(valuePiece, ",");
  if (elements.length > RANGES_PER_CLAUSE) {
    problems.push(tooMany(valuePiece, elements.length, "values in one clause", RANGES_PER_CLAUSE));
    return null;
  }
  const { read } = CONSTRAINT_KINDS[kind];
  const ranges = elements.map((element) => read(word, element, problems)).filter((range) => range !== null);
  return Object.freeze({ kind, ranges: Object.freeze(ranges) });
}

function tooMany(where: TextSpan, count: number, what: string, limit: number): Problem {
  return problem("limit-exceeded", where, `${count} ${what}, more than the limit of ${limit}`);
}
