/** `calendars` of a YAML file: names for days, written beside them or in a file of dates, for the jobs of that file. */
import { z } from "zod";
import { LIMITS } from "../../base/limits.js";
import { type Problem, problemAt } from "../../base/problem.js";
import { calendarNameProblem } from "../../decision/constraint/calendar.js";
import type { Calendars } from "../../decision/constraint/calendars.js";
import { readDays } from "../../decision/constraint/date.js";
import { type IntRange, mergedRanges } from "../../decision/constraint/kind.js";
import { describeValue, problemsOfIssues } from "../../job/issues.js";
import { didYouMean } from "../../job/suggest.js";

/** The days of files of dates, by their paths as they are written; null: it cannot be used, and that has been told. */
export type CalendarFiles = ReadonlyMap<string, readonly IntRange[] | null>;

export const NO_CALENDAR_FILES: CalendarFiles = new Map();

const CALENDAR_SHAPE = z
  .strictObject({
    dates: z
      .union([z.string(), z.array(z.string())])
      .meta({
        description: "Days, YYYY-MM-DD, and ranges of days, A..B with both ends included.",
        examples: [["2026-12-25", "2026-12-31..2027-01-01"]],
      })
      .optional(),
    file: z
      .string()
      .meta({
        description: "An iCalendar file with events of whole days; relative to this file.",
        examples: ["holidays.ics"],
      })
      .optional(),
  })
  .meta({ description: "A calendar: the days of dates and of file together." });

export const CALENDARS_FIELD = z.record(z.string(), CALENDAR_SHAPE).meta({
  description: "Names for days, for the jobs of this file: constraints: { avoid: calendar=NAME }.",
});

interface ReadCalendars {
  readonly calendars: Calendars;
  readonly problems: readonly Problem[];
}

/** Reads what stands under `calendars`; a calendar with any problem is known, and cannot be used. */
export function readCalendars(raw: unknown, files: CalendarFiles): ReadCalendars {
  const known = new Map<string, readonly IntRange[] | null>();
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    const message = `expected a mapping of calendars, got ${describeValue(raw)}`;
    return { calendars: knownCalendars(known), problems: [{ code: "field-type", message, path: ["calendars"] }] };
  }
  const problems: Problem[] = [];
  const entries = Object.entries(raw);
  if (entries.length > LIMITS.calendars) {
    const message = `${entries.length} calendars, more than the limit of ${LIMITS.calendars}`;
    problems.push({ code: "limit-exceeded", message, path: ["calendars"] });
  }
  for (const [name, value] of entries.slice(0, LIMITS.calendars)) {
    const own: Problem[] = [];
    const ranges = readCalendar(name, value, files, own);
    known.set(name, own.length === 0 ? ranges : null);
    problems.push(...own.map((problem) => problemAt(problem, "calendars", name)));
  }
  return { calendars: knownCalendars(known), problems };
}

function readCalendar(
  name: string,
  raw: unknown,
  files: CalendarFiles,
  problems: Problem[],
): readonly IntRange[] | null {
  const wrongName = calendarNameProblem(name);
  // The code is one of those that point at a key.
  if (wrongName !== null) problems.push({ code: "field-unknown", path: [], ...wrongName });
  const shaped = CALENDAR_SHAPE.safeParse(raw);
  if (!shaped.success) {
    problems.push(...problemsOfIssues(shaped.error.issues, raw, CALENDAR_SHAPE));
    return null;
  }
  const { dates, file } = shaped.data;
  const written = dates === undefined ? [] : readDates(dates, problems);
  const fromFile = file === undefined ? [] : filedDates(file, files, problems);
  if (fromFile === null) return null;
  const ranges = mergedRanges([...written, ...fromFile]);
  const wrong = wrongCount(ranges);
  if (wrong !== null && problems.length === 0) problems.push(wrong);
  return ranges;
}

function wrongCount({ length }: readonly IntRange[]): Problem | null {
  if (length === 0) {
    const hint = "write dates: [2026-12-25, 2026-12-31..2027-01-01], or file: with the name of an iCalendar file";
    return { code: "calendar-invalid", message: "the calendar has no dates", path: [], hint };
  }
  if (length <= LIMITS.calendarDates) return null;
  const message = `the calendar has ${length} separate days and ranges, more than the limit of ${LIMITS.calendarDates}`;
  const hint = "leave out years that are over, or let repeated events end with UNTIL";
  return { code: "limit-exceeded", message, path: [], hint };
}

function readDates(dates: string | readonly string[], problems: Problem[]): readonly IntRange[] {
  const list = typeof dates === "string" ? [dates] : dates;
  return list.slice(0, LIMITS.calendarOccurrences).flatMap((text, index) => {
    const own: Problem[] = [];
    const range = readDays({ text: text.trim(), start: 0, end: text.length }, own);
    const path = typeof dates === "string" ? ["dates"] : ["dates", index];
    if (problems.length < LIMITS.problemsPerJob) problems.push(...own.map((problem) => problemAt(problem, ...path)));
    return range === null ? [] : [range];
  });
}

function filedDates(file: string, files: CalendarFiles, problems: Problem[]): readonly IntRange[] | null {
  const ranges = files.get(file);
  if (ranges !== undefined) return ranges;
  const message = "the file was not read";
  const hint = "write calendars: at the beginning of a line, the calendars below it, and no aliases in them";
  problems.push({ code: "calendar-invalid", message, path: ["file"], hint });
  return null;
}

function knownCalendars(known: ReadonlyMap<string, readonly IntRange[] | null>): Calendars {
  const names = [...known.keys()];
  return {
    rangesOf: (name) => known.get(name),
    hintFor: (name) => didYouMean(name, names) ?? (names.length === 0 ? NONE_HERE : `known here: ${names.join(", ")}`),
  };
}

const NONE_HERE = "define it in this file: calendars: { NAME: { dates: [2026-12-25] } } beside jobs:";
