/** The schedule of exactly one period (S3): how it is written, and what clock changes make of it. */
import * as fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { isOnce } from "../../../src/core/cron/at.js";
import { compileOnce, onceAt, parseOnce, parseOneTime, readingOf } from "../../../src/core/cron/once.js";
import type { DstRule } from "../../../src/core/time/dst.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { zoneOf } from "../../../src/core/time/zone.js";
import { requireOk } from "../../support/results.js";

const berlin = requireOk(zoneOf("Europe/Berlin"));

describe("how it is written", () => {
  test.each([
    ["@at 2026-12-01T03:00", "@at 2026-12-01T03:00"],
    [" @At \t2026-12-01t03:00:00 ", "@at 2026-12-01T03:00"],
    ["@at 2026-12-01T03:00:30", "@at 2026-12-01T03:00:30"],
    ["@at 2026-12-01T03:00z", "@at 2026-12-01T03:00Z"],
    ["@at 2026-12-01T03:00:00+01:00", "@at 2026-12-01T02:00Z"],
    ["@at 2026-12-01T03:00:05-05:30", "@at 2026-12-01T08:30:05Z"],
    ["@at 2028-02-29T00:00", "@at 2028-02-29T00:00"],
  ])("%j", (written, text) => {
    expect(isOnce(written)).toBe(true);
    expect(requireOk(parseOnce(written)).text).toBe(text);
    expect(requireOk(parseOnce(text)).text).toBe(text);
  });

  test.each(["@atlas", "@at_noon", "at 2026-12-01T03:00", "@every 1h", "@reboot"])("%s is something else", (text) => {
    expect(isOnce(text)).toBe(false);
  });

  test.each<[string, string, number, number, string]>([
    ["@at", "instant-syntax", 0, 3, "@at needs a date and a time"],
    ["@at  ", "instant-syntax", 0, 5, "@at needs a date and a time"],
    ["@at tomorrow", "instant-syntax", 4, 12, '"tomorrow" is no date and time'],
    ["@at 2026-12-01", "instant-syntax", 4, 14, '"2026-12-01" is no date and time'],
    ["@at 2026-12-01 03:00", "instant-syntax", 4, 20, '"2026-12-01 03:00" is no date and time'],
    ["@at 2026-12-01T03", "instant-syntax", 4, 17, '"2026-12-01T03" is no date and time'],
    ["@at 2026-12-01T03:00:00.5", "instant-syntax", 4, 25, '"2026-12-01T03:00:00.5" is no date and time'],
    ["@at 2026-02-30T03:00", "instant-range", 4, 20, "there is no date 2026-02-30"],
    ["@at 2026-12-01T24:00", "instant-range", 4, 20, "hours go up to 23, minutes and seconds up to 59"],
    ["@at 2026-12-01T23:59:60", "instant-range", 4, 23, "leap seconds are not supported"],
    ["@at 1969-12-31T23:59", "instant-range", 4, 20, "the time lies outside the years 1970 to 2199"],
    ["@at 2200-01-01T00:00", "instant-range", 4, 20, "the time lies outside the years 1970 to 2199"],
    [`@at ${"2".repeat(600)}`, "limit-exceeded", 0, 604, "a schedule has at most 256 characters, this one has 604"],
  ])("%s is refused where it is wrong", (written, code, start, end, message) => {
    const read = parseOnce(written);
    expect(read.ok ? null : read.error).toMatchObject({ code, message, span: { start, end } });
  });
});

describe("what a clock change makes of it", () => {
  const reading = (text: string) => {
    const { shownAt, gapEndAt } = readingOf(requireOk(parseOneTime(text)), berlin);
    return [shownAt.map(formatInstant), gapEndAt === null ? null : formatInstant(gapEndAt)];
  };

  test.each<[string, readonly string[], string | null]>([
    ["2026-12-01T03:00", ["2026-12-01T02:00:00Z"], null],
    ["2026-03-29T01:59:59", ["2026-03-29T00:59:59Z"], null],
    ["2026-03-29T02:00", [], "2026-03-29T01:00:00Z"],
    ["2026-03-29T02:59:59", [], "2026-03-29T01:00:00Z"],
    ["2026-03-29T03:00", ["2026-03-29T01:00:00Z"], null],
    ["2026-10-25T02:30", ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"], null],
    ["2026-10-25T03:00", ["2026-10-25T02:00:00Z"], null],
    ["2026-10-25T02:30Z", ["2026-10-25T02:30:00Z"], null],
  ])("%s", (text, shownAt, gapEndAt) => {
    expect(reading(text)).toEqual([shownAt, gapEndAt]);
  });

  test.each<[string, DstRule["gap"], DstRule["overlap"], string | null]>([
    ["2026-03-29T02:30", "skip", "first", null],
    ["2026-03-29T02:30", "next", "first", "2026-03-29T01:00:00Z"],
    ["2026-10-25T02:30", "skip", "first", "2026-10-25T00:30:00Z"],
    ["2026-10-25T02:30", "skip", "last", "2026-10-25T01:30:00Z"],
    // It is one time, whatever the rule says.
    ["2026-10-25T02:30", "skip", "both", "2026-10-25T00:30:00Z"],
  ])("%s, gap %s, overlap %s", (text, gap, overlap, wanted) => {
    const at = onceAt(requireOk(parseOneTime(text)), berlin, { gap, overlap });
    expect(at === null ? null : formatInstant(at)).toBe(wanted);
  });

  const zones = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "UTC",
  ];

  test("as Temporal reads the same time in the same zone", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(1975, 0), max: Date.UTC(2037, 0) }),
        fc.integer({ min: -3, max: 3 }),
        fc.integer({ min: 0, max: 3599 }),
        (zoneId, near, hours, seconds) => {
          // Most of them lie around a clock change: elsewhere there is nothing to get wrong.
          const change = Temporal.Instant.fromEpochMilliseconds(near)
            .toZonedDateTimeISO(zoneId)
            .getTimeZoneTransition("next");
          const plain = (change ?? Temporal.Instant.fromEpochMilliseconds(near).toZonedDateTimeISO(zoneId))
            .toPlainDateTime()
            .add({ seconds: hours * 3600 + seconds })
            .round("second");
          const [early, late] = (["earlier", "later"] as const).map((disambiguation) =>
            plain.toZonedDateTime(zoneId, { disambiguation }),
          ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
          const isShown = early.toPlainDateTime().equals(plain);
          const gapEndAt = isShown ? null : (early.getTimeZoneTransition("next")?.epochMilliseconds ?? null);
          const read = readingOf(
            requireOk(parseOneTime(plain.toString({ smallestUnit: "second" }))),
            requireOk(zoneOf(zoneId)),
          );
          const shown = [...new Set([early.epochMilliseconds, late.epochMilliseconds])];
          expect(read).toEqual({ shownAt: isShown ? shown : [], gapEndAt });
        },
      ),
      { seed: 20261201, numRuns: 2000 },
    );
  });
});

test("a schedule with one nominal time, asked from every side", () => {
  const at = Date.parse("2026-12-01T02:00:00Z");
  const schedule = compileOnce(requireOk(parseOneTime("2026-12-01T03:00")), berlin, { gap: "next", overlap: "first" });
  expect([schedule.next(at - 1), schedule.next(at), schedule.next(-1e15), schedule.next(1e15)]).toEqual([
    at,
    null,
    at,
    null,
  ]);
  expect([schedule.previous(at - 1), schedule.previous(at), schedule.previous(1e15)]).toEqual([null, at, at]);
  expect([schedule.matches(at - 1), schedule.matches(at), schedule.matches(at + 1)]).toEqual([false, true, false]);
  expect([[...schedule.between(at, at)], [...schedule.between(at, at + 1)]]).toEqual([[], [at]]);
  expect(schedule.smallestGapMs).toBe(Number.POSITIVE_INFINITY);
});
