import { describe, expect, test } from "vitest";
import { at, following, schedule, text } from "../../support/schedules.js";

describe("S3: clock changes, default rule (a skipped time yields no period, a repeated one two)", () => {
  test.each([
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
