import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { civilFromDays, daysFromCivil, daysInMonth } from "./civil.js";
import { plainInstant } from "./plain-instant.js";
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "./units.js";

export { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "./units.js";

/** Longest timestamp that is looked at: `YYYY-MM-DDTHH:MM:SS.nnnnnnnnn+HH:MM`. */
const TIMESTAMP_CHARS = 35;
/** The whole years that RFC 3339 can write, as instants: `[YEAR_0, YEAR_10000)`. */
const YEAR_0 = daysFromCivil(0, 1, 1) * DAY_MS;
const YEAR_10000 = daysFromCivil(10_000, 1, 1) * DAY_MS;

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

export function floorToSecond(at: EpochMs): EpochMs {
  return Math.floor(at / SECOND_MS) * SECOND_MS;
}

/** The latest instant up to `at` that lies whole seconds after `fromAt`, or before it: at the same place within its second. */
export function wholeSecondsFrom(fromAt: EpochMs, at: EpochMs): EpochMs {
  return fromAt + floorToSecond(at - fromAt);
}

const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"));

function two(n: number): string {
  return TWO_DIGITS[n] as string;
}

/** Decisions name several instants of one day: the date part of the last day is kept. */
let lastDays = Number.NaN;
let lastDate = "";

function dateText(days: number): string {
  if (days !== lastDays) {
    const { year, month, day } = civilFromDays(days);
    lastDate = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T`;
    lastDays = days;
  }
  return lastDate;
}

/** RFC 3339 in UTC: whole seconds without a fraction, others with exactly three digits (S1). */
export function formatInstant(at: EpochMs): string {
  if (!(Number.isInteger(at) && at >= YEAR_0 && at < YEAR_10000)) {
    throw new Error(`invariant broken: ${at} is not an instant of the years 0000 to 9999`);
  }
  const days = Math.floor(at / DAY_MS);
  const msOfDay = at - days * DAY_MS;
  const seconds = Math.floor(msOfDay / SECOND_MS);
  const ms = msOfDay - seconds * SECOND_MS;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = `${two(hours)}:${two(minutes - hours * 60)}:${two(seconds - minutes * 60)}`;
  return ms === 0 ? `${dateText(days)}${clock}Z` : `${dateText(days)}${clock}.${String(ms).padStart(3, "0")}Z`;
}

/** RFC 3339 in UTC, to the second: how everything leaves the program that is not a slot of its own (S1, S40). */
export function formatSecond(at: EpochMs): string {
  return formatInstant(floorToSecond(at));
}

function problem(code: "instant-syntax" | "instant-range", message: string, text: string, hint?: string): Problem {
  const base: Problem = { code, message, path: [], span: { start: 0, end: text.length } };
  return hint === undefined ? base : { ...base, hint };
}

/** null: it is none. */
export function instantOrNull(text: string | null | undefined): EpochMs | null {
  const at = parseInstant(text ?? "");
  return at.ok ? at.value : null;
}

/** Of what we wrote ourselves, or have looked at before: a timestamp that is none is a defect. */
export function knownInstant(text: string): EpochMs {
  const at = parseInstant(text);
  if (!at.ok) throw new Error(`invariant broken: ${JSON.stringify(text)} is no timestamp`);
  return at.value;
}

const NO_TEXT: Result<EpochMs, Problem> = err(notATimestamp(""));

/** Reads RFC 3339 with `Z` or a numeric offset. Digits beyond the millisecond are cut off. */
export function parseInstant(text: string): Result<EpochMs, Problem> {
  if (text === "") return NO_TEXT;
  const plainAt = plainInstant(text);
  return Number.isNaN(plainAt) ? parseAnyForm(text) : ok(plainAt);
}

function notATimestamp(text: string): Problem {
  const hint = "write YYYY-MM-DDTHH:MM:SSZ, or an offset like +01:00 in place of Z";
  return problem("instant-syntax", "not an RFC 3339 timestamp", text, hint);
}

function parseAnyForm(text: string): Result<EpochMs, Problem> {
  const parts = text.length > TIMESTAMP_CHARS ? null : TIMESTAMP.exec(text);
  if (parts === null) {
    return err(notATimestamp(text));
  }
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const [hour, minute, second] = [Number(parts[4]), Number(parts[5]), Number(parts[6])];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) {
    return err(problem("instant-range", `there is no date ${text.slice(0, 10)}`, text));
  }
  if (second === 60) {
    return err(problem("instant-range", "leap seconds are not supported", text, "write second 59"));
  }
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) {
    return err(problem("instant-range", "hours go up to 23, minutes and seconds up to 59", text));
  }
  const ms = Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const offsetMs = (offsetHour * HOUR_MS + offsetMinute * MINUTE_MS) * (parts[8] === "-" ? -1 : 1);
  const wallMs =
    daysFromCivil(year, month, day) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + ms;
  const at = wallMs - offsetMs;
  return at >= YEAR_0 && at < YEAR_10000
    ? ok(at)
    : err(problem("instant-range", "in UTC the timestamp lies outside the years 0000 to 9999", text));
}
