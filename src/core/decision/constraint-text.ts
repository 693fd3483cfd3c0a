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
 * Blanks around separators do not matter, nor does the case of names. All problems are collected, each with its place
 * in the text.
 */
import type { ErrorCode } from "../base/errors/registry.js";
import { LIMITS } from "../base/limits.js";
import type { Problem, TextSpan } from "../base/problem.js";
import { assertNever, err, ok, type Result } from "../base/result.js";
import {
  CLAUSE_WORDS,
  type ClauseWord,
  daysOfDate,
  HOURS_PER_DAY,
  LIST_KINDS,
  type ListKind,
  MINUTES_PER_HOUR,
} from "./constraint-kinds.js";
import type { Clause, IntRange } from "./rule.js";

/** Bounds the work of judging one candidate. */
export const RANGES_PER_CLAUSE = 1024;

/** A part of the text without outer blanks, and where it is. */
interface Piece extends TextSpan {
  readonly text: string;
}

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
  if (wordPiece === undefined || valuePiece === undefined) {
    const what = piece.text === "" ? "empty clause" : `${quote(piece.text)} is not a clause`;
    problems.push(problem("constraint-syntax", piece, what, "write kind=value, for example dow=MON-FRI"));
    return null;
  }
  const word = CLAUSE_WORDS.find((known) => known === wordPiece.text);
  if (word === undefined) {
    const message = `unknown constraint kind ${quote(wordPiece.text)}`;
    problems.push(problem("constraint-syntax", wordPiece, message, `write one of ${CLAUSE_WORDS.join(", ")}`));
    return null;
  }
  const elements = split(valuePiece, ",");
  if (elements.length > RANGES_PER_CLAUSE) {
    problems.push(tooMany(valuePiece, elements.length, "values in one clause", RANGES_PER_CLAUSE));
    return null;
  }
  const ranges = elements.map((element) => readElement(word, element, problems)).filter((range) => range !== null);
  return Object.freeze({ kind: word === "dates" ? "date" : word, ranges: Object.freeze(ranges) });
}

function readElement(word: ClauseWord, element: Piece, problems: Problem[]): IntRange | null {
  switch (word) {
    case "hours":
    case "dow":
    case "dom":
    case "months":
      return readListElement(word, element, problems);
    case "between":
      return readTimes(element, problems);
    case "date":
      return readDates(element, false, problems);
    case "dates":
      return readDates(element, true, problems);
    default:
      return assertNever(word, "constraint kind");
  }
}

function readListElement(kind: ListKind, element: Piece, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "-");
  const from = first === undefined ? null : readListValue(kind, first, problems);
  const to = second === undefined ? from : readListValue(kind, second, problems);
  return from === null || to === null ? null : listRange(kind, from, to);
}

/** Writes Sunday as 0 at both ends, without turning the whole week `0-7` into a Sunday. */
function listRange(kind: ListKind, from: number, to: number): IntRange {
  if (kind !== "dow") {
    return range(from, to);
  }
  return from === 0 && to === 7 ? range(0, 6) : range(from % 7, to % 7);
}

function readListValue(kind: ListKind, piece: Piece, problems: Problem[]): number | null {
  const { min, max, names } = LIST_KINDS[kind];
  const named = names.indexOf(piece.text.toUpperCase());
  if (named >= 0) {
    return named + min;
  }
  const hint = names.length === 0 ? `write ${min}-${max}` : `write ${min}-${max} or ${names.join(", ")}`;
  if (!/^\d+$/.test(piece.text)) {
    problems.push(problem("constraint-syntax", piece, `${quote(piece.text)} is not a value of ${kind}`, hint));
    return null;
  }
  const value = Number(piece.text);
  if (value < min || value > max) {
    problems.push(problem("constraint-range", piece, `${quote(piece.text)} is out of range for ${kind}`, hint));
    return null;
  }
  return value;
}

function readTimes(element: Piece, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "-");
  if (first === undefined || second === undefined) {
    const message = `${quote(element.text)} is not a range of times`;
    problems.push(problem("constraint-syntax", element, message, "write HH:MM-HH:MM, both ends included"));
    return null;
  }
  const from = readTime(first, problems);
  const to = readTime(second, problems);
  return from === null || to === null ? null : range(from, to);
}

function readTime(piece: Piece, problems: Problem[]): number | null {
  const match = /^(\d\d):(\d\d)$/.exec(piece.text);
  if (match === null) {
    const hint = "write HH:MM with two digits each";
    problems.push(problem("constraint-syntax", piece, `${quote(piece.text)} is not a time of day`, hint));
    return null;
  }
  const hour = Number(match[1]);
  const minute = Number(match[2]);
  if (hour >= HOURS_PER_DAY || minute >= MINUTES_PER_HOUR) {
    const hint = "times go from 00:00 to 23:59; the end is included";
    problems.push(problem("constraint-range", piece, `${quote(piece.text)} is not a time of day`, hint));
    return null;
  }
  return hour * MINUTES_PER_HOUR + minute;
}

function readDates(element: Piece, rangesAllowed: boolean, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "..");
  const from = first === undefined ? null : readDate(first, problems);
  const to = second === undefined ? from : readDate(second, problems);
  if (from === null || to === null) {
    return null;
  }
  if (second !== undefined && !rangesAllowed) {
    const message = `${quote(element.text)} is a range of dates`;
    problems.push(problem("constraint-syntax", element, message, `write dates=${element.text}`));
    return null;
  }
  if (from > to) {
    const message = `${quote(element.text)} ends before it begins`;
    problems.push(problem("constraint-range", element, message, "a range of dates does not wrap"));
    return null;
  }
  return range(from, to);
}

function readDate(piece: Piece, problems: Problem[]): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(piece.text);
  if (match === null) {
    problems.push(problem("constraint-syntax", piece, `${quote(piece.text)} is not a date`, "write YYYY-MM-DD"));
    return null;
  }
  const days = daysOfDate(Number(match[1]), Number(match[2]), Number(match[3]));
  if (days === null) {
    problems.push(problem("constraint-range", piece, `there is no day ${piece.text}`));
  }
  return days;
}

function range(from: number, to: number): IntRange {
  return Object.freeze({ from, to });
}

function split(piece: Piece, separator: string): Piece[] {
  const pieces: Piece[] = [];
  let start = piece.start;
  for (const part of piece.text.split(separator)) {
    pieces.push(trimmed(part, start));
    start += part.length + separator.length;
  }
  return pieces;
}

/** Before and after the first separator; the second is missing when there is none. */
function splitOnce(piece: Piece, separator: string): [Piece, Piece?] {
  const at = piece.text.indexOf(separator);
  if (at < 0) {
    return [piece];
  }
  const rest = at + separator.length;
  return [trimmed(piece.text.slice(0, at), piece.start), trimmed(piece.text.slice(rest), piece.start + rest)];
}

function trimmed(part: string, start: number): Piece {
  const text = part.trim();
  const begin = start + (part.length - part.trimStart().length);
  return text === "" ? { text, start, end: start + part.length } : { text, start: begin, end: begin + text.length };
}

function tooMany(where: TextSpan, count: number, what: string, limit: number): Problem {
  return problem("limit-exceeded", where, `${count} ${what}, more than the limit of ${limit}`);
}

function problem(code: ErrorCode, { start, end }: TextSpan, message: string, hint?: string): Problem {
  return { code, message, path: [], span: { start, end }, ...(hint === undefined ? {} : { hint }) };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}...` : text);
}
