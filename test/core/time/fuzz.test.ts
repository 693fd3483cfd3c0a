import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/core/time/duration.js";
import { formatInstant, parseInstant } from "../../../src/core/time/instant.js";
import { zoneOf } from "../../../src/core/time/zone.js";
import { FUZZ } from "../../support/fuzz.js";
import { requireOk } from "../../support/results.js";

function madeOf(parts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...parts), { maxLength: 30 }).map((chosen) => chosen.join(""));
}

function textLike(parts: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    madeOf(parts),
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => new TextDecoder().decode(bytes)),
  );
}

const durationLike = textLike([..."0123456789.+-hmsnu \n".split(""), "ms", "us", "µs", "1h", "30m", "999999999"]);
const instantLike = textLike([..."0123456789-:TZtz.+ ".split(""), "2026-03-01T00:00:00Z", "2026-", "02-30", "T24:00"]);
const zoneLike = textLike([..."abzABZ/_+-: 0159".split(""), "Europe/Berlin", "UTC", "+05:30", "[UTC]", "Etc/", "GMT"]);

describe("the readers of times take any text", () => {
  test("durations: a result, never an exception; what is read can be written and read again", () => {
    fc.assert(
      fc.property(durationLike, (text) => {
        const result = parseDuration(text);
        if (result.ok) expect(requireOk(parseDuration(formatDuration(result.value)))).toBe(result.value);
        else expect(result.error.code).toMatch(/^duration-/);
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("timestamps: a result, never an exception; what is read can be written and read again", () => {
    fc.assert(
      fc.property(instantLike, (text) => {
        const result = parseInstant(text);
        if (result.ok) expect(requireOk(parseInstant(formatInstant(result.value)))).toBe(result.value);
        else expect(result.error.code).toMatch(/^instant-/);
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("timestamps: what the language reads as RFC 3339 is read alike", () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9998 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      fc.constantFrom("Z", "+00:00", "+05:30", "-12:00"),
    );
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, offset]) => {
        const two = (n: number) => String(n).padStart(2, "0");
        const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:07${offset}`;
        const result = parseInstant(text);
        // Date.parse lets 30 February overflow into March: then the day differs.
        const date = new Date(`${text.slice(0, 19)}Z`);
        const isDate = date.getUTCDate() === day && date.getUTCMonth() + 1 === month;
        expect(result.ok ? result.value : null).toBe(isDate ? Date.parse(text) : null);
      }),
      FUZZ,
    );
  });

  test("zones: a result, never an exception; what is found is found again by its id", () => {
    fc.assert(
      fc.property(zoneLike, (text) => {
        const result = zoneOf(text);
        if (result.ok) expect(requireOk(zoneOf(result.value.id))).toBe(result.value);
        else expect(result.error.code).toBe("timezone-unknown");
      }),
      { ...FUZZ, numRuns: 3000 },
    );
  });
});
