/** Times of day, to the minute, both ends included: `between=22:00-06:00`. */
import type { Problem } from "../../base/problem.js";
import { MINUTE_MS } from "../../time/instant.js";
import { type ConstraintKind, type IntRange, listOf, rangeOf } from "./kind.js";
import { type Piece, problem, quote, splitOnce } from "./pieces.js";

const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;

export const BETWEEN: ConstraintKind = {
  words: ["between"],
  read: listOf((_, element, problems) => readTimes(element, problems)),
  format: ({ ranges }) =>
    `between=${ranges.map(({ from, to }) => `${formatMinute(from)}-${formatMinute(to)}`).join(",")}`,
  judged: (_, minute) => minute,
  grainMs: MINUTE_MS,
};

function readTimes(element: Piece, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "-");
  if (second === undefined) {
    const message = `${quote(element.text)} is not a range of times`;
    problems.push(problem("constraint-syntax", element, message, "write HH:MM-HH:MM, both ends included"));
    return null;
  }
  const from = readTime(first, problems);
  const to = readTime(second, problems);
  return from === null || to === null ? null : rangeOf(from, to);
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

function formatMinute(minuteOfDay: number): string {
  const hour = Math.floor(minuteOfDay / MINUTES_PER_HOUR);
  return `${pad2(hour)}:${pad2(minuteOfDay - hour * MINUTES_PER_HOUR)}`;
}

function pad2(value: number): string {
  return String(value).padStart(2, "0");
}
