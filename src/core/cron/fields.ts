import { daysInMonth } from "../time/civil.js";

/** The fields of a cron expression in the order in which they are written. */
export const CRON_FIELD_NAMES = ["minute", "hour", "day", "month", "weekday"] as const;
export type CronFieldName = (typeof CRON_FIELD_NAMES)[number];

interface ValueRange {
  readonly min: number;
  readonly max: number;
}

/** The values a field can hold once read; Sunday is 0. */
export const CRON_FIELD_RANGES: Readonly<Record<CronFieldName, ValueRange>> = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  day: { min: 1, max: 31 },
  month: { min: 1, max: 12 },
  weekday: { min: 0, max: 6 },
};

/** A weekday by its place in the month: `MON#2`, or `MON#L` for the last one. */
export interface NthWeekday {
  readonly weekday: number;
  readonly nth: 1 | 2 | 3 | 4 | 5 | "last";
}

/**
 * What an expression of either dialect means. Every list is sorted, without repeats, and never empty, but for the days
 * and weekdays of a field that names its days in relation to a month only.
 */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  readonly weekdays: readonly number[];
  /** `L`: the last day of each month, besides `days`. */
  readonly lastDay?: true;
  /** Besides `weekdays`. */
  readonly nthWeekdays?: readonly NthWeekday[];
  /** Only a literal `*` leaves a day field unrestricted (S3): when both are restricted, either of them suffices. */
  readonly dayIsStar: boolean;
  readonly weekdayIsStar: boolean;
  /** As written, outer blanks removed. */
  readonly text: string;
}

/** A leap year: the longest each month can be. */
const LEAP_YEAR = 2000;

/**
 * Whether no calendar has such a day (S4), as in `0 0 30 2 *`. A restricted weekday alone always occurs, a fifth one of
 * February too: once in 28 years.
 */
export function isImpossible(fields: CronFields): boolean {
  if (fields.dayIsStar || !fields.weekdayIsStar || fields.lastDay === true) return false;
  const firstDay = Math.min(...fields.days);
  return fields.months.every((month) => firstDay > daysInMonth(LEAP_YEAR, month));
}
