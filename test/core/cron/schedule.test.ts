import { describe, expect, it } from "vitest";
import type { CronFields } from "../../../src/core/cron/fields.js";
import { isImpossible } from "../../../src/core/cron/fields.js";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { parsePosixCron } from "../../../src/core/cron/posix-dialect.js";
import { compileSchedule, type Schedule } from "../../../src/core/cron/schedule.js";
import type { DstRule } from "../../../src/core/job/definition.js";
import { DAY_MS, formatInstant, parseInstant } from "../../../src/core/time/instant.js";
import { SUPPORTED_INSTANTS } from "../../../src/core/time/zone.js";
import { requireOk } from "../../support/results.js";
import { zone } from "../../support/zones.js";

function at(text: string): number {
  return requireOk(parseInstant(text));
}

function text(instant: number | null): string {
  return instant === null ? "none" : formatInstant(instant);
}

function schedule(expression: string, zoneId = "UTC", dst?: DstRule): Schedule {
  return compileSchedule(requireOk(parseKronCron(expression)), zone(zoneId), dst);
}

function posix(expression: string, zoneId = "UTC"): Schedule {
  return compileSchedule(requireOk(parsePosixCron(expression)), zone(zoneId));
}

/** `count` times `next`, from `after`. */
function following(from: Schedule, after: string, count: number): string[] {
  const found: string[] = [];
  for (let cursor = from.next(at(after)); found.length < count; cursor = cursor === null ? null : from.next(cursor)) {
    found.push(text(cursor));
  }
  return found;
}

describe("next: strictly after", () => {
  it.each([
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
  it.each([
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
  it.each([
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

describe("S3: clock changes, default rule (a skipped time yields no period, a repeated one two)", () => {
  it.each([
    // New York, 2012-03-11: 02:00 → 03:00.
    {
      name: "hourly over the gap",
      zone: "America/New_York",
      cron: "0 * * * *",
      after: "2012-03-11T00:00:00-05:00",
      times: ["2012-03-11T01:00:00-05:00", "2012-03-11T03:00:00-04:00", "2012-03-11T04:00:00-04:00"],
    },
    {
      name: "every half hour over the gap",
      zone: "America/New_York",
      cron: "*/30 * * * *",
      after: "2012-03-11T01:00:00-05:00",
      times: ["2012-03-11T01:30:00-05:00", "2012-03-11T03:00:00-04:00", "2012-03-11T03:30:00-04:00"],
    },
    {
      name: "1:30 before the gap",
      zone: "America/New_York",
      cron: "30 1 * * *",
      after: "2012-03-10T12:00:00-05:00",
      times: ["2012-03-11T01:30:00-05:00", "2012-03-12T01:30:00-04:00"],
    },
    {
      name: "2:00 in the gap",
      zone: "America/New_York",
      cron: "0 2 * * *",
      after: "2012-03-10T12:00:00-05:00",
      times: ["2012-03-12T02:00:00-04:00", "2012-03-13T02:00:00-04:00"],
    },
    {
      name: "2:30 in the gap",
      zone: "America/New_York",
      cron: "30 2 * * *",
      after: "2012-03-10T12:00:00-05:00",
      times: ["2012-03-12T02:30:00-04:00", "2012-03-13T02:30:00-04:00"],
    },
    {
      name: "2:30 on that day only",
      zone: "America/New_York",
      cron: "30 2 11 3 *",
      after: "2012-01-01T00:00:00-05:00",
      times: ["2013-03-11T02:30:00-04:00", "2014-03-11T02:30:00-04:00", "2015-03-11T02:30:00-04:00"],
    },
    {
      name: "3:00 after the gap",
      zone: "America/New_York",
      cron: "0 3 * * *",
      after: "2012-03-10T12:00:00-05:00",
      times: ["2012-03-11T03:00:00-04:00", "2012-03-12T03:00:00-04:00"],
    },
    {
      name: "from within the hour before the gap",
      zone: "America/New_York",
      cron: "0 0 * * *",
      after: "2012-03-11T01:59:59-05:00",
      times: ["2012-03-12T00:00:00-04:00"],
    },
    // New York, 2012-11-04: 02:00 → 01:00.
    {
      name: "hourly over the overlap",
      zone: "America/New_York",
      cron: "0 * * * *",
      after: "2012-11-04T00:00:00-04:00",
      times: ["2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00", "2012-11-04T02:00:00-05:00"],
    },
    {
      name: "every half hour over the overlap",
      zone: "America/New_York",
      cron: "*/30 * * * *",
      after: "2012-11-04T01:00:00-04:00",
      times: [
        "2012-11-04T01:30:00-04:00",
        "2012-11-04T01:00:00-05:00",
        "2012-11-04T01:30:00-05:00",
        "2012-11-04T02:00:00-05:00",
      ],
    },
    {
      name: "1:00 in the overlap",
      zone: "America/New_York",
      cron: "0 1 * * *",
      after: "2012-11-04T00:00:00-04:00",
      times: ["2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00", "2012-11-05T01:00:00-05:00"],
    },
    {
      name: "1:30 from between the two",
      zone: "America/New_York",
      cron: "30 1 * * *",
      after: "2012-11-04T01:45:00-04:00",
      times: ["2012-11-04T01:30:00-05:00", "2012-11-05T01:30:00-05:00"],
    },
    {
      name: "2:00 after the overlap",
      zone: "America/New_York",
      cron: "0 2 * * *",
      after: "2012-11-04T00:00:00-04:00",
      times: ["2012-11-04T02:00:00-05:00", "2012-11-05T02:00:00-05:00"],
    },
    {
      name: "1:15 of that day only",
      zone: "America/New_York",
      cron: "15 1 4 11 *",
      after: "2012-11-04T01:15:00-04:00",
      times: ["2012-11-04T01:15:00-05:00", "2013-11-04T01:15:00-05:00"],
    },
    // Berlin, 2026.
    {
      name: "daily over the gap",
      zone: "Europe/Berlin",
      cron: "0 0 * * *",
      after: "2026-03-28T00:00:00+01:00",
      times: ["2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"],
    },
    {
      name: "daily over the overlap",
      zone: "Europe/Berlin",
      cron: "0 3 * * *",
      after: "2026-10-24T03:00:00+02:00",
      times: ["2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"],
    },
    {
      name: "2:30 is repeated",
      zone: "Europe/Berlin",
      cron: "30 2 * * *",
      after: "2026-10-24T12:00:00+02:00",
      times: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"],
    },
    {
      name: "weekday that contains the gap",
      zone: "Europe/Berlin",
      cron: "30 2 * * SUN",
      after: "2026-03-22T02:30:00+01:00",
      times: ["2026-04-05T02:30:00+02:00"],
    },
    // Half an hour.
    {
      name: "Lord Howe repeats 1:30 to 2:00",
      zone: "Australia/Lord_Howe",
      cron: "*/15 1-2 * * *",
      after: "2026-04-05T01:30:00+11:00",
      times: [
        "2026-04-05T01:45:00+11:00",
        "2026-04-05T01:30:00+10:30",
        "2026-04-05T01:45:00+10:30",
        "2026-04-05T02:00:00+10:30",
      ],
    },
    {
      name: "Lord Howe skips 2:00 to 2:30",
      zone: "Australia/Lord_Howe",
      cron: "*/15 1-2 * * *",
      after: "2026-10-04T01:30:00+10:30",
      times: ["2026-10-04T01:45:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-04T02:45:00+11:00"],
    },
    {
      name: "hourly on Lord Howe's half hour",
      zone: "Australia/Lord_Howe",
      cron: "0 * * * *",
      after: "2026-04-05T01:00:00+11:00",
      times: ["2026-04-05T02:00:00+10:30", "2026-04-05T03:00:00+10:30"],
    },
    // Two hours.
    {
      name: "Troll skips 1:00 to 3:00",
      zone: "Antarctica/Troll",
      cron: "30 * * * *",
      after: "2026-03-29T00:30:00+00:00",
      times: ["2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00"],
    },
    {
      name: "Troll repeats 1:00 to 3:00",
      zone: "Antarctica/Troll",
      cron: "0 1,2 * * *",
      after: "2026-10-25T00:00:00+02:00",
      times: [
        "2026-10-25T01:00:00+02:00",
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T01:00:00+00:00",
        "2026-10-25T02:00:00+00:00",
      ],
    },
    // Whole days.
    {
      name: "Apia has no 30 December 2011",
      zone: "Pacific/Apia",
      cron: "0 12 * * *",
      after: "2011-12-28T12:00:00-10:00",
      times: ["2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"],
    },
    {
      name: "Apia, 30 December only",
      zone: "Pacific/Apia",
      cron: "0 12 30 12 *",
      after: "2010-12-30T12:00:00-10:00",
      times: ["2012-12-30T12:00:00+14:00"],
    },
    {
      name: "Apia, Fridays",
      zone: "Pacific/Apia",
      cron: "0 12 * * FRI",
      after: "2011-12-23T12:00:00-10:00",
      times: ["2012-01-06T12:00:00+14:00"],
    },
    {
      name: "Kwajalein has no 21 August 1993",
      zone: "Pacific/Kwajalein",
      cron: "0 0 * * *",
      after: "1993-08-20T00:00:00-12:00",
      times: ["1993-08-22T00:00:00+12:00", "1993-08-23T00:00:00+12:00"],
    },
    // Midnight.
    {
      name: "Havana skips midnight",
      zone: "America/Havana",
      cron: "0 0 * * *",
      after: "2026-03-07T00:00:00-05:00",
      times: ["2026-03-09T00:00:00-04:00"],
    },
    {
      name: "Havana repeats midnight",
      zone: "America/Havana",
      cron: "0 0 * * *",
      after: "2026-10-31T12:00:00-04:00",
      times: ["2026-11-01T00:00:00-04:00", "2026-11-01T00:00:00-05:00", "2026-11-02T00:00:00-05:00"],
    },
    {
      name: "Beirut skips midnight of a Sunday",
      zone: "Asia/Beirut",
      cron: "0 0 * * SUN",
      after: "2026-03-22T12:00:00+02:00",
      times: ["2026-04-05T00:00:00+03:00"],
    },
    {
      name: "Asuncion skipped midnight",
      zone: "America/Asuncion",
      cron: "0 0 * * *",
      after: "2023-09-30T00:00:00-04:00",
      times: ["2023-10-02T00:00:00-03:00"],
    },
    {
      name: "Santiago skips midnight",
      zone: "America/Santiago",
      cron: "0 0 * * *",
      after: "2026-09-05T00:00:00-04:00",
      times: ["2026-09-07T00:00:00-03:00"],
    },
    // Negative and irregular.
    {
      name: "Dublin's winter",
      zone: "Europe/Dublin",
      cron: "30 1 * * *",
      after: "2026-10-24T12:00:00+01:00",
      times: ["2026-10-25T01:30:00+01:00", "2026-10-25T01:30:00+00:00", "2026-10-26T01:30:00+00:00"],
    },
    {
      name: "Casablanca before Ramadan",
      zone: "Africa/Casablanca",
      cron: "30 2 * * *",
      after: "2026-02-14T12:00:00+01:00",
      times: ["2026-02-15T02:30:00+01:00", "2026-02-15T02:30:00+00:00", "2026-02-16T02:30:00+00:00"],
    },
    {
      name: "Casablanca after Ramadan",
      zone: "Africa/Casablanca",
      cron: "30 2 * * *",
      after: "2026-03-21T12:00:00+00:00",
      times: ["2026-03-23T02:30:00+01:00"],
    },
    {
      name: "Casey, three hours back",
      zone: "Antarctica/Casey",
      cron: "0 1 * * *",
      after: "2010-03-04T12:00:00+11:00",
      times: ["2010-03-05T01:00:00+11:00", "2010-03-05T01:00:00+08:00", "2010-03-06T01:00:00+08:00"],
    },
    {
      name: "Scoresbysund changes its zone",
      zone: "America/Scoresbysund",
      cron: "0 0 * * *",
      after: "2024-03-30T12:00:00-01:00",
      times: ["2024-03-31T00:00:00-01:00", "2024-04-01T00:00:00-01:00"],
    },
    {
      name: "a zone without changes",
      zone: "Asia/Tokyo",
      cron: "30 2 * * *",
      after: "2026-03-28T12:00:00+09:00",
      times: ["2026-03-29T02:30:00+09:00", "2026-03-30T02:30:00+09:00"],
    },
    // An offset with seconds: nominal times are the whole minutes of the wall (S1).
    {
      name: "Monrovia until 1972",
      zone: "Africa/Monrovia",
      cron: "0 12 * * *",
      after: "1972-01-05T12:44:30Z",
      times: ["1972-01-06T12:44:30Z", "1972-01-07T12:00:00Z"],
    },
    {
      name: "Monrovia skips 44 minutes",
      zone: "Africa/Monrovia",
      cron: "*/15 * * * *",
      after: "1972-01-07T00:29:00Z",
      times: ["1972-01-07T00:29:30Z", "1972-01-07T00:45:00Z", "1972-01-07T01:00:00Z"],
    },
  ])("$zone, $name: $cron", ({ zone: zoneId, cron, after, times }) => {
    const expected = times.map((time) => text(at(time)));
    const compiled = schedule(cron, zoneId);
    expect(following(compiled, after, times.length)).toEqual(expected);
    const before = text(compiled.previous(at(after)));
    expect(expected.map((time) => text(compiled.previous(at(time))))).toEqual(expected);
    expect(expected.map((time) => text(compiled.previous(at(time) - 1)))).toEqual([before, ...expected.slice(0, -1)]);
    expect(expected.map((time) => compiled.matches(at(time)))).toEqual(expected.map(() => true));
  });
});

describe("S3: dst.gap and dst.overlap", () => {
  const berlin = "Europe/Berlin";
  it.each<{ name: string; zone: string; cron: string; dst: DstRule; from: string; to: string; times: string[] }>([
    {
      name: "gap skip",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "both" },
      from: "2026-03-28T12:00:00Z",
      to: "2026-03-30T12:00:00Z",
      times: ["2026-03-30T02:30:00+02:00"],
    },
    {
      name: "gap next",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-28T12:00:00Z",
      to: "2026-03-30T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
    },
    {
      name: "gap next, several skipped times become one",
      zone: berlin,
      cron: "*/10 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00"],
    },
    {
      name: "gap next, the end of the gap matches anyway",
      zone: berlin,
      cron: "0 2,3 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00"],
    },
    {
      name: "gap next, nothing was skipped",
      zone: berlin,
      cron: "30 4 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T04:30:00+02:00"],
    },
    {
      name: "gap next, a skipped day of the year",
      zone: "Pacific/Apia",
      cron: "0 12 30 12 *",
      dst: { gap: "next", overlap: "both" },
      from: "2011-01-01T00:00:00Z",
      to: "2012-12-01T00:00:00Z",
      times: ["2011-12-31T00:00:00+14:00"],
    },
    {
      name: "gap next, a skipped midnight",
      zone: "America/Havana",
      cron: "0 0 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-07T06:00:00Z",
      to: "2026-03-09T06:00:00Z",
      times: ["2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"],
    },
    {
      name: "gap next, half an hour",
      zone: "Australia/Lord_Howe",
      cron: "15 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-10-03T12:00:00Z",
      to: "2026-10-04T12:00:00Z",
      times: ["2026-10-04T02:30:00+11:00"],
    },
    {
      name: "gap next, the first whole minute after the gap (S1)",
      zone: "Africa/Monrovia",
      cron: "20 0 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "1972-01-06T12:00:00Z",
      to: "1972-01-08T00:00:00Z",
      times: ["1972-01-07T00:45:00Z"],
    },
    {
      name: "overlap both",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "both" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"],
    },
    {
      name: "overlap first",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+02:00"],
    },
    {
      name: "overlap last",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+01:00"],
    },
    {
      name: "overlap first, hourly leaves two hours between",
      zone: berlin,
      cron: "0 * * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-10-25T00:00:00Z",
      to: "2026-10-25T03:00:00Z",
      times: ["2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00"],
    },
    {
      name: "overlap last, hourly leaves two hours between",
      zone: berlin,
      cron: "0 * * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T23:00:00Z",
      to: "2026-10-25T03:00:00Z",
      times: ["2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"],
    },
    {
      name: "overlap first, half an hour",
      zone: "Australia/Lord_Howe",
      cron: "*/15 1 * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-04-04T14:00:00Z",
      to: "2026-04-04T16:00:00Z",
      times: [
        "2026-04-05T01:00:00+11:00",
        "2026-04-05T01:15:00+11:00",
        "2026-04-05T01:30:00+11:00",
        "2026-04-05T01:45:00+11:00",
      ],
    },
    {
      name: "overlap last, two hours",
      zone: "Antarctica/Troll",
      cron: "0 1,2 * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T22:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T01:00:00+00:00", "2026-10-25T02:00:00+00:00"],
    },
  ])("$name ($zone, $cron)", ({ zone: zoneId, cron, dst, from, to, times }) => {
    const expected = times.map((time) => text(at(time)));
    const compiled = schedule(cron, zoneId, dst);
    expect([...compiled.between(at(from), at(to))].map(text)).toEqual(expected);
    for (const time of expected) {
      expect(text(compiled.previous(at(time)))).toBe(time);
      expect(text(compiled.next(at(time) - 1))).toBe(time);
      expect(compiled.matches(at(time))).toBe(true);
    }
    expect(text(compiled.previous(at(to) - 1))).toBe(expected.at(-1));
  });
});

describe("between: [from, to)", () => {
  it.each([
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

  it.each([
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

  it("asked about no number at all, breaks", () => {
    expect(() => schedule("* * * * *").next(Number.NaN)).toThrow("invariant broken");
    expect(() => schedule("* * * * *").previous(Number.NaN)).toThrow("invariant broken");
  });
});

describe("S4: schedules that never occur", () => {
  it.each([
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
