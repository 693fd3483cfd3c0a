/**
 * Days under a name: `calendar=de-holidays`, where calendars are known, and `calendar=de-holidays(2026-12-25..2026-12-26)`
 * anywhere. The dates are part of the canonical text, so that whatever was read once needs nothing beside it.
 */
import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import { formatDay, formatDays, readDays } from "./date.js";
import {
  type ClauseBody,
  type ClauseReading,
  type ConstraintKind,
  type IntRange,
  mergedRanges,
  QUARTER_MS,
} from "./kind.js";
import { type Piece, problem, quote, split, splitOnce, trimmed } from "./pieces.js";

/** A calendar with more ranges than that is summed up for people. */
const SHOWN_RANGES = 4;
const NAME = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${LIMITS.calendarNameChars - 1}}$`);
const NAME_HINT = `letters, digits, ".", "_" and "-", at most ${LIMITS.calendarNameChars} of them`;

export const CALENDAR: ConstraintKind = {
  words: ["calendar"],
  read: (_, value, reading) => splitNames(value).flatMap((element) => readCalendar(element, reading)),
  format: ({ name, ranges }) => `calendar=${name}(${textOf(ranges)})`,
  brief,
  judged: (days) => days,
  grainMs: QUARTER_MS,
};

/** Many jobs share the days of a calendar, and their texts all say them. */
const texts = new WeakMap<readonly IntRange[], string>();

function textOf(ranges: readonly IntRange[]): string {
  const known = texts.get(ranges);
  if (known !== undefined) return known;
  const text = ranges.map(formatDays).join(",");
  texts.set(ranges, text);
  return text;
}

export function calendarNameProblem(name: string): { readonly message: string; readonly hint: string } | null {
  return NAME.test(name) ? null : { message: `${quote(name)} is not a name for a calendar`, hint: NAME_HINT };
}

function brief({ name, ranges }: ClauseBody, value: number | null): string {
  const shown = value === null ? ranges : ranges.filter(({ from, to }) => from <= value && value <= to);
  if (shown.length <= SHOWN_RANGES) return `calendar=${name}(${shown.map(formatDays).join(",")})`;
  const days = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return `calendar=${name}(${days} days, ${formatDay(ranges[0]?.from ?? 0)} to ${formatDay(ranges.at(-1)?.to ?? 0)})`;
}

/** At the commas that stand in no parentheses. */
function splitNames(value: Piece): readonly Piece[] {
  const pieces: Piece[] = [];
  let isInside = false;
  let start = 0;
  for (let at = 0; at <= value.text.length; at++) {
    const char = value.text[at] ?? ",";
    if (char === "(") isInside = true;
    else if (char === ")") isInside = false;
    if (at < value.text.length && (char !== "," || isInside)) continue;
    pieces.push(trimmed(value.text.slice(start, at), value.start + start));
    start = at + 1;
  }
  return pieces;
}

function readCalendar(element: Piece, { problems, calendars }: ClauseReading): readonly ClauseBody[] {
  const [namePiece, rest] = splitOnce(element, "(");
  const name = namePiece.text;
  const wrongName = calendarNameProblem(name);
  if (wrongName !== null) {
    problems.push(problem("constraint-syntax", namePiece, wrongName.message, wrongName.hint));
    return [];
  }
  if (rest !== undefined) return writtenDates(name, rest, problems);
  const ranges = calendars.rangesOf(name);
  if (ranges === undefined) {
    problems.push(problem("calendar-unknown", element, `unknown calendar ${quote(name)}`, calendars.hintFor(name)));
  } else if (ranges === null) {
    const hint = "what is wrong with it is told where it is defined";
    problems.push(problem("calendar-invalid", element, `the calendar ${quote(name)} cannot be used`, hint));
  }
  return ranges === undefined || ranges === null ? [] : [{ name, ranges }];
}

/** `rest` is what stands behind the opening parenthesis. */
function writtenDates(name: string, rest: Piece, problems: Problem[]): readonly ClauseBody[] {
  if (!rest.text.endsWith(")")) {
    const hint = `write calendar=${name}(2026-12-25,2026-12-31..2027-01-01)`;
    problems.push(problem("constraint-syntax", rest, "the dates of a calendar end with a parenthesis", hint));
    return [];
  }
  const elements = split({ ...rest, text: rest.text.slice(0, -1), end: rest.end - 1 }, ",");
  if (elements.length > LIMITS.calendarDates) {
    const message = `${elements.length} dates in a calendar, more than the limit of ${LIMITS.calendarDates}`;
    problems.push(problem("limit-exceeded", rest, message));
    return [];
  }
  const ranges = elements.map((element) => readDays(element, problems)).filter((range) => range !== null);
  return [{ name, ranges: mergedRanges(ranges) }];
}
