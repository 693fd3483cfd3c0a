/**
 * Instants as people say them: `2026-11-19T09:00`, `tomorrow`, `fri 18:00`, `9am`, `2h`. What has no zone of its own is read
 * on the wall of one; what names no day is the nearest such moment on the side that is asked for.
 */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { daysFromCivil, daysInMonth, weekdayOfDays } from "./civil.js";
import { DAY_MS, type EpochMs, floorToSecond, HOUR_MS, MINUTE_MS, parseInstant, SECOND_MS } from "./instant.js";
import { parseSpan } from "./span.js";
import { SUPPORTED_INSTANTS, type Zone } from "./zone.js";

export interface MomentFrame {
  readonly now: EpochMs;
  readonly zone: Zone;
  /** Where a moment without a day, and a bare duration, is looked for. */
  readonly toward: "ahead" | "back";
}

/** Longest text that is looked at. */
const MOMENT_CHARS = 64;
const MOMENT_HINT = "write 2h, 7d, 09:00, tomorrow, fri 18:00, 2026-11-19, 2026-11-19T09:00 or 2026-11-19T09:00:00Z";

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const WITHOUT_SECONDS = /^(\d{4}-\d{2}-\d{2}t\d{2}:\d{2})(z|[+-]\d{2}:\d{2})$/;
const CLOCK = /^(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(am|pm)?$/;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
const DAY_WORDS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };
const TIME_WORDS: Readonly<Record<string, string>> = { noon: "12:00", midnight: "00:00" };

/** Whether a text is an instant or a length of time by itself: no zone has a say in it. */
export function isZoned(text: string): boolean {
  const plain = plainText(text);
  return plain === "now" || absolute(plain) !== null || shiftOf(plain) !== null;
}

/** To the second, but for instants that are written out in full. */
export function readMoment(text: string, frame: MomentFrame): Result<EpochMs, Problem> {
  if (text.length > MOMENT_CHARS) return err(unreadable(text));
  const plain = plainText(text);
  const read = absolute(plain) ?? momentFromNow(plain, frame) ?? onTheWall(plain, frame);
  if (read === null) return err(unreadable(text));
  if (!read.ok) return read;
  const { fromAt, untilAt } = SUPPORTED_INSTANTS;
  if (read.value >= fromAt && read.value < untilAt) return read;
  return err(problem("instant-range", "the instant lies outside the years that are known", text));
}

function plainText(text: string): string {
  return text.trim().toLowerCase();
}

/** null: it is no instant of the written kind; one with a day that does not exist is a problem of its own. */
function absolute(text: string): Result<EpochMs, Problem> | null {
  const read = parseInstant(text.replace(WITHOUT_SECONDS, "$1:00$2"));
  return read.ok || read.error.code === "instant-range" ? read : null;
}

function momentFromNow(text: string, { now, toward }: MomentFrame): Result<EpochMs, Problem> | null {
  const from = floorToSecond(now);
  if (text === "now") return ok(from);
  const shift = shiftOf(text);
  if (shift === null) return null;
  const isBack = shift.side === null ? toward === "back" : shift.side === "back";
  return ok(isBack ? from - shift.ms : from + shift.ms);
}

interface Shift {
  readonly ms: number;
  /** null: the text does not say. */
  readonly side: MomentFrame["toward"] | null;
}

/** `2h`, `+2h`, `in 2h`, `-2h`, `2h ago`. */
function shiftOf(text: string): Shift | null {
  const [, before = "", length = "", after] = /^(\+|-|in )?(\S+?)( ago)?$/.exec(text) ?? [];
  const span = parseSpan(length);
  if (length === "" || /^[+-]/.test(length) || !span.ok || (before !== "" && after !== undefined)) return null;
  const side = before === "-" || after !== undefined ? "back" : before === "" ? null : "ahead";
  return { ms: span.value, side };
}

/** A day, a time of day, or both. null: neither. */
function onTheWall(text: string, frame: MomentFrame): Result<EpochMs, Problem> | null {
  const words = text.split(/\s+|(?<=^\d{4}-\d{2}-\d{2})t/);
  const [first = "", second] = words;
  if (words.length > 2) return null;
  const { now, zone } = frame;
  const todayDays = Math.floor((now + zone.offsetMsAt(now)) / DAY_MS);
  const days = daysOf(first, todayDays);
  const timeMs = timeOf(days === null ? first : (second ?? "00:00"));
  if (timeMs === null || (days === null && second !== undefined)) return null;
  if (days === "no-such-date") return err(problem("instant-range", `there is no date ${first}`, text));
  const candidates = (days ?? [todayDays - 1, todayDays, todayDays + 1]).map((day) =>
    wallInstant(zone, day * DAY_MS + timeMs),
  );
  return ok(nearestOf(candidates, frame));
}

/** The only one; of several the nearest that lies on the side asked for. */
function nearestOf(candidates: readonly EpochMs[], { now, toward }: MomentFrame): EpochMs {
  const [only = now] = candidates;
  if (candidates.length === 1) return only;
  return toward === "ahead"
    ? (candidates.find((at) => at > now) ?? only)
    : (candidates.findLast((at) => at <= now) ?? only);
}

/** Days since 1970 on which it may be: one for a date, several for a weekday; null: the word names no day. */
function daysOf(word: string, todayDays: number): readonly number[] | "no-such-date" | null {
  const date = DATE.exec(word);
  if (date !== null) {
    const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
    const isThere = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
    return isThere ? [daysFromCivil(year, month, day)] : "no-such-date";
  }
  const shift = Object.hasOwn(DAY_WORDS, word) ? DAY_WORDS[word] : undefined;
  if (shift !== undefined) return [todayDays + shift];
  const weekday = WEEKDAYS.findIndex((name) => name === word || name.slice(0, 3) === word);
  if (weekday < 0) return null;
  const latest = todayDays - ((weekdayOfDays(todayDays) - weekday + 7) % 7);
  return [latest - 7, latest, latest + 7];
}

/** Milliseconds since midnight; null: the word is no time of day. */
function timeOf(word: string): number | null {
  const text = Object.hasOwn(TIME_WORDS, word) ? (TIME_WORDS[word] ?? word) : word;
  const [, hourText, minuteText, secondText = "0", half] = CLOCK.exec(text) ?? [];
  if (hourText === undefined || (minuteText === undefined && half === undefined)) return null;
  const [hour, minute, second] = [Number(hourText), Number(minuteText ?? 0), Number(secondText)];
  const isOnTheClock = half === undefined ? hour <= 23 : hour >= 1 && hour <= 12;
  if (!isOnTheClock || minute > 59 || second > 59) return null;
  const ofDay = half === undefined ? hour : (hour % 12) + (half === "pm" ? 12 : 0);
  return ofDay * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS;
}

/** What a wall showed: the first time it did; where a clock change left it out, the first instant after that. */
function wallInstant(zone: Zone, wallMs: number): EpochMs {
  const [before, after] = [zone.offsetMsAt(wallMs - DAY_MS), zone.offsetMsAt(wallMs + DAY_MS)];
  for (const offsetMs of [before, after]) {
    if (zone.offsetMsAt(wallMs - offsetMs) === offsetMs) return wallMs - offsetMs;
  }
  return zone.spanAt(wallMs - before).startAt;
}

function unreadable(text: string): Problem {
  return problem("instant-syntax", `"${text.slice(0, MOMENT_CHARS)}" is neither an instant nor a duration`, text);
}

function problem(code: "instant-syntax" | "instant-range", message: string, text: string): Problem {
  return { code, message, path: [], span: { start: 0, end: text.length }, hint: MOMENT_HINT };
}
