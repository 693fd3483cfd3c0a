/**
 * Reads constraint clauses such as `dow=MON-FRI;between=22:00-06:00`:
 *
 *     text    = clause *( ";" clause )            ; an empty text has no clauses
 *     clause  = word "=" element *( "," element )
 *     element = value | value "-" value           ; hours, dow, dom, months
 *             | HH:MM "-" HH:MM                   ; between
 *             | DATE                              ; date
 *             | DATE | DATE ".." DATE             ; dates
 *             | NAME | NAME "(" dates ")"         ; calendar: with its dates where it is written down
 *
 * Elements are read by their kinds (`constraint/`). Blanks around separators do not matter, nor does the case of names.
 * All problems are collected, each with its place in the text.
 */
import { LIMITS } from "../base/limits.js";
import type { Problem, TextSpan } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { type Calendars, NO_CALENDARS } from "./constraint/calendars.js";
import type { ClauseReading } from "./constraint/kind.js";
import { type Piece, problem, quote, split, splitOnce } from "./constraint/pieces.js";
import { CLAUSE_WORDS, CONSTRAINT_KINDS } from "./constraint/table.js";
import type { Clause } from "./rule.js";

/** `calendars` are those that may be called by their names alone. */
export function parseConstraintText(
  text: string,
  calendars: Calendars = NO_CALENDARS,
): Result<readonly Clause[], readonly Problem[]> {
  const whole: Piece = { text, start: 0, end: text.length };
  if (text.trim() === "") {
    return ok([]);
  }
  const problems: Problem[] = [];
  const pieces = split(whole, ";");
  if (pieces.length > LIMITS.clausesPerJob) {
    return err([tooMany(whole, pieces.length, "clauses", LIMITS.clausesPerJob)]);
  }
  const clauses = pieces.flatMap((piece) => readClause(piece, { problems, calendars }));
  return problems.length === 0 ? ok(Object.freeze(clauses)) : err(problems);
}

function readClause(piece: Piece, reading: ClauseReading): readonly Clause[] {
  const { problems } = reading;
  const [wordPiece, valuePiece] = splitOnce(piece, "=");
  if (valuePiece === undefined) {
    const what = piece.text === "" ? "empty clause" : `${quote(piece.text)} is not a clause`;
    problems.push(problem("constraint-syntax", piece, what, "write kind=value, for example dow=MON-FRI"));
    return [];
  }
  const word = wordPiece.text;
  const kind = CLAUSE_WORDS.get(word);
  if (kind === undefined) {
    const hint = `write one of ${[...CLAUSE_WORDS.keys()].join(", ")}`;
    problems.push(problem("constraint-syntax", wordPiece, `unknown constraint kind ${quote(word)}`, hint));
    return [];
  }
  return CONSTRAINT_KINDS[kind].read(word, valuePiece, reading).map((body) => Object.freeze({ kind, ...body }));
}

function tooMany(where: TextSpan, count: number, what: string, limit: number): Problem {
  return problem("limit-exceeded", where, `${count} ${what}, more than the limit of ${limit}`);
}
