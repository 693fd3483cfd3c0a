/**
 * The schedule of a crontab line, read by the grammar of cron itself (Vixie's, as Debian's cron and cronie have it), and
 * put into the `kron` dialect. The two mostly agree; where they do not, the two meanings are compared over every day
 * there is, and what cannot be said here is refused rather than said differently.
 */

import { memoised } from "../../base/memo.js";
import type { Problem } from "../../base/problem.js";
import { err, ok, type Result } from "../../base/result.js";
import { CRON_FIELD_NAMES, CRON_FIELD_RANGES, type CronFieldName, type CronFields } from "../../cron/fields.js";
import { parseKronCron } from "../../cron/kron-dialect.js";
import { REBOOT } from "../../cron/reboot.js";
import { daysInMonth } from "../../time/civil.js";

export interface CrontabSchedule {
  /** In the `kron` dialect; as written, with one blank between fields, wherever that means the same. */
  readonly text: string;
  readonly isAsWritten: boolean;
  /**
   * Neither minutes nor hours begin with `*`. Cron runs such a line once a day it names, whatever the clock does: late
   * when a change of the clock skips its time, and not again when its time is repeated.
   */
  readonly isFixedTime: boolean;
}

/** What is wrong, and with which of the words. */
interface ScheduleProblem {
  readonly word: number;
  readonly problem: Problem;
}

type ScheduleReading = Result<CrontabSchedule, ScheduleProblem>;

/** What cron makes of five fields. */
interface CronTable {
  readonly values: readonly (readonly number[])[];
  /** Begins with `*`, also when a step follows: then both day fields must match, otherwise one of them suffices. */
  readonly dayHasStar: boolean;
  readonly weekdayHasStar: boolean;
}

const DAY = 2;
const MONTH = 3;
const WEEKDAY = 4;
const LEAP_YEAR = 2000;
/** Room for every minute of the hour, twice and with leading zeros. */
const LONGEST_FIELD = 512;

/** Cron knows them in lower case only. */
const MACROS: ReadonlySet<string> = new Set([
  "@hourly",
  "@daily",
  "@midnight",
  "@weekly",
  "@monthly",
  "@yearly",
  "@annually",
]);

/** Schedules of Kron's own, whose time follows as another word. */
const OWN_MACROS = /^@(?:at|every)$/i;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** `words`: one macro, or the five fields. */
export function readCrontabSchedule(words: readonly string[]): ScheduleReading {
  return readingOf(words.join(" "));
}

const readingOf = memoised((text): ScheduleReading => {
  return text.startsWith("@") ? readMacro(text) : readFields(text.split(" "));
});

function readMacro(macro: string): ScheduleReading {
  // To cron @hourly is a line with a star for its hours.
  if (MACROS.has(macro)) return ok({ text: macro, isAsWritten: true, isFixedTime: macro !== "@hourly" });
  if (macro === REBOOT) return ok({ text: macro, isAsWritten: true, isFixedTime: false });
  const hint = OWN_MACROS.test(macro)
    ? "write a job of Kron's own: every: 90s, at: 2026-12-01T03:00"
    : `write one of ${[...MACROS, REBOOT].join(" ")}`;
  return refuse(0, "cron-syntax", `cron does not know ${macro.slice(0, 20)}`, hint);
}

function readFields(words: readonly string[]): ScheduleReading {
  const values: (readonly number[])[] = [];
  for (const [index, field] of CRON_FIELD_NAMES.entries()) {
    const read = fieldValues(field, words[index] ?? "");
    if (!read.ok) return err({ word: index, problem: inField(field, read.error) });
    values.push(read.value);
  }
  const [minute, hour, day, , weekday] = words.map((word) => word.startsWith("*"));
  const table: CronTable = { values, dayHasStar: day === true, weekdayHasStar: weekday === true };
  return translated(words, table, minute !== true && hour !== true);
}

function translated(words: readonly string[], table: CronTable, isFixedTime: boolean): ScheduleReading {
  const written = words.join(" ");
  const plain = parseKronCron(written);
  if (plain.ok && hasSameMeaning(table, plain.value)) return ok({ text: written, isAsWritten: true, isFixedTime });
  if (!plain.ok && plain.error.code === "cron-impossible") return err({ word: DAY, problem: plain.error });
  const text = words.map((word, index) => fieldText(word, index, table)).join(" ");
  const other = parseKronCron(text);
  if (other.ok && hasSameMeaning(table, other.value)) return ok({ text, isAsWritten: false, isFixedTime });
  if (!other.ok) return err({ word: 0, problem: other.error });
  return refuse(
    WEEKDAY,
    "cron-syntax",
    `to cron a day field that begins with * demands both ${words[DAY]} and ${words[WEEKDAY]}; here one of two restricted day fields suffices`,
    "name the days without a step, or let one field be * and put the other into constraints",
  );
}

/** The field as it is, where the dialect reads it alike, or its values. */
function fieldText(word: string, index: number, { values, dayHasStar, weekdayHasStar }: CronTable): string {
  const field = CRON_FIELD_NAMES[index] as CronFieldName;
  const own = values[index] as readonly number[];
  const { min, max } = CRON_FIELD_RANGES[field];
  const isDayField = index === DAY || index === WEEKDAY;
  if (isDayField && (dayHasStar || weekdayHasStar) && own.length === max - min + 1) return "*";
  const probe = parseKronCron(CRON_FIELD_NAMES.map((name) => (name === field ? word : "*")).join(" "));
  const isReadAlike = probe.ok && equal(own, valuesOf(probe.value)[index] ?? []);
  return isReadAlike ? word : listText(own);
}

function listText(values: readonly number[]): string {
  const [first = 0, second = first] = values;
  const last = values.at(-1) ?? first;
  const step = second - first;
  const isRegular = values.length > 2 && values.every((value, index) => value === first + index * step);
  if (isRegular) return step === 1 ? `${first}-${last}` : `${first}-${last}/${step}`;
  return values.join(",");
}

function valuesOf({ minutes, hours, days, months, weekdays }: CronFields): readonly (readonly number[])[] {
  return [minutes, hours, days, months, weekdays];
}

/** The day rules are compared on every pair of day and weekday: in 400 years all of them occur. */
function hasSameMeaning(table: CronTable, fields: CronFields): boolean {
  const own = valuesOf(fields);
  const times = [0, 1, MONTH];
  if (!times.every((index) => equal(table.values[index] ?? [], own[index] ?? []))) return false;
  const longest = Math.max(...fields.months.map((month) => daysInMonth(LEAP_YEAR, month)));
  for (let day = 1; day <= longest; day++) {
    for (let weekday = 0; weekday < 7; weekday++) {
      if (cronMatches(table, day, weekday) !== kronMatches(fields, day, weekday)) return false;
    }
  }
  return true;
}

function cronMatches({ values, dayHasStar, weekdayHasStar }: CronTable, day: number, weekday: number): boolean {
  const isDay = values[DAY]?.includes(day) === true;
  const isWeekday = values[WEEKDAY]?.includes(weekday) === true;
  return dayHasStar || weekdayHasStar ? isDay && isWeekday : isDay || isWeekday;
}

/** S3: only a literal `*` leaves a day field unrestricted. */
function kronMatches(fields: CronFields, day: number, weekday: number): boolean {
  const isDay = fields.days.includes(day);
  const isWeekday = fields.weekdays.includes(weekday);
  return fields.dayIsStar || fields.weekdayIsStar ? isDay && isWeekday : isDay || isWeekday;
}

function equal(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

type FieldTrouble = Pick<Problem, "code" | "message" | "hint">;

function fieldValues(field: CronFieldName, text: string): Result<readonly number[], FieldTrouble> {
  if (text.length > LONGEST_FIELD) {
    return err({ code: "limit-exceeded", message: `longer than ${LONGEST_FIELD} characters` });
  }
  const values = new Set<number>();
  for (const element of text.split(",")) {
    const read = readElement(field, element);
    if (!read.ok) return read;
    for (const value of read.value) values.add(field === "weekday" ? value % 7 : value);
  }
  return ok([...values].sort((a, b) => a - b));
}

const ELEMENT = /^(?:\*|(?<from>\d{1,9}|[a-z]+)(?:-(?<to>\d{1,9}|[a-z]+))?)(?:\/(?<step>\d{1,9}))?$/i;

function readElement(field: CronFieldName, element: string): Result<readonly number[], FieldTrouble> {
  const { from: fromText, to: toText, step: stepText } = ELEMENT.exec(element)?.groups ?? {};
  if (!ELEMENT.test(element)) return err(unreadable(element));
  const bounds = CRON_FIELD_RANGES[field];
  // Sunday is 0 or 7 where it is written; a bare star ends with Saturday.
  const max = field === "weekday" ? 7 : bounds.max;
  const from = fromText === undefined ? bounds.min : numberOf(field, fromText);
  const to = toText === undefined ? (fromText === undefined ? bounds.max : from) : numberOf(field, toText);
  if (from === null || to === null) return err(unreadable(element));
  const step = Number(stepText ?? 1);
  if (stepText !== undefined && fromText !== undefined && toText === undefined) return err(stepAfterNumber(from, step));
  if (step === 0) return err({ code: "cron-range", message: "a step is at least 1" });
  if (from > to) return err({ code: "cron-range", message: `the range ${element} runs backwards` });
  const values: number[] = [];
  for (let value = from; value <= to; value += step) {
    if (value < bounds.min || value > max) return err(outside(value, bounds.min, max));
    values.push(value);
  }
  return ok(values);
}

function numberOf(field: CronFieldName, text: string): number | null {
  if (/^\d/.test(text)) return Number(text);
  const names = field === "month" ? MONTHS : field === "weekday" ? WEEKDAYS : [];
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? null : index + CRON_FIELD_RANGES[field].min;
}

/** What the `kron` dialect knows, and no cron. */
const OWN_DAYS = /^(L|\w+#\w+)$/i;

function unreadable(element: string): FieldTrouble {
  if (element === "") return { code: "cron-syntax", message: "an element of the list is empty" };
  if (element.includes("~")) {
    const hint = "write the first value, and a window for the rest of the range";
    return { code: "cron-syntax", message: "~ (a random value) is not supported", hint };
  }
  const message = `cron does not know "${element.slice(0, 40)}"`;
  if (!OWN_DAYS.test(element)) return { code: "cron-syntax", message };
  return { code: "cron-syntax", message, hint: "write a job of Kron's own: its schedules know L, MON#2 and MON#L" };
}

/** Debian's cron reads `5/15` as 5, cronie refuses it, and people mean `5-59/15`. */
function stepAfterNumber(from: number, step: number): FieldTrouble {
  const message = `crons disagree about ${from}/${step}: some ignore the step, others refuse the line`;
  return { code: "cron-syntax", message, hint: `write ${from}, or a range such as */${step}` };
}

function outside(value: number, min: number, max: number): FieldTrouble {
  return { code: "cron-range", message: `${value} is out of range`, hint: `write ${min} to ${max}` };
}

function inField(field: CronFieldName, { code, message, hint }: FieldTrouble): Problem {
  return { code, message: `${field} field: ${message}`, path: [], ...(hint === undefined ? {} : { hint }) };
}

function refuse(word: number, code: Problem["code"], message: string, hint: string): ScheduleReading {
  return err({ word, problem: { code, message, path: [], hint } });
}
