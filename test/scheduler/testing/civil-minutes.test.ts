import { describe, expect, test } from "vitest";
import { isValidExpression, namedMinutes } from "../../../src/scheduler/testing/check/civil-minutes.js";

describe("the checker's own reading of expressions", () => {
  const VALID = [
    "0 0 * * *",
    "15 3 * * 1-5",
    "0,30 * * * *",
    "0 12 14 2 *",
    " \t0  0 * * * ",
    "00 007 * * *",
    "1,1,1-1 * * * *",
    "0 0 30 2 *",
  ];
  test.each(VALID)("accepts %j", (text) => {
    expect(isValidExpression(text)).toBe(true);
  });

  const INVALID = [
    "*/15 * * * *",
    "0 0 * * mon",
    "@daily",
    "0 0 ? * *",
    "0 0 L * *",
    "0 0 * * 7",
    "0 0 * * 5-1",
    "60 0 * * *",
    "0 24 * * *",
    "0 0 0 * *",
    "0 0 * 13 *",
    "1e1 0 * * *",
    "0x1 0 * * *",
    "+1 0 * * *",
    "-1 0 * * *",
    "1, 0 * * *",
    ",1 0 * * *",
    "*,1 0 * * *",
    "1-2-3 0 * * *",
    "0 0 * *",
    "0 0 * * * *",
    "",
    "0\n0 * * *",
  ];
  test.each(INVALID)("refuses %j", (text) => {
    expect(isValidExpression(text)).toBe(false);
  });
});

function named(text: string, timeZone: string, after: string, upTo: string): readonly string[] {
  const starts = namedMinutes(text, timeZone, Date.parse(after), Date.parse(upTo));
  return starts.map((at) => new Date(at).toISOString().slice(0, 16));
}

describe("the checker's own calendar (S3)", () => {
  test("a minute belongs to the stretch in which it begins", () => {
    expect(named("* * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z")).toEqual([
      "2026-01-01T00:01",
      "2026-01-01T00:02",
    ]);
    expect(named("* * * * *", "UTC", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:59.999Z")).toEqual([]);
    expect(named("* * * * *", "UTC", "2025-12-31T23:59:59.999Z", "2026-01-01T00:00:00Z")).toEqual(["2026-01-01T00:00"]);
  });

  const DAYS = [
    {
      text: "30 2 * * *",
      zone: "Europe/Berlin",
      from: "2026-03-28T12:00Z",
      to: "2026-03-30T12:00Z",
      found: ["2026-03-30T00:30"],
    },
    {
      text: "30 2 * * *",
      zone: "Europe/Berlin",
      from: "2026-10-24T12:00Z",
      to: "2026-10-25T12:00Z",
      found: ["2026-10-25T00:30", "2026-10-25T01:30"],
    },
    {
      text: "15 2 * * *",
      zone: "Australia/Lord_Howe",
      from: "2026-10-03T00:00Z",
      to: "2026-10-05T00:00Z",
      found: ["2026-10-04T15:15"],
    },
    { text: "0 12 30 * *", zone: "Pacific/Apia", from: "2011-12-28T00:00Z", to: "2012-01-02T00:00Z", found: [] },
    {
      text: "0 0 13 * 5",
      zone: "UTC",
      from: "2026-02-10T00:00Z",
      to: "2026-02-21T00:00Z",
      found: ["2026-02-13T00:00", "2026-02-20T00:00"],
    },
    {
      text: "0 0 * * 0",
      zone: "Asia/Kathmandu",
      from: "2026-01-01T00:00Z",
      to: "2026-01-06T00:00Z",
      found: ["2026-01-03T18:15"],
    },
    { text: "0 0 30 2 *", zone: "UTC", from: "2026-02-20T00:00Z", to: "2026-03-05T00:00Z", found: [] },
  ];
  test.each(DAYS)("$text in $zone from $from", ({ text, zone, from, to, found }) => {
    expect(named(text, zone, from, to)).toEqual(found);
  });
});
