import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  civilFromDays,
  daysFromCivil,
  daysInMonth,
  isLeapYear,
  isoWeekOfDays,
  weekdayOfDays,
} from "../../../src/core/time/civil.js";
import { DAY_MS } from "../../../src/core/time/instant.js";
import { FUZZ } from "../../support/fuzz.js";

const SUNDAY = 0;
const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;

describe("civil dates", () => {
  test.each([
    { date: [1970, 1, 1], days: 0, weekday: THURSDAY },
    { date: [1969, 12, 31], days: -1, weekday: 3 },
    { date: [2000, 2, 29], days: 11_016, weekday: 2 },
    { date: [2026, 3, 1], days: 20_513, weekday: SUNDAY },
    { date: [2026, 11, 16], days: 20_773, weekday: MONDAY },
    { date: [2100, 3, 1], days: 47_541, weekday: MONDAY },
    { date: [0, 1, 1], days: -719_528, weekday: SATURDAY },
    { date: [9999, 12, 31], days: 2_932_896, weekday: 5 },
  ] as const)("$date is day $days", ({ date: [year, month, day], days, weekday }) => {
    expect(daysFromCivil(year, month, day)).toBe(days);
    expect(civilFromDays(days)).toEqual({ year, month, day });
    expect(weekdayOfDays(days)).toBe(weekday);
  });

  test.each([
    { year: 1900, leap: false, february: 28 },
    { year: 2000, leap: true, february: 29 },
    { year: 2024, leap: true, february: 29 },
    { year: 2026, leap: false, february: 28 },
    { year: 2100, leap: false, february: 28 },
  ])("February $year has $february days", ({ year, leap, february }) => {
    expect(isLeapYear(year)).toBe(leap);
    expect(daysInMonth(year, 2)).toBe(february);
  });

  test.each([
    { date: [2026, 3, 1], week: { year: 2026, week: 9 } },
    { date: [2026, 12, 31], week: { year: 2026, week: 53 } },
    { date: [2027, 1, 1], week: { year: 2026, week: 53 } },
    { date: [2027, 1, 4], week: { year: 2027, week: 1 } },
    { date: [2024, 12, 30], week: { year: 2025, week: 1 } },
    { date: [2023, 1, 1], week: { year: 2022, week: 52 } },
    { date: [2020, 12, 31], week: { year: 2020, week: 53 } },
  ] as const)("$date lies in ISO week $week.year-W$week.week", ({ date: [year, month, day], week }) => {
    expect(isoWeekOfDays(daysFromCivil(year, month, day))).toEqual(week);
  });

  test("agrees with the calendar of the language on every day it is asked about", () => {
    fc.assert(
      fc.property(fc.integer({ min: -719_528, max: 2_932_896 }), (days) => {
        const date = new Date(days * DAY_MS);
        const civil = civilFromDays(days);
        expect(civil).toEqual({ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() });
        expect(daysFromCivil(civil.year, civil.month, civil.day)).toBe(days);
        expect(weekdayOfDays(days)).toBe(date.getUTCDay());
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("gives every week seven days and keeps them in one ISO year", () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 100_000 }), (days) => {
        const monday = days - ((weekdayOfDays(days) + 6) % 7);
        const weeks = Array.from({ length: 7 }, (_, i) => isoWeekOfDays(monday + i));
        expect(new Set(weeks.map((week) => `${week.year} ${week.week}`)).size).toBe(1);
        expect(isoWeekOfDays(monday + 7)).not.toEqual(weeks[0]);
      }),
      FUZZ,
    );
  });
});
