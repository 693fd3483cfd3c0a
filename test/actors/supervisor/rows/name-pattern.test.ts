import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NamePart, NamePattern, type NameTest } from "../../../../src/actors/supervisor/rows/name-pattern.js";
import { matchesGlob } from "../../../../src/core/job/identity-glob.js";

const RUNS = process.env["KRON_TEST_LONG"] === "1" ? 200_000 : 5_000;

/** Few letters, so that pieces meet each other; one of two bytes, one of four, which is two characters of a text. */
const letters = fc.constantFrom("a", "b", "/", "ö", "😀");
const names = fc.array(letters, { maxLength: 12 }).map((it) => it.join(""));
const globs = fc
  .array(fc.oneof(letters, fc.constantFrom("*", "?", "**", "\ud83d")), { maxLength: 8 })
  .map((it) => it.join(""));

/** In the middle of others, as in an arena. */
function isMatched(test: NameTest, name: string): boolean {
  const [before, bytes, after] = ["ab", name, "b/a"].map((text) => new TextEncoder().encode(text));
  if (before === undefined || bytes === undefined || after === undefined) throw new Error("no bytes");
  const arena = new Uint8Array([...before, ...bytes, ...after]);
  return test.matches(arena, before.length, before.length + bytes.length);
}

describe("patterns over bytes", () => {
  test("match what they match as texts", () => {
    fc.assert(
      fc.property(globs, names, (glob, name) => {
        expect(isMatched(new NamePattern(glob), name)).toBe(matchesGlob(glob, name));
      }),
      { numRuns: RUNS },
    );
  });

  test("a part is found where the text has it, and stars are letters there", () => {
    fc.assert(
      fc.property(globs, names, fc.boolean(), (part, name, isWithin) => {
        const whole = isWithin ? name + new TextDecoder().decode(new TextEncoder().encode(part)) + name : name;
        expect(isMatched(new NamePart(part), whole)).toBe(whole.includes(part));
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    ["*job-099999", "t/job-099999", true],
    ["*job-099999", "t/job-0999990", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*", "", true],
    ["", "", true],
    ["prod/*/nightly?", "prod/a/b/nightly1", true],
  ])("%s and %s: %j", (glob, name, expected) => {
    expect(isMatched(new NamePattern(glob), name)).toBe(expected);
  });
});
