import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { floorToSecond, formatInstant, parseInstant } from "../../../src/core/time/instant.js";
import { FUZZ } from "../../support/fuzz.js";
import { requireErr, requireOk } from "../../support/results.js";

describe("S1: RFC 3339 instants", () => {
  test.each([
    { text: "1970-01-01T00:00:00Z", at: 0 },
    { text: "2026-03-01T02:32:20Z", at: Date.UTC(2026, 2, 1, 2, 32, 20) },
    { text: "2026-03-01T02:32:20.007Z", at: Date.UTC(2026, 2, 1, 2, 32, 20, 7) },
    { text: "1969-12-31T23:59:59.999Z", at: -1 },
    { text: "0000-01-01T00:00:00Z", at: -62_167_219_200_000 },
    { text: "9999-12-31T23:59:59Z", at: 253_402_300_799_000 },
  ])("writes and reads $text", ({ text, at }) => {
    expect(formatInstant(at)).toBe(text);
    expect(requireOk(parseInstant(text))).toBe(at);
  });

  test.each([
    { text: "2026-03-01T02:32:20.000Z", same: "2026-03-01T02:32:20Z" },
    { text: "2026-03-01t02:32:20z", same: "2026-03-01T02:32:20Z" },
    { text: "2026-03-01T02:32:20+01:00", same: "2026-03-01T01:32:20Z" },
    { text: "2026-03-01T02:32:20-05:30", same: "2026-03-01T08:02:20Z" },
    { text: "2026-03-01T02:32:20-00:00", same: "2026-03-01T02:32:20Z" },
    { text: "2026-01-01T00:30:00+01:00", same: "2025-12-31T23:30:00Z" },
    { text: "2024-02-29T00:00:00Z", same: "2024-02-29T00:00:00Z" },
    { text: "2026-03-01T02:32:20.5Z", same: "2026-03-01T02:32:20.500Z" },
    { text: "2026-03-01T02:32:20.123999999Z", same: "2026-03-01T02:32:20.123Z" },
  ])("reads $text as $same", ({ text, same }) => {
    expect(formatInstant(requireOk(parseInstant(text)))).toBe(same);
  });

  test.each([
    { name: "empty", text: "", code: "instant-syntax" },
    { name: "date only", text: "2026-03-01", code: "instant-syntax" },
    { name: "no offset", text: "2026-03-01T00:00:00", code: "instant-syntax" },
    { name: "no seconds", text: "2026-03-01T00:00Z", code: "instant-syntax" },
    { name: "blank for T", text: "2026-03-01 00:00:00Z", code: "instant-syntax" },
    { name: "outer blank", text: " 2026-03-01T00:00:00Z", code: "instant-syntax" },
    { name: "empty fraction", text: "2026-03-01T00:00:00.Z", code: "instant-syntax" },
    { name: "five-digit year", text: "12026-03-01T00:00:00Z", code: "instant-syntax" },
    { name: "signed year", text: "+002026-03-01T00:00:00Z", code: "instant-syntax" },
    { name: "short offset", text: "2026-03-01T00:00:00+01", code: "instant-syntax" },
    { name: "offset without colon", text: "2026-03-01T00:00:00+0100", code: "instant-syntax" },
    { name: "zone in brackets", text: "2026-03-01T00:00:00Z[UTC]", code: "instant-syntax" },
    { name: "digits of another script", text: "２026-03-01T00:00:00Z", code: "instant-syntax" },
    { name: "very long", text: `2026-03-01T00:00:00.${"0".repeat(100_000)}Z`, code: "instant-syntax" },
    { name: "leap second", text: "2016-12-31T23:59:60Z", code: "instant-range" },
    { name: "second 61", text: "2016-12-31T23:59:61Z", code: "instant-range" },
    { name: "hour 24", text: "2026-03-01T24:00:00Z", code: "instant-range" },
    { name: "minute 60", text: "2026-03-01T00:60:00Z", code: "instant-range" },
    { name: "month 0", text: "2026-00-01T00:00:00Z", code: "instant-range" },
    { name: "month 13", text: "2026-13-01T00:00:00Z", code: "instant-range" },
    { name: "day 0", text: "2026-01-00T00:00:00Z", code: "instant-range" },
    { name: "30 February", text: "2026-02-30T00:00:00Z", code: "instant-range" },
    { name: "29 February of a common year", text: "2026-02-29T00:00:00Z", code: "instant-range" },
    { name: "offset 24:00", text: "2026-03-01T00:00:00+24:00", code: "instant-range" },
    { name: "offset minute 60", text: "2026-03-01T00:00:00+01:60", code: "instant-range" },
    { name: "before year 0 in UTC", text: "0000-01-01T00:00:00+01:00", code: "instant-range" },
    { name: "after year 9999 in UTC", text: "9999-12-31T23:59:59-01:00", code: "instant-range" },
  ])("rejects: $name", ({ text, code }) => {
    expect(requireErr(parseInstant(text)).code).toBe(code);
  });

  test.each([[Number.NaN], [0.5], [Number.POSITIVE_INFINITY], [253_402_300_800_000], [-62_167_219_200_001]])(
    "never writes what it could not read: %s",
    (at) => {
      expect(() => formatInstant(at)).toThrow("invariant broken");
    },
  );

  test.each([
    { at: 1999, floored: 1000 },
    { at: 1000, floored: 1000 },
    { at: -1, floored: -1000 },
  ])("floors $at to the whole second $floored", ({ at, floored }) => {
    expect(floorToSecond(at)).toBe(floored);
  });

  test("reads back what it writes, and writes what the language writes but for .000", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (at) => {
        const text = formatInstant(at);
        expect(text).toBe(new Date(at).toISOString().replace(".000Z", "Z"));
        expect(requireOk(parseInstant(text))).toBe(at);
      }),
      FUZZ,
    );
  });
});
