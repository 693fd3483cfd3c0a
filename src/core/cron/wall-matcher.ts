/**
 * The wall-clock half of a schedule: which minutes of the calendar an expression names, without any zone. Fields are
 * kept as bit sets in plain integers, so that a search is a handful of shifts and a compiled expression is small
 * enough to keep by the million. A *wall minute* counts minutes since 1970-01-01T00:00 on the wall.
 */
import { type CalendarTable, calendarTable, FIRST_DAY } from "./calendar-table.js";
import type { CronFields, NthWeekday } from "./fields.js";

const MINUTES_PER_DAY = 1440;
const FIRST_MINUTE = FIRST_DAY * MINUTES_PER_DAY;

/** Results of a search that found nothing; both lie outside every supported wall minute. */
const NO_NEXT = 0x7fffffff;
const NO_PREVIOUS = -0x80000000;

/** Seven bits repeated over a month. */
const EVERY_WEEK = 0x10204081;

function bitSet(values: readonly number[], from: number): number {
  let bits = 0;
  for (const value of values) bits |= 1 << (value - from);
  return bits;
}

/** Position of the lowest bit; `bits` is not 0. */
function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** Position of the highest bit; `bits` is not 0. */
function highest(bits: number): number {
  return 31 - Math.clz32(bits);
}

/** What most expressions name of a month besides numbers and weekdays: nothing, whatever its shape. */
const NO_SPECIAL_DAYS = new Int32Array(32);

/**
 * The days that are named in relation to a month, by the shape of the month without its place in the year: `L`, `MON#2`,
 * `MON#L`. They are days of their own, whatever the other day field says (S3).
 */
function specialDays({ lastDay, nthWeekdays = [] }: CronFields): Int32Array {
  if (lastDay !== true && nthWeekdays.length === 0) return NO_SPECIAL_DAYS;
  return NO_SPECIAL_DAYS.map((_, shape) => {
    const firstWeekday = shape & 7;
    const lastOfMonth = 27 + (shape >>> 3);
    let days = lastDay === true ? 1 << lastOfMonth : 0;
    for (const nth of nthWeekdays) days |= nthDay(nth, firstWeekday, lastOfMonth);
    return days;
  });
}

/** Bit 0 is the first of the month. None for a fifth one that the month does not have. */
function nthDay({ weekday, nth }: NthWeekday, firstWeekday: number, lastOfMonth: number): number {
  const first = (weekday - firstWeekday + 7) % 7;
  const day = nth === "last" ? first + 7 * Math.floor((lastOfMonth - first) / 7) : first + 7 * (nth - 1);
  return day > lastOfMonth ? 0 : 1 << day;
}

export class WallMatcher {
  /** Minutes 0-29 and 30-59: sixty bits do not fit into one integer. */
  readonly #minutesLow: number;
  readonly #minutesHigh: number;
  readonly #hours: number;
  /** Bit 0 is the first of the month. */
  readonly #days: number;
  /** Bit 0 is January. */
  readonly #months: number;
  /** Bit 0 is Sunday. */
  readonly #weekdays: number;
  /** All ones when either day field suffices, 0 when both must hold (S3). */
  readonly #eitherDay: number;
  readonly #specialDays: Int32Array;
  readonly #firstMinute: number;
  readonly #lastMinute: number;
  /** Minute of the day. */
  readonly firstOfDay: number;
  readonly lastOfDay: number;
  readonly #calendar: CalendarTable;

  constructor(fields: CronFields) {
    const [firstMinute = 0, firstHour = 0] = [fields.minutes[0], fields.hours[0]];
    const [lastMinute = 0, lastHour = 0] = [fields.minutes.at(-1), fields.hours.at(-1)];
    this.#minutesLow = bitSet(
      fields.minutes.filter((minute) => minute < 30),
      0,
    );
    this.#minutesHigh = bitSet(
      fields.minutes.filter((minute) => minute >= 30),
      30,
    );
    this.#hours = bitSet(fields.hours, 0);
    this.#days = bitSet(fields.days, 1);
    this.#months = bitSet(fields.months, 1);
    this.#weekdays = bitSet(fields.weekdays, 0);
    this.#eitherDay = fields.dayIsStar || fields.weekdayIsStar ? 0 : -1;
    this.#specialDays = specialDays(fields);
    this.#firstMinute = firstMinute;
    this.#lastMinute = lastMinute;
    this.firstOfDay = firstHour * 60 + firstMinute;
    this.lastOfDay = lastHour * 60 + lastMinute;
    this.#calendar = calendarTable();
  }

  /** The days of a month of the given shape, bit 0 being the first. */
  daysOfShape(shape: number): number {
    if (((this.#months >>> (shape & 15)) & 1) === 0) return 0;
    const firstWeekday = (shape >>> 4) & 7;
    const week = ((this.#weekdays >>> firstWeekday) | (this.#weekdays << (7 - firstWeekday))) & 127;
    const byWeekday = Math.imul(week, EVERY_WEEK);
    const special = this.#specialDays[shape >>> 4] as number;
    const days = (this.#days & byWeekday) | (this.#eitherDay & (this.#days | byWeekday)) | special;
    return days & (0x7fffffff >>> (3 - (shape >>> 7)));
  }

  /** First matching wall minute at or after `wall`, or NO_NEXT. */
  next(wall: number): number {
    const { startOf, shapeOf, monthOf, months } = this.#calendar;
    const minutes = (wall - FIRST_MINUTE) | 0;
    const day = (minutes / MINUTES_PER_DAY) | 0;
    const month = monthOf[day] as number;
    const dayOfMonth = (day - (startOf[month] as number)) | 0;
    let days = this.daysOfShape(shapeOf[month] as number);
    if (((days >>> dayOfMonth) & 1) !== 0) {
      const minuteOfDay = this.nextInDay((minutes - day * MINUTES_PER_DAY) | 0);
      if (minuteOfDay < MINUTES_PER_DAY) return day * MINUTES_PER_DAY + minuteOfDay + FIRST_MINUTE;
    }
    days &= -2 << dayOfMonth;
    let found = month;
    while (days === 0) {
      found = this.#nextMonth(found, shapeOf);
      if (found >= months) return NO_NEXT;
      days = this.daysOfShape(shapeOf[found] as number);
    }
    return ((startOf[found] as number) + lowest(days)) * MINUTES_PER_DAY + this.firstOfDay + FIRST_MINUTE;
  }

  /** Last matching wall minute at or before `wall`, or NO_PREVIOUS. */
  previous(wall: number): number {
    const { startOf, shapeOf, monthOf } = this.#calendar;
    const minutes = (wall - FIRST_MINUTE) | 0;
    const day = (minutes / MINUTES_PER_DAY) | 0;
    const month = monthOf[day] as number;
    const dayOfMonth = (day - (startOf[month] as number)) | 0;
    let days = this.daysOfShape(shapeOf[month] as number);
    if (((days >>> dayOfMonth) & 1) !== 0) {
      const minuteOfDay = this.#previousInDay((minutes - day * MINUTES_PER_DAY) | 0);
      if (minuteOfDay >= 0) return day * MINUTES_PER_DAY + minuteOfDay + FIRST_MINUTE;
    }
    days &= ~(-1 << dayOfMonth);
    let found = month;
    while (days === 0) {
      found = this.#previousMonth(found, shapeOf);
      if (found < 0) return NO_PREVIOUS;
      days = this.daysOfShape(shapeOf[found] as number);
    }
    return ((startOf[found] as number) + highest(days)) * MINUTES_PER_DAY + this.lastOfDay + FIRST_MINUTE;
  }

  matches(wall: number): boolean {
    return this.next(wall) === wall;
  }

  /** First matching minute of a matching day at or after `from`; MINUTES_PER_DAY or more when there is none left. */
  nextInDay(from: number): number {
    const hour = (from / 60) | 0;
    const hours = this.#hours >>> hour;
    if ((hours & 1) !== 0) {
      const minute = this.#nextInHour((from - hour * 60) | 0);
      if (minute < 60) return hour * 60 + minute;
    }
    const later = hours & -2;
    return later === 0 ? MINUTES_PER_DAY : (hour + lowest(later)) * 60 + this.#firstMinute;
  }

  #nextInHour(from: number): number {
    if (from < 30) {
      const low = this.#minutesLow & (-1 << from);
      if (low !== 0) return lowest(low);
      return this.#minutesHigh === 0 ? 60 : 30 + lowest(this.#minutesHigh);
    }
    const high = this.#minutesHigh & (-1 << (from - 30));
    return high === 0 ? 60 : 30 + lowest(high);
  }

  /** Negative when the day has none up to here. */
  #previousInDay(from: number): number {
    const hour = (from / 60) | 0;
    if (((this.#hours >>> hour) & 1) !== 0) {
      const minute = this.#previousInHour((from - hour * 60) | 0);
      if (minute >= 0) return hour * 60 + minute;
    }
    const earlier = this.#hours & ~(-1 << hour);
    return earlier === 0 ? -1 : highest(earlier) * 60 + this.#lastMinute;
  }

  #previousInHour(from: number): number {
    if (from >= 30) {
      const high = this.#minutesHigh & ~(-2 << (from - 30));
      if (high !== 0) return 30 + highest(high);
      return this.#minutesLow === 0 ? -1 : highest(this.#minutesLow);
    }
    const low = this.#minutesLow & ~(-2 << from);
    return low === 0 ? -1 : highest(low);
  }

  /** The next month that the expression names, without visiting those between. */
  #nextMonth(month: number, shapeOf: Uint16Array): number {
    const monthOfYear = (shapeOf[month] as number) & 15;
    const later = this.#months & (-2 << monthOfYear);
    return month - monthOfYear + (later === 0 ? 12 + lowest(this.#months) : lowest(later));
  }

  #previousMonth(month: number, shapeOf: Uint16Array): number {
    const monthOfYear = (shapeOf[month] as number) & 15;
    const earlier = this.#months & ~(-1 << monthOfYear);
    return month - monthOfYear + (earlier === 0 ? highest(this.#months) - 12 : highest(earlier));
  }
}
