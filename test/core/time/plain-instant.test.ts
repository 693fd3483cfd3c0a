import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatInstant } from "../../../src/core/time/instant.js";
import { plainInstant } from "../../../src/core/time/plain-instant.js";

const YEAR_9999 = 253_402_300_799;
const YEAR_0 = -62_167_219_200;

describe("timestamps in the plain form", () => {
  test("S1: are read as by the full reader", () => {
    fc.assert(
      fc.property(fc.integer({ min: YEAR_0, max: YEAR_9999 }), (second) => {
        expect(plainInstant(formatInstant(second * 1000))).toBe(second * 1000);
      }),
      { numRuns: 5_000, seed: 20261118 },
    );
  });

  test("S40: with milliseconds too, which the slots of a run have", () => {
    fc.assert(
      fc.property(fc.integer({ min: YEAR_0 * 1000, max: YEAR_9999 * 1000 }), (at) => {
        expect(plainInstant(formatInstant(at))).toBe(at);
      }),
      { numRuns: 5_000, seed: 20261118 },
    );
  });

  test.each(["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.250Z"])("is no other text than one like %s", (base) => {
    const changes = fc.array(fc.tuple(fc.nat(base.length - 1), fc.constantFrom(..."0123456789-:TZ.tz +é")), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(changes, (list) => {
        const chars = [...base];
        for (const [at, char] of list) chars[at] = char;
        const text = chars.join("");
        expect(plainInstant(text)).toBe(byTheCalendar(text));
      }),
      { numRuns: 5_000, seed: 20261118 },
    );
  });
});

const PLAIN = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d\d\d))?Z$/;

/** What the calendar of the language makes of it; NaN when that is another date, or no text of this form. */
function byTheCalendar(text: string): number {
  const numbers = PLAIN.exec(text)
    ?.slice(1)
    .map((digits) => Number(digits ?? 0));
  if (numbers === undefined) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0] = numbers;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, ms);
  const canonical = text.includes(".") ? date.toISOString() : date.toISOString().replace(".000Z", "Z");
  return canonical === text ? date.getTime() : Number.NaN;
}
