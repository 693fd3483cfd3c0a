import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatInstant, parseInstant } from "../../../src/core/time/instant.js";
import { plainInstant } from "../../../src/core/time/plain-instant.js";

const YEAR_9999 = 253_402_300_799;
const YEAR_0 = -62_167_219_200;

describe("timestamps in the plain form", () => {
  it("S1: are read as by the full reader", () => {
    fc.assert(
      fc.property(fc.integer({ min: YEAR_0, max: YEAR_9999 }), (second) => {
        expect(plainInstant(formatInstant(second * 1000))).toBe(second * 1000);
      }),
      { numRuns: 5_000, seed: 20261118 },
    );
  });

  it("every other text is left to the full reader; what both read is the same instant", () => {
    const base = "2024-02-29T23:59:59Z";
    const changes = fc.array(fc.tuple(fc.nat(19), fc.constantFrom(..."0123456789-:TZ.tz +é")), { maxLength: 3 });
    fc.assert(
      fc.property(changes, (list) => {
        const chars = [...base];
        for (const [at, char] of list) chars[at] = char;
        const text = chars.join("");
        const full = parseInstant(text);
        const plain = plainInstant(text);
        const isPlain = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text);
        expect(plain).toBe(full.ok && isPlain ? full.value : Number.NaN);
      }),
      { numRuns: 5_000, seed: 20261118 },
    );
  });
});
