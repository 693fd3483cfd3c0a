import fc from "fast-check";
import { expect, test } from "vitest";
import { identityFilter, matchesGlob } from "../../../src/core/job/identity-glob.js";
import { FUZZ } from "../../support/fuzz.js";

test.each([
  ["prod/db", "prod/db", true],
  ["prod/db", "prod/db2", false],
  ["prod/*", "prod/db/full", true],
  ["*", "", true],
  ["", "", true],
  ["", "a", false],
  ["*db*", "prod/db-backup", true],
  ["p?od/*", "prod/", true],
  ["p?od", "pood!", false],
  ["*a*b", "a/b/a", false],
  ["a.b", "aXb", false],
  ["[ab]", "a", false],
  ["crontab:*#2", "crontab:x:1#2", true],
])("%j and %j: %s", (pattern, identity, expected) => {
  expect(matchesGlob(pattern, identity)).toBe(expected);
});

test("agrees with a regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "/"), maxLength: 8 });
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 10 });
  fc.assert(
    fc.property(letters, texts, (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      expect(matchesGlob(pattern, text)).toBe(expression.test(text));
    }),
    FUZZ,
  );
});

test("a pattern made to be slow is not", () => {
  expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(512))).toBe(false);
});

test("any of several patterns will do; none of no patterns", () => {
  expect(["a", "b", "c"].filter(identityFilter(["a", "c*"]))).toEqual(["a", "c"]);
  expect(identityFilter([])("a")).toBe(false);
});
