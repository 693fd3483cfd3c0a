/** Calendar events as systemd writes them: `Mon..Fri *-*-1..7 06,18:00/15 Europe/Berlin`. Reading only. */
import type { Problem } from "../../base/problem.js";
import { err, ok, type Result } from "../../base/result.js";
import { zoneOf } from "../../time/zone.js";

/** What an event names of each part of a date and time: sorted values; null for all of them. */
export interface CalendarEvent {
  /** Sunday is 0. */
  readonly weekdays: readonly number[] | null;
  readonly years: readonly number[] | null;
  readonly months: readonly number[] | null;
  readonly days: readonly number[] | null;
  /** `days` count from the end of the month: 1 is the last. */
  readonly isFromEnd: boolean;
  readonly hours: readonly number[] | null;
  readonly minutes: readonly number[] | null;
  readonly seconds: readonly number[] | null;
  /** null: the zone of the host. */
  readonly timezone: string | null;
}

const SHORTHANDS: Readonly<Record<string, string>> = {
  minutely: "*-*-* *:*:00",
  hourly: "*-*-* *:00:00",
  daily: "*-*-* 00:00:00",
  monthly: "*-*-01 00:00:00",
  weekly: "Mon *-*-* 00:00:00",
  yearly: "*-01-01 00:00:00",
  annually: "*-01-01 00:00:00",
  quarterly: "*-01,04,07,10-01 00:00:00",
  semiannually: "*-01,07-01 00:00:00",
};

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Monday first: ranges of weekdays do not wrap. */
const FROM_MONDAY = 7;
const EVENT_CHARS = 512;

const BOUNDS = {
  year: { min: 1970, max: 2199 },
  month: { min: 1, max: 12 },
  day: { min: 1, max: 31 },
  hour: { min: 0, max: 23 },
  minute: { min: 0, max: 59 },
  second: { min: 0, max: 59 },
} as const;
type PartName = keyof typeof BOUNDS;

/** Thrown inside this file only, where it becomes a problem. */
class Unreadable extends Error {}

export function parseCalendarEvent(text: string): Result<CalendarEvent, Problem> {
  try {
    if (text.length > EVENT_CHARS) throw new Unreadable(`a calendar event has at most ${EVENT_CHARS} characters`);
    return ok(readEvent(text.trim()));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const hint = "write it like Mon..Fri *-*-* 06:00; systemd-analyze calendar shows what systemd makes of it";
    return err({ code: "cron-syntax", message: error.message, path: [], hint });
  }
}

function readEvent(written: string): CalendarEvent {
  if (written === "") throw new Unreadable("the calendar event is empty");
  if (written.startsWith("@"))
    throw new Unreadable("@ and seconds are not read: write a date and a time, with UTC at the end");
  const { rest, timezone } = splitZone(written);
  const words = (SHORTHANDS[rest.toLowerCase()] ?? rest).split(/\s+/);
  const weekdays = /^[a-z]/i.test(words[0] ?? "") ? readWeekdays(words.shift() ?? "") : null;
  const [date, time] = dateAndTime(words, written);
  return { weekdays, ...readDate(date), ...readTime(time), timezone };
}

/** `2026-12-01T03:00` is one word with both. */
function dateAndTime(words: readonly string[], written: string): readonly [string | null, string | null] {
  const [first, second, ...more] = words.flatMap((word) => (/^[\d*].*T\d/.test(word) ? word.split("T") : [word]));
  if (more.length > 0) throw new Unreadable(`"${more[0]}" is too much in "${written}"`);
  if (first === undefined) return [null, null];
  if (second !== undefined) return [first, second];
  return first.includes(":") ? [null, first] : [first, null];
}

function splitZone(written: string): { readonly rest: string; readonly timezone: string | null } {
  const [, before = "", last = ""] = /^(.*)\s(\S+)$/.exec(written) ?? [];
  if (/^utc$/i.test(last)) return { rest: before.trim(), timezone: "UTC" };
  if (!/^[A-Z][A-Za-z_]+(\/[A-Za-z0-9_+-]+)*$/.test(last) || isWeekdayList(last))
    return { rest: written, timezone: null };
  const zone = zoneOf(last);
  if (!zone.ok) throw new Unreadable(zone.error.message);
  return { rest: before.trim(), timezone: zone.value.id };
}

function isWeekdayList(word: string): boolean {
  return weekdayOf(word) !== null;
}

/** By its name or the first three letters of it. */
function weekdayOf(word: string): number | null {
  const name = word.toLowerCase();
  const index = WEEKDAYS.findIndex((known) => known === name || known.slice(0, 3) === name);
  return index < 0 ? null : index;
}

function readWeekdays(list: string): readonly number[] | null {
  const chosen = new Set<number>();
  for (const element of list.replace(/,$/, "").split(",")) {
    const [from, to = from, ...more] = element.split(/\.\.|-/).map((name) => {
      const weekday = weekdayOf(name);
      if (weekday === null) throw new Unreadable(`"${name}" is not a weekday`);
      return weekday === 0 ? FROM_MONDAY : weekday;
    });
    if (from === undefined || to === undefined || more.length > 0 || from > to) {
      throw new Unreadable(`"${element}" is not a range of weekdays`);
    }
    for (let day = from; day <= to; day++) chosen.add(day % FROM_MONDAY);
  }
  return chosen.size === FROM_MONDAY ? null : [...chosen].sort((a, b) => a - b);
}

function readDate(date: string | null): Pick<CalendarEvent, "years" | "months" | "days" | "isFromEnd"> {
  if (date === null) return { years: null, months: null, days: null, isFromEnd: false };
  const isFromEnd = date.includes("~");
  const parts = date.replace("~", "-").split("-");
  const [day = "", month = "", year = "*", ...more] = parts.reverse();
  const lastDash = isFromEnd && date.indexOf("~") < date.lastIndexOf("-");
  if (parts.length < 2 || more.length > 0 || lastDash) throw new Unreadable(`"${date}" is not a date`);
  return {
    years: readChain("year", year),
    months: readChain("month", month),
    days: readChain("day", day, isFromEnd),
    isFromEnd: isFromEnd && day !== "*",
  };
}

function readTime(time: string | null): Pick<CalendarEvent, "hours" | "minutes" | "seconds"> {
  const [hour = "", minute = "", second = "00", ...more] = (time ?? "00:00").split(":");
  if (more.length > 0) throw new Unreadable(`"${time}" is not a time`);
  return {
    hours: readChain("hour", hour),
    minutes: readChain("minute", minute),
    seconds: readChain("second", second.replace(/\.0+$/, "")),
  };
}

const COMPONENT = /^(\d{1,4})(?:\.\.(\d{1,4}))?(?:\/(\d{1,4}))?$/;

function readChain(part: PartName, text: string, isFromEnd = false): readonly number[] | null {
  if (text === "*") return null;
  const { min, max } = BOUNDS[part];
  const chosen = new Set<number>();
  for (const component of text.split(",")) {
    const [, fromText, toText, stepText] = COMPONENT.exec(component) ?? [];
    if (fromText === undefined) throw new Unreadable(`"${component}" is not a ${part}, a range, or one with a step`);
    const from = part === "year" && fromText.length <= 2 ? Number(fromText) + 2000 : Number(fromText);
    const end = isFromEnd ? min : max;
    const to = toText === undefined ? (stepText === undefined ? from : end) : Number(toText);
    const step = Number(stepText ?? 1);
    const isBackwards = isFromEnd && toText === undefined;
    if (step === 0) throw new Unreadable(`"${component}": a step is at least 1`);
    if (from < min || from > max || to > max || (isBackwards ? to > from : to < from)) {
      throw new Unreadable(`"${component}" is out of range for a ${part}`);
    }
    // Counted from the end, a step leads towards it.
    const signed = isBackwards ? -step : step;
    for (let value = from; isBackwards ? value >= to : value <= to; value += signed) chosen.add(value);
  }
  return chosen.size === max - min + 1 ? null : [...chosen].sort((a, b) => a - b);
}
