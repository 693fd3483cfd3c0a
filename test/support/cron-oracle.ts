/**
 * What S3 says, said again in the plainest way: convert every minute to the wall clock with Temporal and look whether
 * the expression names it. Shares nothing with the engine: its own field matcher, its own calendar (Date), no tables.
 */
import { Temporal } from "temporal-polyfill";

const MINUTE_MS = 60_000;

export interface OracleRule {
  readonly gap: "skip" | "next";
  readonly overlap: "both" | "first" | "last";
}

/** One instant whose wall clock shows a whole minute; `wall` counts wall minutes since 1970-01-01T00:00. */
interface WallMinute {
  readonly at: number;
  readonly wall: number;
}

/** The wall clock of one zone, minute by minute, over `[fromAt, untilAt)`. */
export interface WallWindow {
  readonly zoneId: string;
  readonly fromAt: number;
  readonly untilAt: number;
  readonly minutes: readonly WallMinute[];
}

type MinuteTest = (wall: number) => boolean;

function wallMsOf(zoneId: string, at: number): number {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zoneId);
  const { year, month, day, hour, minute, second } = zoned.toPlainDateTime();
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Offsets with seconds exist: then the whole wall minute lies somewhere inside the UTC minute. */
function wallMinuteWithin(zoneId: string, utcMinuteAt: number): WallMinute | null {
  const early = wallMsOf(zoneId, utcMinuteAt);
  if (early % MINUTE_MS === 0) return { at: utcMinuteAt, wall: early / MINUTE_MS };
  const at = utcMinuteAt + MINUTE_MS - (early % MINUTE_MS);
  const wallMs = wallMsOf(zoneId, at);
  return wallMs % MINUTE_MS === 0 ? { at, wall: wallMs / MINUTE_MS } : null;
}

/** Both bounds are whole UTC minutes. */
export function wallWindow(zoneId: string, fromAt: number, untilAt: number): WallWindow {
  const minutes: WallMinute[] = [];
  for (let at = fromAt; at < untilAt; at += MINUTE_MS) {
    const minute = wallMinuteWithin(zoneId, at);
    if (minute !== null) minutes.push(minute);
  }
  return { zoneId, fromAt, untilAt, minutes };
}

function elementTest(element: string, names: readonly string[]): (value: number) => boolean {
  const [range = "", step = "1"] = element.split("/");
  if (range === "*") return (value) => (value - (names[0] === "JAN" ? 1 : 0)) % Number(step) === 0;
  const [from, to = from] = range.split("-").map((text) => {
    const position = names.indexOf(text);
    return position < 0 ? Number(text) : position + (names[0] === "JAN" ? 1 : 0);
  });
  if (from === undefined || to === undefined) throw new Error(`the oracle cannot read ${element}`);
  return (value) => value >= from && value <= to && (value - from) % Number(step) === 0;
}

const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split(" ");

function fieldTest(field: string, names: readonly string[] = []): (value: number) => boolean {
  const tests = field.split(",").map((element) => elementTest(element, names));
  return (value) => tests.some((test) => test(value));
}

type DateTest = (date: Date) => boolean;

function isLastWeekOrDay(date: Date, reachDays: number): boolean {
  const later = new Date(date);
  later.setUTCDate(date.getUTCDate() + reachDays);
  return later.getUTCMonth() !== date.getUTCMonth();
}

function dayElementTest(element: string): DateTest {
  if (element === "L") return (date) => isLastWeekOrDay(date, 1);
  if (element.startsWith("*/")) return (date) => (date.getUTCDate() - 1) % Number(element.slice(2)) === 0;
  const test = elementTest(element, []);
  return (date) => test(date.getUTCDate());
}

function weekdayElementTest(element: string): DateTest {
  const [day = "", nth] = element.split("#");
  const isWeekday = elementTest(day, WEEKDAYS);
  if (nth === undefined) return (date) => isWeekday(date.getUTCDay());
  if (nth === "L") return (date) => isWeekday(date.getUTCDay()) && isLastWeekOrDay(date, 7);
  return (date) => isWeekday(date.getUTCDay()) && Math.ceil(date.getUTCDate() / 7) === Number(nth);
}

function listTest(field: string, elementTestOf: (element: string) => DateTest): DateTest {
  const tests = field.split(",").map(elementTestOf);
  return (date) => tests.some((test) => test(date));
}

/** Which days the last three fields name; midnights of UTC stand for days. */
export function dateTest(days: string, months: string, weekdays: string): DateTest {
  const isDay = listTest(days, dayElementTest);
  const isMonth = fieldTest(months, MONTHS);
  const isWeekday = listTest(weekdays, weekdayElementTest);
  const either = days !== "*" && weekdays !== "*";
  return (date) =>
    isMonth(date.getUTCMonth() + 1) && (either ? isDay(date) || isWeekday(date) : isDay(date) && isWeekday(date));
}

/** Five fields of `* , - / L #`, upper-case names and weekdays 0 to 6, blanks between. Takes wall minutes. */
export function minuteTest(expression: string): MinuteTest {
  const [minutes = "", hours = "", days = "", months = "", weekdays = ""] = expression.split(" ");
  const isMinute = fieldTest(minutes);
  const isHour = fieldTest(hours);
  const isDate = dateTest(days, months, weekdays);
  return (wall) => {
    const date = new Date(wall * MINUTE_MS);
    return isMinute(date.getUTCMinutes()) && isHour(date.getUTCHours()) && isDate(date);
  };
}

/** The wall minutes that the window shows more than once. */
function repeatedWalls(window: WallWindow): ReadonlySet<number> {
  const seen = new Set<number>();
  const repeated = new Set<number>();
  for (const { wall } of window.minutes) (seen.has(wall) ? repeated : seen).add(wall);
  return repeated;
}

function showsAgain(window: WallWindow, index: number, step: 1 | -1): boolean {
  const wall = window.minutes[index]?.wall;
  for (let i = index + step; i >= 0 && i < window.minutes.length; i += step) {
    if (window.minutes[i]?.wall === wall) return true;
  }
  return false;
}

/** What an expression names within a window, before any rule: reused for every rule. */
export interface WindowMatches {
  readonly window: WallWindow;
  readonly repeated: ReadonlySet<number>;
  readonly isMatch: readonly boolean[];
  /** Whether the clock jumped over a match right before the minute. */
  readonly followsSkipped: readonly boolean[];
}

export function matchesWithin(window: WallWindow, expression: string): WindowMatches {
  const test = minuteTest(expression);
  const followsSkipped = window.minutes.map(({ wall }, i) => {
    for (let skipped = (window.minutes[i - 1]?.wall ?? wall) + 1; skipped < wall; skipped++)
      if (test(skipped)) return true;
    return false;
  });
  return {
    window,
    repeated: repeatedWalls(window),
    isMatch: window.minutes.map(({ wall }) => test(wall)),
    followsSkipped,
  };
}

/** The nominal times inside the window under a rule. */
export function nominalTimes({ window, repeated, isMatch, followsSkipped }: WindowMatches, rule: OracleRule): number[] {
  const times: number[] = [];
  for (const [i, { at, wall }] of window.minutes.entries()) {
    const isDropped =
      rule.overlap !== "both" && repeated.has(wall) && showsAgain(window, i, rule.overlap === "first" ? -1 : 1);
    if ((isMatch[i] === true && !isDropped) || (rule.gap === "next" && followsSkipped[i] === true)) times.push(at);
  }
  return times;
}
