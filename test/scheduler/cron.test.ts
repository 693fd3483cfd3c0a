import { describe, expect, test } from "vitest";
import {
  CronCalculationError,
  FieldParseError,
  InvalidCronExpressionError,
  matchesCron,
  nextOccurrence,
  parseCron,
  previousOccurrence,
} from "../../src/scheduler/index.js";
import { at } from "./support.js";

function thrown(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("parseCron", () => {
  test("exposes the five value sets and which day field was literally *", () => {
    const cron = parseCron("0,30 1-3 15 * 1,5");
    expect(cron).toEqual({
      minutes: [0, 30],
      hours: [1, 2, 3],
      days: [15],
      months: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      weekdays: [1, 5],
      dayIsStar: false,
      weekdayIsStar: false,
      text: "0,30 1-3 15 * 1,5",
    });
    expect([parseCron("0 0 * * 1").dayIsStar, parseCron("0 0 1-31 * 1").dayIsStar]).toEqual([true, false]);
  });

  test.each([
    ["too few fields", "* * *", "expression"],
    ["steps", "*/15 * * * *", "minute"],
    ["names", "0 0 * * mon", "weekday"],
    ["macros", "@daily", "expression"],
    ["Quartz tokens", "0 0 ? * *", "day"],
    ["weekday 7", "0 0 * * 7", "weekday"],
    ["wrap-around", "0 22-2 * * *", "hour"],
    ["out of range", "60 * * * *", "minute"],
    ["not decimal", "0x1 * * * *", "minute"],
  ])("Validation rules: %s", (_, expression, field) => {
    const error = thrown(() => parseCron(expression));
    expect(error).toBeInstanceOf(InvalidCronExpressionError);
    expect(error).toMatchObject({ expression, field });
    expect((error as Error).message).toMatch(new RegExp(`: ${field} field `));
  });

  test("the cause is the error of the field", () => {
    const error = thrown(() => parseCron("0 24 * * *")) as Error;
    expect(error.cause).toBeInstanceOf(FieldParseError);
    expect(error.cause).toMatchObject({ fieldName: "hour", fieldValue: "24" });
  });

  test("something that is no text is refused as an expression", () => {
    expect(thrown(() => parseCron(5 as unknown as string))).toMatchObject({
      message: 'Invalid cron expression "5": expression field must be a string',
    });
  });
});

describe("questions to an expression", () => {
  test.each([
    ["anywhere in the minute", "30 12 * * *", "2026-01-05T12:30:59.999Z", "UTC", true],
    ["the minute after", "30 12 * * *", "2026-01-05T12:31:00Z", "UTC", false],
    ["in a zone", "30 13 * * *", "2026-01-05T12:30:10Z", "Europe/Berlin", true],
    ["day or weekday", "0 0 1 * 1", "2026-01-05T00:00:00Z", "UTC", true],
    ["neither day nor weekday", "0 0 1 * 2", "2026-01-05T00:00:00Z", "UTC", false],
  ])("matchesCron: %s", (_, cron, instant, zone, expected) => {
    expect(matchesCron(cron, at(instant), zone)).toBe(expected);
    expect(matchesCron(parseCron(cron), new Date(instant), zone)).toBe(expected);
  });

  test.each([
    ["strictly after the minute of the argument", "30 12 * * *", "2026-01-05T12:30:20Z", "2026-01-06T12:30:00Z"],
    ["also at its very start", "* * * * *", "2026-01-05T12:30:00Z", "2026-01-05T12:31:00Z"],
    ["before it", "30 12 * * *", "2026-01-05T12:29:59.999Z", "2026-01-05T12:30:00Z"],
    ["over the years", "0 0 29 2 *", "2026-01-05T00:00:00Z", "2028-02-29T00:00:00Z"],
  ])("nextOccurrence: %s", (_, cron, from, expected) => {
    expect(nextOccurrence(cron, at(from), "UTC")).toBe(at(expected));
  });

  test.each([
    ["inclusive", "30 12 * * *", "2026-01-05T12:30:00Z", "2026-01-05T12:30:00Z"],
    ["within the minute", "30 12 * * *", "2026-01-05T12:30:59Z", "2026-01-05T12:30:00Z"],
    ["before it", "30 12 * * *", "2026-01-05T12:29:59.999Z", "2026-01-04T12:30:00Z"],
  ])("previousOccurrence: %s", (_, cron, from, expected) => {
    expect(previousOccurrence(cron, at(from), "UTC")).toBe(at(expected));
  });

  test("S3: the next occurrence leaps over a gap and meets both minutes of an overlap", () => {
    const next = (from: string) => new Date(nextOccurrence("30 2 * * *", at(from), "Europe/Berlin")).toISOString();
    expect(next("2026-03-28T12:00:00Z")).toBe("2026-03-30T00:30:00.000Z");
    expect(next("2026-10-25T00:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
    expect(next("2026-10-25T00:30:00Z")).toBe("2026-10-25T01:30:00.000Z");
  });

  test("S4: an impossible day has neither a next nor a previous occurrence", () => {
    const from = at("2026-01-05T00:00:00Z");
    const error = thrown(() => nextOccurrence("0 0 30 2 *", from, "UTC"));
    expect(error).toBeInstanceOf(CronCalculationError);
    expect(error).toMatchObject({
      message: "Failed to calculate next occurrence: there is no next occurrence",
      expression: "0 0 30 2 *",
      currentTime: "2026-01-05T00:00:00.000Z",
      details: { cause: expect.any(Error) },
    });
    expect(thrown(() => previousOccurrence(parseCron("0 0 30 2 *"), from, "UTC"))).toBeInstanceOf(CronCalculationError);
    expect(matchesCron("0 0 30 2 *", from, "UTC")).toBe(false);
  });

  test("a zone or an instant that does not exist is a RangeError", () => {
    expect(thrown(() => nextOccurrence("* * * * *", 0, "Middle/Earth"))).toBeInstanceOf(RangeError);
    expect(thrown(() => nextOccurrence("* * * * *", Number.NaN, "UTC"))).toBeInstanceOf(RangeError);
  });
});
