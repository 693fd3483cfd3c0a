import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoised } from "../../../src/core/base/memo.js";
import { splitWords } from "../../../src/core/base/words.js";
import { formatSize, parseSize } from "../../../src/core/job/size.js";
import { didYouMean, editDistance } from "../../../src/core/job/suggest.js";
import { requireErr, requireOk } from "../../support/results.js";

describe("splitting a command into words", () => {
  const rows: readonly [command: string, words: readonly string[]][] = [
    ["", []],
    ["  \t ", []],
    ["a", ["a"]],
    [" a  b\tc ", ["a", "b", "c"]],
    ["a 'b c' d", ["a", "b c", "d"]],
    ['a "b c"', ["a", "b c"]],
    [`a 'say "hi"'`, ["a", 'say "hi"']],
    [`a "it's"`, ["a", "it's"]],
    [`a''b`, ["ab"]],
    [`x='1 2'y`, ["x=1 2y"]],
    [`'' ""`, ["", ""]],
    ["$HOME `id` *.txt ~ a\\ b \\n", ["$HOME", "`id`", "*.txt", "~", "a\\", "b", "\\n"]],
    ["a;b && c | d > e", ["a;b", "&&", "c", "|", "d", ">", "e"]],
    ["a\nb", ["a\nb"]],
  ];
  test.each(rows)("%j", (command, words) => {
    expect(requireOk(splitWords(command)).map(({ text }) => text)).toEqual(words);
  });

  test.each([
    ["a 'b", 2],
    ['"', 0],
    [`a 'b' "c 'd'`, 6],
  ])("%j: a quote is not closed", (command, start) => {
    expect(requireErr(splitWords(command)).span).toEqual({ start, end: start + 1 });
  });

  test("every word is where it says it is, and nothing else is there", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", " ", "'", '"', "\t", "\\") }), (command) => {
        const words = splitWords(command);
        if (!words.ok) return;
        const rest = words.value.reduceRight((text, { start, end }) => text.slice(0, start) + text.slice(end), command);
        expect(rest.trim()).toBe("");
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});

describe("sizes", () => {
  const rows: readonly [text: string, bytes: number, canonical: string][] = [
    ["0B", 0, "0B"],
    ["1234B", 1234, "1234B"],
    ["10MB", 10_000_000, "10MB"],
    ["10mb", 10_000_000, "10MB"],
    ["1000kB", 1_000_000, "1MB"],
    ["1KiB", 1024, "1KiB"],
    ["10MiB", 10_485_760, "10MiB"],
    ["1GiB", 1_073_741_824, "1GiB"],
    ["2GB", 2_000_000_000, "2GB"],
  ];
  test.each(rows)("%s", (text, bytes, canonical) => {
    expect(requireOk(parseSize(text))).toBe(bytes);
    expect(formatSize(bytes)).toBe(canonical);
  });

  test.each(["", "10", "MB", "1.5MB", "-1MB", "1 MB", "1TB", "1e3B", "9999999999999999B", "999999999999GiB"])(
    "refuses %j",
    (text) => {
      expect(parseSize(text).ok).toBe(false);
    },
  );

  test("what is formatted reads back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (bytes) => {
        expect(requireOk(parseSize(formatSize(bytes)))).toBe(bytes);
      }),
      { seed: 7, numRuns: 1000 },
    );
  });
});

describe("guessing what was meant", () => {
  const known = ["identity", "schedule", "timezone", "window", "policy", "command", "max_active"];
  const rows: readonly [name: string, hint: string | undefined][] = [
    ["identiy", "did you mean identity?"],
    ["shcedule", "did you mean schedule?"],
    ["max-active", "did you mean max_active?"],
    ["WINDOW", "did you mean window?"],
    ["cron", "did you mean schedule?"],
    ["suspend", "did you mean policy: { suspend: ... }?"],
    ["frobnicate", undefined],
    ["constructor", undefined],
    ["", undefined],
    ["x".repeat(1000), undefined],
  ];
  test.each(rows)("%s", (name, hint) => {
    expect(didYouMean(name, known)).toBe(hint);
  });

  const distances: readonly [a: string, b: string, distance: number][] = [
    ["", "", 0],
    ["abc", "", 3],
    ["kitten", "sitting", 3],
    ["ab", "ba", 1],
    ["abcd", "acbd", 1],
  ];
  test.each(distances)("from %j to %j", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });
});

test("a memo asks once for a text, forgets at its bound, and keeps no long texts", () => {
  let made = 0;
  const lengthOf = memoised((text) => {
    made++;
    return text.length;
  });
  lengthOf("a");
  lengthOf("a");
  expect(made).toBe(1);
  for (let i = 0; i < 50_000; i++) lengthOf(`n${i}`);
  lengthOf("a");
  expect(made).toBe(50_002);
  lengthOf("x".repeat(600));
  lengthOf("x".repeat(600));
  expect(made).toBe(50_004);
});
