/**
 * The months of the supported years as flat tables, shared by all schedules: where each begins, how long it is and on
 * which weekday it starts. Built once, at first use. A *day index* counts days since the first month of the table, so
 * that it is never negative: wall clocks run up to a day ahead of and behind the supported instants.
 */
import { civilFromDays, daysFromCivil, daysInMonth, weekdayOfDays } from "../time/civil.js";
import { DAY_MS } from "../time/instant.js";
import { SUPPORTED_INSTANTS } from "../time/zone.js";

const FIRST = civilFromDays(SUPPORTED_INSTANTS.fromAt / DAY_MS - 1);
const LAST = civilFromDays(SUPPORTED_INSTANTS.untilAt / DAY_MS + 1);

/** Days since 1970-01-01 of day index 0. */
export const FIRST_DAY = daysFromCivil(FIRST.year, FIRST.month, 1);

export interface CalendarTable {
  readonly months: number;
  /** Day index on which each month begins, with one more entry for the end. */
  readonly startOf: Int32Array;
  /** One month in nine bits: month of the year from 0 (4 bits), weekday of its first day (3), days beyond 28 (2). */
  readonly shapeOf: Uint16Array;
  /** The month of each day index. */
  readonly monthOf: Uint16Array;
}

function monthShape(year: number, month: number): number {
  const firstWeekday = weekdayOfDays(daysFromCivil(year, month, 1));
  return (month - 1) | (firstWeekday << 4) | ((daysInMonth(year, month) - 28) << 7);
}

function build(): CalendarTable {
  const months = (LAST.year - FIRST.year) * 12 + (LAST.month - FIRST.month) + 1;
  const startOf = new Int32Array(months + 1);
  const shapeOf = new Uint16Array(months);
  for (let i = 0; i < months; i++) {
    const year = FIRST.year + Math.floor((FIRST.month - 1 + i) / 12);
    const month = ((FIRST.month - 1 + i) % 12) + 1;
    shapeOf[i] = monthShape(year, month);
    startOf[i + 1] = (startOf[i] as number) + daysInMonth(year, month);
  }
  const monthOf = new Uint16Array(startOf[months] as number);
  for (let i = 0; i < months; i++) monthOf.fill(i, startOf[i], startOf[i + 1]);
  return { months, startOf, shapeOf, monthOf };
}

let table: CalendarTable | null = null;

export function calendarTable(): CalendarTable {
  table ??= build();
  return table;
}
