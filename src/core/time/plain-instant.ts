/** Timestamps in the one form in which Kron writes them: read by the million at a restart, without a pattern. */
import { daysFromCivil, daysInMonth } from "./civil.js";
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "./units.js";

/** `YYYY-MM-DDTHH:MM:SSZ`, and `YYYY-MM-DDTHH:MM:SS.mmmZ` for what is not a whole second. */
const CHARS = 20;
const CHARS_WITH_MS = 24;
const ZERO = 48;
const POINT = 46;
const Z = 90;

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function hasSeparators(text: string): boolean {
  return (
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(text.length - 1) === Z
  );
}

/** Many jobs were last handled on the same day: its number is kept. */
let lastDate = "";
let lastDateMs = Number.NaN;

function dateMs(text: string): number {
  const date = text.slice(0, 10);
  if (date === lastDate) return lastDateMs;
  const [year, month, day] = [pair(text, 0) * 100 + pair(text, 2), pair(text, 5), pair(text, 8)];
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  lastDateMs = isDate ? daysFromCivil(year, month, day) * DAY_MS : Number.NaN;
  lastDate = date;
  return lastDateMs;
}

/** NaN for every other text, also for one that is a timestamp in another form: `parseInstant` reads those. */
export function plainInstant(text: string): EpochMs {
  const hasMs = text.length === CHARS_WITH_MS;
  if ((text.length !== CHARS && !hasMs) || !hasSeparators(text)) return Number.NaN;
  const [hour, minute, second] = [pair(text, 11), pair(text, 14), pair(text, 17)];
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  const ms = hasMs ? fraction(text) : 0;
  return dateMs(text) + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + ms;
}

function fraction(text: string): number {
  return text.charCodeAt(19) === POINT ? digit(text, 20) * 100 + pair(text, 21) : Number.NaN;
}
