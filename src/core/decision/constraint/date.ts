/** Civil days, counted since 1970-01-01. `date=` names days, `dates=` ranges of them too: two spellings of one kind. */
import type { Problem } from "../../base/problem.js";
import { daysFromCivil, daysInMonth } from "../../time/civil.js";
import { DAY_MS, formatInstant } from "../../time/instant.js";
import { type ConstraintKind, type IntRange, listOf, QUARTER_MS, rangeOf } from "./kind.js";
import { type Piece, problem, quote, splitOnce } from "./pieces.js";

export const DATE: ConstraintKind = {
  words: ["date", "dates"],
  read: listOf((word, element, problems) => readDates(element, word === "dates", problems)),
  format: ({ ranges }) =>
    `${ranges.every(({ from, to }) => from === to) ? "date" : "dates"}=${ranges.map(formatDays).join(",")}`,
  judged: (days) => days,
  grainMs: QUARTER_MS,
};

/** A day or a range of days, `A..B`, as days since 1970-01-01; null when it is wrong, which is noted. */
export function readDays(element: Piece, problems: Problem[]): IntRange | null {
  return readDates(element, true, problems);
}

function readDates(element: Piece, rangesAllowed: boolean, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "..");
  const from = readDate(first, problems);
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
  return rangeOf(from, to);
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

/** Days since 1970-01-01, or null for a day that no calendar has. */
export function daysOfDate(year: number, month: number, day: number): number | null {
  const exists = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return exists ? daysFromCivil(year, month, day) : null;
}

export function formatDays({ from, to }: IntRange): string {
  return from === to ? formatDay(from) : `${formatDay(from)}..${formatDay(to)}`;
}

export function formatDay(days: number): string {
  return formatInstant(days * DAY_MS).slice(0, "YYYY-MM-DD".length);
}
