import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { storedDefinition } from "../../../src/core/job/stored.js";
import { rawJobs } from "../../support/raw-jobs.js";
import { requireOk } from "../../support/results.js";

const TEXT = canonicalDefinitionText(
  requireOk(readJobDefinition({ identity: "a", schedule: "@hourly", command: ["true"] })),
);

test("a stored definition is what was written", () => {
  fc.assert(
    fc.property(rawJobs, (raw) => {
      const definition = requireOk(readJobDefinition(raw));
      expect(storedDefinition(canonicalDefinitionText(definition))).toEqual(definition);
    }),
    { numRuns: 500, seed: 20261119 },
  );
});

test("each version is read once: whoever asks again is given the same", () => {
  const again = `${TEXT.slice(0, 5)}${TEXT.slice(5)}`;
  expect(storedDefinition(again)).toBe(storedDefinition(TEXT));
});

test.each([
  ["a value of another type, which a hand has written", TEXT.replace('"suspend":false', '"suspend":"no"'), null],
  ["a field that this version does not know", TEXT.replace('{"identity"', '{"later":1,"identity"'), null],
  [
    "what goes without saying, left out by another version",
    '{"identity":"a","schedule":"@hourly","command":["true"]}',
    "a",
  ],
])("%s", (_, text, expected) => {
  expect(text).not.toBe(TEXT);
  expect(storedDefinition(text)?.identity ?? null).toBe(expected);
});
