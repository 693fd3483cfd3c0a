/** Timestamps in the one form in which Kron writes them: read by the million at a restart, without a pattern. */
import { daysFromCivil, daysInMonth } from "./civil.js";
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "./instant.js";

/** `YYYY-MM-DDTHH:MM:SSZ` */
const CHARS = 20;
const ZERO = 48;

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
    text.charCodeAt(19) === 90
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
  if (text.length !== CHARS || !hasSeparators(text)) return Number.NaN;
  const [hour, minute, second] = [pair(text, 11), pair(text, 14), pair(text, 17)];
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  return dateMs(text) + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS;
}
