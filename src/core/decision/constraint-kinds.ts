/** The kinds of constraint clauses: what each is called, what its values are and how a single value is written. */

import { daysFromCivil, daysInMonth } from "../time/civil.js";
import { DAY_MS, formatInstant } from "../time/instant.js";
import type { Clause } from "./rule.js";

export type ClauseKind = Clause["kind"];
export type ListKind = "hours" | "dow" | "dom" | "months";

export interface ListKindRule {
  /** Smallest and largest number that may be written. */
  readonly min: number;
  readonly max: number;
  /** Names by value, beginning with the value `min`; empty when the kind has none. */
  readonly names: readonly string[];
}

export const LIST_KINDS: Readonly<Record<ListKind, ListKindRule>> = {
  hours: { min: 0, max: 23, names: [] },
  // 7 is Sunday too, as in cron.
  dow: { min: 0, max: 7, names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] },
  dom: { min: 1, max: 31, names: [] },
  months: {
    min: 1,
    max: 12,
    names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
  },
};

/** What may stand before the `=`. `date` and `dates` are two spellings of one kind. */
export const CLAUSE_WORDS = ["hours", "dow", "dom", "months", "between", "date", "dates"] as const;
export type ClauseWord = (typeof CLAUSE_WORDS)[number];

export const MINUTES_PER_HOUR = 60;
export const HOURS_PER_DAY = 24;

/** Weekdays are written by name, because 0 and 7 would both be Sunday; everything else as a number. */
export function formatListValue(kind: ListKind, value: number): string {
  return (kind === "dow" ? LIST_KINDS.dow.names[value] : undefined) ?? String(value);
}

export function formatMinute(minuteOfDay: number): string {
  const hour = Math.floor(minuteOfDay / MINUTES_PER_HOUR);
  return `${pad2(hour)}:${pad2(minuteOfDay - hour * MINUTES_PER_HOUR)}`;
}

export function formatDay(days: number): string {
  return formatInstant(days * DAY_MS).slice(0, "YYYY-MM-DD".length);
}

/** Days since 1970-01-01, or null for a day that no calendar has. */
export function daysOfDate(year: number, month: number, day: number): number | null {
  const exists = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return exists ? daysFromCivil(year, month, day) : null;
}

function pad2(value: number): string {
  return String(value).padStart(2, "0");
}
