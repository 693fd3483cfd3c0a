import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/core/time/duration.js";
import { FUZZ } from "../../support/fuzz.js";
import { requireErr, requireOk } from "../../support/results.js";

describe("Go-style durations", () => {
  test.each([
    { text: "0s", ms: 0 },
    { text: "250ms", ms: 250 },
    { text: "1s", ms: 1000 },
    { text: "1s250ms", ms: 1250 },
    { text: "1m30s", ms: 90_000 },
    { text: "1h30m", ms: 5_400_000 },
    { text: "1h5s", ms: 3_605_000 },
    { text: "744h", ms: 31 * 86_400_000 },
  ])("writes and reads $text", ({ text, ms }) => {
    expect(formatDuration(ms)).toBe(text);
    expect(requireOk(parseDuration(text))).toBe(ms);
  });

  test.each([
    { text: "0", ms: 0 },
    { text: "-0", ms: 0 },
    { text: "-0s", ms: 0 },
    { text: "+5m", ms: 300_000 },
    { text: "90s", ms: 90_000 },
    { text: "1.5h", ms: 5_400_000 },
    { text: "0.25s", ms: 250 },
    { text: ".5s", ms: 500 },
    { text: "1.s", ms: 1000 },
    { text: "1.500000000s", ms: 1500 },
    { text: "0.000005h", ms: 18 },
    { text: "30m1h", ms: 5_400_000 },
    { text: "1s1s", ms: 2000 },
    { text: "0h0m0s", ms: 0 },
    { text: "007s", ms: 7000 },
    { text: "0.1s0.2s", ms: 300 },
  ])("reads $text as $ms ms", ({ text, ms }) => {
    expect(requireOk(parseDuration(text))).toBe(ms);
  });

  test.each([
    { name: "empty", text: "", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "sign only", text: "-", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "no unit", text: "90", code: "duration-syntax", hint: "write 90s for seconds" },
    { name: "no number", text: "h", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "point only", text: ".s", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "inner blank", text: "1h 30m", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "outer blank", text: " 1h", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "trailing number", text: "1h30", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "two signs", text: "--1h", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "inner sign", text: "1h-30m", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "exponent", text: "1e3s", code: "duration-syntax", hint: "units are h, m, s and ms" },
    { name: "days", text: "1d", code: "duration-syntax", hint: "write days in hours: 24h" },
    { name: "capital", text: "1H", code: "duration-syntax", hint: "write it like 1h30m, 90s or 250ms" },
    { name: "inherited name", text: "1constructor", code: "duration-syntax", hint: "units are h, m, s and ms" },
    { name: "microseconds", text: "1000us", code: "duration-range", hint: "write ms" },
    { name: "nanoseconds", text: "5ns", code: "duration-range", hint: "write ms" },
    { name: "1.8 milliseconds", text: "0.0000005h", code: "duration-range", hint: undefined },
    { name: "half a millisecond", text: "0.0005s", code: "duration-range", hint: undefined },
    { name: "finer than any millisecond", text: "0.0000000001h", code: "duration-range", hint: undefined },
    { name: "more than 292 years", text: "2562048h", code: "duration-range", hint: undefined },
    { name: "endless digits", text: `${"9".repeat(60)}h`, code: "duration-range", hint: undefined },
    {
      name: "too long a text",
      text: `${"0".repeat(100_000)}s`,
      code: "duration-syntax",
      hint: "write it like 1h30m, 90s or 250ms",
    },
    { name: "negative", text: "-1ms", code: "duration-negative", hint: undefined },
  ])("rejects: $name", ({ text, code, hint }) => {
    const problem = requireErr(parseDuration(text));
    expect({ code: problem.code, hint: problem.hint }).toEqual({ code, hint });
  });

  test.each([[-1], [0.5], [Number.NaN], [2 ** 53]])("never writes what it could not read: %s", (ms) => {
    expect(() => formatDuration(ms)).toThrow("invariant broken");
  });

  test("reads back what it writes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: 0, max: 10_000_000 }),
          fc.maxSafeNat().map((n) => n % 9_000_000_000_000),
        ),
        (ms) => {
          expect(requireOk(parseDuration(formatDuration(ms)))).toBe(ms);
        },
      ),
      FUZZ,
    );
  });
});
