import { describe, expect, test } from "vitest";
import { checkTrace, formatTrace, PROPERTY_IDS, withEnvironment } from "../../../src/scheduler/testing/index.js";
import { CALENDAR_ROWS, DOUBT_LISTS, DOUBT_ROWS } from "./support/written-doubts.js";
import { LISTS, PROPERTY_ROWS } from "./support/written-properties.js";
import { writtenTrace } from "./support/written-trace.js";

describe("the checker knows right from wrong", () => {
  test.each(PROPERTY_ROWS)("$property: $what", ({ property, good, bad }) => {
    expect(checkTrace(writtenTrace({ lists: LISTS }, good))).toEqual([]);
    const violations = checkTrace(writtenTrace({ lists: LISTS }, bad));
    expect(violations.map((violation) => violation.property)).toContain(property);
  });

  test("every property P1-P26 and L1-L4 has a row", () => {
    const shown = new Set(PROPERTY_ROWS.map((row) => row.property));
    expect(PROPERTY_IDS.filter((property) => !shown.has(property))).toEqual([]);
    expect(PROPERTY_IDS).toHaveLength(30);
  });

  test("a violation says where, when and about what", () => {
    const trace = writtenTrace({ lists: LISTS }, "10:30:00 IS 1 X\n10:30:00 IEs 1\n10:40:00 RS x\n10:41:00 END");
    expect(checkTrace(trace)).toContainEqual({
      property: "P1",
      message: "started although nothing was owed",
      action: 2,
      at: Date.parse("2026-03-01T10:40:00Z"),
      task: "x",
    });
  });
});

describe("the checker knows the calendar (S3)", () => {
  test.each(CALENDAR_ROWS)("$what", ({ timeZone, date, cron, good, bad }) => {
    const written = { timeZone, date, lists: { L: [["x", cron, 5]] } } as const;
    expect(checkTrace(writtenTrace(written, good))).toEqual([]);
    expect(checkTrace(writtenTrace(written, bad))).not.toEqual([]);
  });
});

describe("the checker holds nothing against a scheduler that a trace does not show", () => {
  test.each(DOUBT_ROWS)("$doubt", ({ either, or }) => {
    expect(checkTrace(writtenTrace({ lists: DOUBT_LISTS }, either))).toEqual([]);
    expect(checkTrace(writtenTrace({ lists: DOUBT_LISTS }, or))).toEqual([]);
  });
});

describe("the environment's part of a trace", () => {
  const JUMPY = `10:30:00 IS 1 X\n10:30:00 IEs 1\n10:40:00 Clock 12:30:00\n12:30:10 RS x\n12:30:20 REf x
    12:31:00 Pause 13:10:00\n13:10:00 RS x\n13:10:01 REs x\n13:20:00 END`;

  test("is worked out, also inside jumps, and changes no verdict", () => {
    const trace = writtenTrace({ lists: LISTS }, JUMPY);
    const annotated = withEnvironment(trace);
    expect(formatTrace(annotated)).toBe("IS IEs Due Due RS REf RetryDue Due RS REs");
    expect(withEnvironment(annotated)).toEqual(annotated);
    expect(checkTrace(annotated)).toEqual(checkTrace(trace));
    expect(checkTrace(trace)).toEqual([]);
  });
});

describe("limits of the checker", () => {
  const LATE = "10:30:00 IS 1 X\n10:30:00 IEs 1\n11:00:20 RS x\n11:00:21 END";

  test("L1 allows a minute, unless told otherwise", () => {
    const trace = writtenTrace({ lists: LISTS }, LATE);
    expect(checkTrace(trace)).toEqual([]);
    expect(checkTrace(trace, { withinMs: 10_000 }).map((violation) => violation.property)).toContain("L1");
  });
});
