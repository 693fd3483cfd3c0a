import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJsonLine } from "../../../../src/core/config/line/json-lines.js";
import { parseJson } from "../../../../src/core/config/line/json-text.js";
import { readLines } from "../../../../src/core/config/line/lines.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { FUZZ } from "../../../support/fuzz.js";
import { rawJobs } from "../../../support/raw-jobs.js";
import { requireOk } from "../../../support/results.js";

const SOURCE = { file: "f.jsonl", line: 3 };

/** `code column+length` of every problem. */
function problemsOf(line: string): readonly string[] {
  return readJsonLine(line, SOURCE).problems.map(
    ({ problem, column, length }) => `${problem.code} ${column}+${length}`,
  );
}

describe("wrong lines: code and column", () => {
  const rows: readonly [title: string, line: string, problems: readonly string[]][] = [
    ["not JSON", "identity: a", ["file-syntax 1+1"]],
    ["cut off", '{"identity":"a"', ["file-syntax 16+1"]],
    ["a text cut off", '{"identity":"a', ["file-syntax 13+1"]],
    ["a text with a raw tab", '{"identity":"a\tb"}', ["file-syntax 13+1"]],
    ["a text with an unknown escape", '{"identity":"\\q"}', ["file-syntax 13+1"]],
    ["a comma too many", '{"identity":"a",}', ["file-syntax 17+1"]],
    ["a comma too few", '{"identity":"a" "b":1}', ["file-syntax 17+1"]],
    ["a key without quotes", "{identity:1}", ["file-syntax 2+1"]],
    ["no colon", '{"identity" 1}', ["file-syntax 13+1"]],
    ["a list that ends early", "[1,", ["file-syntax 4+1"]],
    ["a list that does not end", "[1 2]", ["file-syntax 4+1"]],
    ["a leading zero", '{"a":01}', ["file-syntax 7+1"]],
    ["NaN", '{"a":NaN}', ["file-syntax 6+1"]],
    ["two values", "{} {}", ["file-syntax 4+1"]],
    ["a key twice", '{"identity":"a","identity":"b"}', ["field-duplicate 17+1"]],
    ["__proto__", '{"__proto__":{}}', ["field-unknown 2+1"]],
    ["deep nesting", "[".repeat(1000), ["file-syntax 33+1"]],
    ["not a mapping", "[]", ["field-type 1+1"]],
    ["missing fields", '  {"identity":"a"}', ["field-missing 3+1", "field-missing 3+1"]],
    ["an unknown field", '{"identity":"a","schedule":"@daily","command":["x"],"x":1}', ["field-unknown 53+3"]],
    ["a part of a text", '{"identity":"a","schedule":"0 3 32 * *","command":["x"]}', ["cron-range 33+2"]],
    [
      "a part behind escapes",
      '{"identity":"\\u0061\\\\\\n","schedule":"@daily","command":["x"]}',
      ["identity-invalid 22+2"],
    ],
    ["an element of a list", '{"identity":"a","schedule":"@daily","command":["x", 3]}', ["field-type 53+1"]],
    ["a name", '{"identity":"a","schedule":"@daily","command":["x"],"env":{"A B":"x"}}', ["environment-name 60+5"]],
  ];
  test.each(rows)("%s", (_title, line, problems) => {
    expect(problemsOf(line)).toEqual(problems);
  });
});

test("lines are counted, blank ones say nothing, and jobs have a place", () => {
  const job = '{"identity":"a","schedule":"@daily","command":["x"]}';
  const { jobs, problems } = readLines("f.jsonl", `\ufeff\n${job}\r\n\n  {}\n`, readJsonLine);
  expect(jobs.map(({ line, column, definition }) => [line, column, definition.identity])).toEqual([[2, 1, "a"]]);
  expect(problems.map(({ line, column }) => [line, column])).toEqual([
    [4, 3],
    [4, 3],
    [4, 3],
  ]);
});

describe("our reader of JSON", () => {
  test("agrees with JSON.parse on everything that JSON is", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.constantFrom(0, 2), (text, indent) => {
        const value: unknown = JSON.parse(text);
        if (text.includes("__proto__")) return;
        expect(requireOk(parseJson(JSON.stringify(value, null, indent)))).toEqual(value);
      }),
      FUZZ,
    );
  });

  test("accepts nothing that JSON.parse refuses", () => {
    const unit = fc.constantFrom(...'{}[]",:\\ut01e-+.\n \u0001é'.split(""), "true", "null", '"a"', "\ud800");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (text) => {
        const read = parseJson(text);
        if (read.ok) expect(JSON.parse(text)).toEqual(read.value);
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("a line means what its value means", () => {
    fc.assert(
      fc.property(rawJobs, (raw) => {
        const { job, problems } = readJsonLine(JSON.stringify(raw), SOURCE);
        expect(problems).toEqual([]);
        expect(job?.definition).toEqual(requireOk(readJobDefinition(JSON.parse(JSON.stringify(raw)))));
      }),
      FUZZ,
    );
  });
});
