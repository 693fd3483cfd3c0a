import { describe, expect, test } from "vitest";
import { type CronFields, isImpossible } from "../../../src/core/cron/fields.js";
import { parsePosixCron } from "../../../src/core/cron/posix-dialect.js";
import { compileSchedule, type Schedule } from "../../../src/core/cron/schedule.js";
import { DAY_MS } from "../../../src/core/time/instant.js";
import { SUPPORTED_INSTANTS } from "../../../src/core/time/zone.js";
import { requireOk } from "../../support/results.js";
import { at, schedule, text } from "../../support/schedules.js";
import { zone } from "../../support/zones.js";

function posix(expression: string, zoneId = "UTC"): Schedule {
  return compileSchedule(requireOk(parsePosixCron(expression)), zone(zoneId));
}

describe("next: strictly after", () => {
  test.each([
    { name: "the next minute", cron: "* * * * *", after: "2026-03-01T00:00:00Z", next: "2026-03-01T00:01:00Z" },
    { name: "within a minute", cron: "* * * * *", after: "2026-03-01T00:00:00.001Z", next: "2026-03-01T00:01:00Z" },
    {
      name: "a millisecond before",
      cron: "* * * * *",
      after: "2026-03-01T00:00:59.999Z",
      next: "2026-03-01T00:01:00Z",
    },
    { name: "a list, middle", cron: "0,15,30,45 * * * *", after: "2026-03-01T00:15:00Z", next: "2026-03-01T00:30:00Z" },
    { name: "a list, wrap", cron: "0,15,30,45 * * * *", after: "2026-03-01T00:45:00Z", next: "2026-03-01T01:00:00Z" },
    {
      name: "second half of the hour only",
      cron: "45 * * * *",
      after: "2026-03-01T00:00:00Z",
      next: "2026-03-01T00:45:00Z",
    },
    { name: "minute 29", cron: "29 * * * *", after: "2026-03-01T00:28:00Z", next: "2026-03-01T00:29:00Z" },
    { name: "minute 30", cron: "30 * * * *", after: "2026-03-01T00:29:00Z", next: "2026-03-01T00:30:00Z" },
    {
      name: "minute 59 to the next hour",
      cron: "59 * * * *",
      after: "2026-03-01T00:59:00Z",
      next: "2026-03-01T01:59:00Z",
    },
    { name: "end of the day", cron: "0 0 * * *", after: "2026-03-01T00:00:00Z", next: "2026-03-02T00:00:00Z" },
    { name: "last hour of the day", cron: "0 23 * * *", after: "2026-03-01T12:00:00Z", next: "2026-03-01T23:00:00Z" },
    { name: "end of the month", cron: "0 12 1 * *", after: "2026-03-01T12:00:00Z", next: "2026-04-01T12:00:00Z" },
    { name: "end of the year", cron: "0 0 1 1 *", after: "2026-01-01T00:00:00Z", next: "2027-01-01T00:00:00Z" },
    { name: "months without day 31", cron: "0 0 31 * *", after: "2026-01-31T00:00:00Z", next: "2026-03-31T00:00:00Z" },
    { name: "a leap day", cron: "0 0 29 2 *", after: "2024-02-29T00:00:00Z", next: "2028-02-29T00:00:00Z" },
    {
      name: "the leap day that 2100 has not",
      cron: "0 0 29 2 *",
      after: "2096-02-29T00:00:00Z",
      next: "2104-02-29T00:00:00Z",
    },
    {
      name: "the next leap day of a leap year",
      cron: "0 0 29 2 *",
      after: "2024-01-01T00:00:00Z",
      next: "2024-02-29T00:00:00Z",
    },
    { name: "weekday", cron: "15 3 * * 1-5", after: "2026-03-06T03:15:00Z", next: "2026-03-09T03:15:00Z" },
    {
      name: "weekday of one month",
      cron: "0 0 * FEB SUN",
      after: "2026-02-22T00:00:00Z",
      next: "2027-02-07T00:00:00Z",
    },
    {
      name: "a zone ahead",
      cron: "0 0 * * *",
      zone: "Asia/Kathmandu",
      after: "2026-03-01T00:00:00Z",
      next: "2026-03-01T18:15:00Z",
    },
    {
      name: "a zone behind",
      cron: "0 0 * * *",
      zone: "America/New_York",
      after: "2026-01-01T00:00:00Z",
      next: "2026-01-01T05:00:00Z",
    },
    {
      name: "a fixed offset",
      cron: "0 0 * * *",
      zone: "+05:30",
      after: "2026-03-01T00:00:00Z",
      next: "2026-03-01T18:30:00Z",
    },
    {
      name: "leap day in a zone",
      cron: "0 0 29 2 *",
      zone: "America/New_York",
      after: "2024-02-29T05:00:00Z",
      next: "2028-02-29T05:00:00Z",
    },
    {
      name: "leap day over 2100 in a zone",
      cron: "0 0 29 2 *",
      zone: "Europe/Berlin",
      after: "2097-01-01T00:00:00Z",
      next: "2104-02-28T23:00:00Z",
    },
  ])("$name: $cron", ({ cron, zone: zoneId = "UTC", after, next }) => {
    expect(text(schedule(cron, zoneId).next(at(after)))).toBe(next);
    expect(text(schedule(cron, zoneId).previous(at(next)))).toBe(next);
  });
});

describe("previous: inclusive", () => {
  test.each([
    { name: "itself", cron: "*/5 * * * *", from: "2026-03-01T00:05:00Z", previous: "2026-03-01T00:05:00Z" },
    {
      name: "within its minute",
      cron: "*/5 * * * *",
      from: "2026-03-01T00:05:59.999Z",
      previous: "2026-03-01T00:05:00Z",
    },
    {
      name: "a millisecond before",
      cron: "*/5 * * * *",
      from: "2026-03-01T00:04:59.999Z",
      previous: "2026-03-01T00:00:00Z",
    },
    { name: "back over an hour", cron: "50 * * * *", from: "2026-03-01T05:49:00Z", previous: "2026-03-01T04:50:00Z" },
    {
      name: "first half of the hour only",
      cron: "10 * * * *",
      from: "2026-03-01T05:45:00Z",
      previous: "2026-03-01T05:10:00Z",
    },
    { name: "back over a day", cron: "0 12 * * *", from: "2026-03-01T11:59:00Z", previous: "2026-02-28T12:00:00Z" },
    { name: "back over a month", cron: "0 0 31 * *", from: "2026-03-30T00:00:00Z", previous: "2026-01-31T00:00:00Z" },
    { name: "back over a year", cron: "0 0 1 DEC *", from: "2026-11-01T00:00:00Z", previous: "2025-12-01T00:00:00Z" },
    { name: "back to a leap day", cron: "0 0 29 2 *", from: "2028-02-28T23:59:59Z", previous: "2024-02-29T00:00:00Z" },
    { name: "back over 2100", cron: "0 0 29 2 *", from: "2104-02-28T00:00:00Z", previous: "2096-02-29T00:00:00Z" },
    {
      name: "back over 2100 in a zone",
      cron: "0 0 29 2 *",
      zone: "Europe/Berlin",
      from: "2104-02-28T00:00:00Z",
      previous: "2096-02-28T23:00:00Z",
    },
  ])("$name: $cron", ({ cron, zone: zoneId = "UTC", from, previous }) => {
    expect(text(schedule(cron, zoneId).previous(at(from)))).toBe(previous);
  });
});

const ALL_OF_MARCH = Array.from({ length: 31 }, (_, i) => i + 1);

describe("day of month and day of week", () => {
  test.each([
    { name: "both *: every day", cron: "0 0 * * *", month: "2026-03", days: ALL_OF_MARCH },
    { name: "only the weekday", cron: "0 0 * * 1", month: "2026-03", days: [2, 9, 16, 23, 30] },
    { name: "only the day", cron: "0 0 15 * *", month: "2026-03", days: [15] },
    { name: "both: either suffices", cron: "0 0 1,15 * 1", month: "2026-03", days: [1, 2, 9, 15, 16, 23, 30] },
    {
      name: "*/10 is restricted (S3)",
      cron: "0 0 */10 * 1",
      month: "2026-03",
      days: [1, 2, 9, 11, 16, 21, 23, 30, 31],
    },
    { name: "1-31 is restricted (S3)", cron: "0 0 1-31 * 1", month: "2026-03", days: ALL_OF_MARCH },
    { name: "0-6 is restricted (S3)", cron: "0 0 15 * 0-6", month: "2026-03", days: ALL_OF_MARCH },
    { name: "a list with * is restricted (S3)", cron: "0 0 *,5 * 1", month: "2026-03", days: ALL_OF_MARCH },
    { name: "a day that the month has not", cron: "0 0 31 2 1", month: "2026-02", days: [2, 9, 16, 23] },
    { name: "another month", cron: "0 0 31 2 1", month: "2026-03", days: [] },
  ])("$name: $cron in $month", ({ cron, month, days }) => {
    const from = at(`${month}-01T00:00:00Z`);
    const found = [...schedule(cron).between(from, from + 32 * DAY_MS)].map(text);
    expect(found.filter((day) => day.startsWith(month))).toEqual(
      days.map((day) => `${month}-${String(day).padStart(2, "0")}T00:00:00Z`),
    );
  });
});

describe("between: [from, to)", () => {
  test.each([
    {
      name: "includes its start, excludes its end",
      from: "2026-03-01T00:00:00Z",
      to: "2026-03-01T01:00:00Z",
      count: 4,
    },
    {
      name: "a millisecond later at both ends",
      from: "2026-03-01T00:00:00.001Z",
      to: "2026-03-01T01:00:00.001Z",
      count: 4,
    },
    { name: "empty", from: "2026-03-01T00:00:00Z", to: "2026-03-01T00:00:00Z", count: 0 },
    { name: "backwards", from: "2026-03-01T01:00:00Z", to: "2026-03-01T00:00:00Z", count: 0 },
    { name: "between two times", from: "2026-03-01T00:01:00Z", to: "2026-03-01T00:14:00Z", count: 0 },
  ])("$name", ({ from, to, count }) => {
    const times = [...schedule("*/15 * * * *").between(at(from), at(to))];
    expect(times.length).toBe(count);
    expect(times.every((time) => time >= at(from) && time < at(to))).toBe(true);
  });
});

describe("the supported instants", () => {
  const { fromAt, untilAt } = SUPPORTED_INSTANTS;
  const everyMinute = { UTC: schedule("* * * * *"), "America/New_York": schedule("* * * * *", "America/New_York") };

  test.each([
    { name: "the first of all", found: everyMinute.UTC.previous(fromAt), expected: fromAt },
    { name: "nothing before the first", found: everyMinute.UTC.previous(fromAt - 1), expected: null },
    { name: "the first is found from before", found: everyMinute.UTC.next(fromAt - 1), expected: fromAt },
    {
      name: "the first is found from long before",
      found: everyMinute.UTC.next(Number.NEGATIVE_INFINITY),
      expected: fromAt,
    },
    { name: "the second", found: everyMinute.UTC.next(fromAt), expected: fromAt + 60_000 },
    { name: "the last of all", found: everyMinute.UTC.next(untilAt - 60_001), expected: untilAt - 60_000 },
    { name: "nothing after the last", found: everyMinute.UTC.next(untilAt - 60_000), expected: null },
    { name: "nothing after the end", found: everyMinute.UTC.next(untilAt), expected: null },
    { name: "nothing after all time", found: everyMinute.UTC.next(Number.POSITIVE_INFINITY), expected: null },
    {
      name: "the last is found from beyond",
      found: everyMinute.UTC.previous(untilAt * 10),
      expected: untilAt - 60_000,
    },
    { name: "the first in a zone", found: everyMinute["America/New_York"].previous(fromAt), expected: fromAt },
    {
      name: "nothing before the first in a zone",
      found: everyMinute["America/New_York"].previous(fromAt - 1),
      expected: null,
    },
    {
      name: "the last in a zone",
      found: everyMinute["America/New_York"].previous(untilAt),
      expected: untilAt - 60_000,
    },
    {
      name: "nothing after the last in a zone",
      found: everyMinute["America/New_York"].next(untilAt - 1),
      expected: null,
    },
    {
      name: "no further leap day",
      found: schedule("0 0 29 2 *", "Europe/Berlin").next(at("2197-01-01T00:00:00Z")),
      expected: null,
    },
    {
      name: "no earlier leap day",
      found: schedule("0 0 29 2 *", "Europe/Berlin").previous(at("1971-01-01T00:00:00Z")),
      expected: null,
    },
    {
      name: "no more of this year's",
      found: schedule("0 0 1 1 *", "Asia/Tokyo").next(at("2199-06-01T00:00:00Z")),
      expected: at("2199-12-31T15:00:00Z"),
    },
    {
      name: "nor after that",
      found: schedule("0 0 1 1 *", "Asia/Tokyo").next(at("2199-12-31T15:00:00Z")),
      expected: null,
    },
  ])("$name", ({ found, expected }) => {
    expect(found).toBe(expected);
  });

  test("asked about no number at all, breaks", () => {
    expect(() => schedule("* * * * *").next(Number.NaN)).toThrow("invariant broken");
    expect(() => schedule("* * * * *").previous(Number.NaN)).toThrow("invariant broken");
  });
});

describe("S4: schedules that never occur", () => {
  test.each([
    { cron: "0 0 30 2 *", isNever: true },
    { cron: "0 0 30,31 2 *", isNever: true },
    { cron: "0 0 31 2,4,6,9,11 *", isNever: true },
    { cron: "0 0 29 2 *", isNever: false },
    { cron: "0 0 30 2,3 *", isNever: false },
    { cron: "0 0 30 2 1", isNever: false },
    { cron: "0 0 * 2 *", isNever: false },
    { cron: "0 0 * 2 1", isNever: false },
  ])("$cron in the posix dialect: never due is $isNever", ({ cron, isNever }) => {
    const fields: CronFields = requireOk(parsePosixCron(cron));
    expect(isImpossible(fields)).toBe(isNever);
    for (const zoneId of ["UTC", "America/New_York"]) {
      expect(posix(cron, zoneId).next(at("2026-01-01T00:00:00Z")) === null).toBe(isNever);
      expect(posix(cron, zoneId).previous(at("2026-01-01T00:00:00Z")) === null).toBe(isNever);
    }
    expect(posix(cron).smallestGapMs === Number.POSITIVE_INFINITY).toBe(isNever);
  });
});
