/**
 * From a calendar event to a schedule of the `kron` dialect that names the same minutes, wherever there is one. Weekdays
 * and days of the month must both hold for systemd; for cron either suffices, so that both together have to become
 * `MON#1`, or a schedule and a constraint.
 */
import { err, ok, type Result } from "../../base/result.js";
import { daysFromCivil, daysInMonth, weekdayOfDays } from "../../time/civil.js";
import { SECOND_MS } from "../../time/instant.js";
import type { CalendarEvent } from "./calendar.js";

interface EventSchedule {
  /** Five fields, or `@at` and the one time there is; null where the event is an interval. */
  readonly schedule: string | null;
  readonly everyMs: number | null;
  /** What no schedule says, as clauses: the weekdays on which the days of the schedule count. */
  readonly only: string | null;
  readonly notes: readonly string[];
}

/** Why an event cannot be said, and what can. */
interface Inexpressible {
  readonly message: string;
  readonly hint: string;
}

type Reading<T> = Result<T, Inexpressible>;

const WEEKDAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const SECONDS_PER_MINUTE = 60;
const LEAP_YEAR = 2000;
const USUAL_YEAR = 2001;

export function scheduleOfEvent(event: CalendarEvent): Reading<EventSchedule> {
  if (event.years !== null) return oneTime(event, event.years);
  const interval = secondsInterval(event);
  if (interval !== null) return interval;
  const days = dayFields(event);
  if (!days.ok) return days;
  const { day, weekday, only } = days.value;
  const minute = fieldText(event.minutes, 0, 59);
  const hour = fieldText(event.hours, 0, 23);
  const schedule = [minute, hour, day, fieldText(event.months, 1, 12), weekday].join(" ");
  const [second = 0] = event.seconds ?? [];
  const notes = second === 0 ? [] : [`schedules name minutes: it is due at second 0, not ${second}`];
  if (only !== null) notes.push(`days that ${only} leaves out are periods, too, and recorded as unschedulable`);
  return ok({ schedule, everyMs: null, only, notes });
}

/** A date with its year and one time of that day. */
function oneTime(event: CalendarEvent, years: readonly number[]): Reading<EventSchedule> {
  const parts = [years, event.months, event.days, event.hours, event.minutes, event.seconds];
  const values = parts.map((part) => (part?.length === 1 ? part[0] : undefined));
  const [year, month, day, hour, minute, second] = values;
  const hint = "leave the year out, or write a timer for each date and time";
  const isOne = year !== undefined && month !== undefined && day !== undefined && !event.isFromEnd;
  if (!isOne || hour === undefined || minute === undefined || second === undefined) {
    return refuse("with a year it has to be one date and one time", hint);
  }
  const date = [String(year), two(month), two(day)].join("-");
  if (day > daysInMonth(year, month)) return refuse(`there is no date ${date}`, hint);
  if (event.weekdays?.includes(weekdayOfDays(daysFromCivil(year, month, day))) === false) {
    return refuse(`${date} is none of its weekdays, so that it never comes`, hint);
  }
  const seconds = second === 0 ? "" : `:${two(second)}`;
  const schedule = `@at ${date}T${two(hour)}:${two(minute)}${seconds}`;
  return ok({ schedule, everyMs: null, only: null, notes: [] });
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Several seconds of a minute: `*:*:0/10` is an interval, the rest cannot be said. null: at most one second. */
function secondsInterval(event: CalendarEvent): Reading<EventSchedule> | null {
  const { seconds, weekdays, months, days, hours, minutes } = event;
  if (seconds !== null && seconds.length <= 1) return null;
  const step = seconds === null ? 1 : (seconds[1] ?? 0) - (seconds[0] ?? 0);
  const count = seconds?.length ?? SECONDS_PER_MINUTE;
  const isEven = count * step === SECONDS_PER_MINUTE && (seconds ?? [0]).every((value, i) => value === i * step);
  const isAlways = [weekdays, months, days, hours, minutes].every((part) => part === null);
  if (!isEven || !isAlways) {
    return refuse("schedules name minutes, and this names several seconds of one", "write every: 10s for an interval");
  }
  const notes = ["an interval counts from the start of the run before, not from the top of the minute"];
  return ok({ schedule: null, everyMs: step * SECOND_MS, only: null, notes });
}

interface DayFields {
  readonly day: string;
  readonly weekday: string;
  readonly only: string | null;
}

function dayFields({ days, weekdays, months, isFromEnd }: CalendarEvent): Reading<DayFields> {
  if (days === null) return ok({ day: "*", weekday: weekdays === null ? "*" : weekdayText(weekdays), only: null });
  if (isFromEnd) return daysFromEnd(days, weekdays, months);
  if (weekdays === null) return ok({ day: fieldText(days, 1, 31), weekday: "*", only: null });
  const weeks = wholeWeeks(days);
  if (weeks !== null) return ok({ day: "*", weekday: nthText(weekdays, weeks), only: null });
  return ok({ day: fieldText(days, 1, 31), weekday: "*", only: `dow=${weekdayText(weekdays)}` });
}

function daysFromEnd(
  days: readonly number[],
  weekdays: readonly number[] | null,
  months: readonly number[] | null,
): Reading<DayFields> {
  const [last = 0] = days;
  if (days.length === 1 && last === 1 && weekdays === null) return ok({ day: "L", weekday: "*", only: null });
  if (days.length === 7 && days.at(-1) === 7 && weekdays !== null) {
    return ok({ day: "*", weekday: nthText(weekdays, ["L"]), only: null });
  }
  const length = lengthOfMonths(months);
  if (length === null || weekdays !== null) {
    const hint = "the last day is L, the last Monday MON#L; other days before the end need months of one length";
    return refuse("these days before the end of a month have no schedule", hint);
  }
  const fromStart = days.map((day) => length + 1 - day).sort((a, b) => a - b);
  return ok({ day: fieldText(fromStart, 1, 31), weekday: "*", only: null });
}

/** null: they differ, or from year to year. */
function lengthOfMonths(months: readonly number[] | null): number | null {
  const lengths = new Set(
    (months ?? []).flatMap((month) => [LEAP_YEAR, USUAL_YEAR].map((year) => daysInMonth(year, month))),
  );
  const [length] = lengths;
  return lengths.size === 1 && length !== undefined ? length : null;
}

/** Days that are the first, second ... seven days of a month, as numbers of these weeks; null for any others. */
function wholeWeeks(days: readonly number[]): readonly number[] | null {
  const weeks = [...new Set(days.map((day) => Math.ceil(day / 7)))];
  const wanted = weeks.flatMap((week) => Array.from({ length: week === 5 ? 3 : 7 }, (_, i) => week * 7 - 6 + i));
  return wanted.length === days.length ? weeks : null;
}

function nthText(weekdays: readonly number[], places: readonly (number | "L")[]): string {
  return weekdays.flatMap((weekday) => places.map((place) => `${WEEKDAY_NAMES[weekday]}#${place}`)).join(",");
}

function weekdayText(weekdays: readonly number[]): string {
  // Sunday last, as in a week of systemd's: a range may end with it.
  const week = weekdays.map((day) => (day === 0 ? 7 : day)).sort((a, b) => a - b);
  return rangesOf(week)
    .map(([from, to]) => [from, to].map((day) => WEEKDAY_NAMES[day % 7]))
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(",");
}

/** A field of the `kron` dialect with exactly these values. */
function fieldText(values: readonly number[] | null, min: number, max: number): string {
  if (values === null) return "*";
  const [first = min, second = first] = values;
  const last = values.at(-1) ?? first;
  const step = second - first;
  const isRegular = step > 1 && values.length > 2 && values.every((value, index) => value === first + index * step);
  if (isRegular && first === min && last + step > max) return `*/${step}`;
  if (isRegular) return `${first}-${last}/${step}`;
  return rangesOf(values)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(",");
}

/** Stretches of three and more; two neighbours stay two values. */
function rangesOf(values: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const value of values) {
    const open = ranges.at(-1);
    if (open !== undefined && open[1] === value - 1) open[1] = value;
    else ranges.push([value, value]);
  }
  return ranges.flatMap(([from, to]) =>
    to === from + 1 ? [[from, from] as const, [to, to] as const] : [[from, to] as const],
  );
}

function refuse(message: string, hint: string): Reading<never> {
  return err({ message, hint });
}
