/**
 * S11: the smallest distance between two nominal times on the wall clock. The Gregorian calendar repeats weekdays and
 * leap years every 28 years, so one such cycle shows every distance there is; it is walked by days that match, never by
 * minutes, and never from the current time.
 */

import { daysFromCivil } from "../time/civil.js";
import { calendarTable, FIRST_DAY } from "./calendar-table.js";
import type { WallMatcher } from "./wall-matcher.js";

const MINUTES_PER_DAY = 1440;
const CYCLE_FROM = daysFromCivil(2001, 1, 1) - FIRST_DAY;
const CYCLE_UNTIL = daysFromCivil(2029, 1, 1) - FIRST_DAY;

/** Smallest number of days from one matching day to the next. After the last of a cycle comes the first of the next. */
function smallestDayGap(matcher: WallMatcher): number {
  const { monthOf, shapeOf, startOf } = calendarTable();
  const untilMonth = monthOf[CYCLE_UNTIL] as number;
  let first = -1;
  let last = -1;
  let smallest = Number.POSITIVE_INFINITY;
  for (let month = monthOf[CYCLE_FROM] as number; month < untilMonth; month++) {
    for (let days = matcher.daysOfShape(shapeOf[month] as number); days !== 0; days &= days - 1) {
      const day = (startOf[month] as number) + 31 - Math.clz32(days & -days);
      if (last >= 0) smallest = Math.min(smallest, day - last);
      else first = day;
      if (smallest === 1) return 1;
      last = day;
    }
  }
  return first < 0 ? smallest : Math.min(smallest, first + CYCLE_UNTIL - CYCLE_FROM - last);
}

/** Infinity for a schedule that never occurs. */
export function smallestGapMinutes(matcher: WallMatcher): number {
  const dayGap = smallestDayGap(matcher);
  if (dayGap === Number.POSITIVE_INFINITY) return dayGap;
  const acrossDays = dayGap * MINUTES_PER_DAY - matcher.lastOfDay + matcher.firstOfDay;
  let smallest = acrossDays;
  for (let minute = matcher.firstOfDay; minute < matcher.lastOfDay && smallest > 1; ) {
    const later = matcher.nextInDay(minute + 1);
    smallest = Math.min(smallest, later - minute);
    minute = later;
  }
  return smallest;
}
