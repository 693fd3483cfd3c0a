import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { findJobList } from "../../../../src/core/config/yaml/pieces.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";
import { FUZZ } from "../../../support/fuzz.js";
import { rawJobs } from "../../../support/raw-jobs.js";

/** Every list that can be cut is cut: what follows must be the same. */
const ALWAYS_CUT = { wholeChars: 0 };

describe("where the list of jobs is", () => {
  const rows: readonly [title: string, text: string, items: readonly string[] | null][] = [
    ["indented", "jobs:\n  - a: 1\n  - b: 2\n", ["  - a: 1\n", "  - b: 2\n"]],
    ["not indented", "jobs:\n- a: 1\n  x: 2\n- b: 2\n", ["- a: 1\n  x: 2\n", "- b: 2\n"]],
    [
      "with comments and blank lines",
      "jobs: # all\n# c\n  - a: 1\n\n# d\n  - b: 2\n",
      ["  - a: 1\n\n# d\n", "  - b: 2\n"],
    ],
    ["something before and behind", "x: 1\njobs:\n  - a: 1\ny: 2\n", ["  - a: 1\n"]],
    ["CRLF", "jobs:\r\n  - a: 1\r\n  - b: 2\r\n", ["  - a: 1\r\n", "  - b: 2\r\n"]],
    ["a dash alone", "jobs:\n  -\n    a: 1\n  -\n    b: 2", ["  -\n    a: 1\n", "  -\n    b: 2"]],
    ["an inner list", "jobs:\n  - a:\n    - x\n    - y\n  - b: 1\n", ["  - a:\n    - x\n    - y\n", "  - b: 1\n"]],
    [
      "a block text with dashes",
      "jobs:\n  - a: |\n      - x\n\n    # y\n  - b: 1\n",
      ["  - a: |\n      - x\n\n    # y\n", "  - b: 1\n"],
    ],
    ["no list", "jobs: []\n", null],
    ["an empty list", "jobs:\nx: 1\n", null],
    ["a mapping", "jobs:\n  a: 1\n", null],
    ["less indented behind", "jobs:\n    - a: 1\n  - b: 1\n", null],
    ["a key among the items", "jobs:\n  - a: 1\n  b: 1\n", null],
    ["tabs", "jobs:\n\t- a: 1\n", null],
    ["another document behind", "jobs:\n  - a: 1\n---\nx: 1\n", null],
    ["aliases behind", "jobs:\n  - &a {}\nx: *a\n", null],
  ];
  test.each(rows)("%s", (_title, text, items) => {
    const list = findJobList(text);
    const cut = list?.items.map((start, index) => text.slice(start, list.items[index + 1] ?? list.end)) ?? null;
    expect(cut).toEqual(items);
  });
});

describe("a file read in batches is read like any other", () => {
  const files = fc.record({
    jobs: fc.array(rawJobs, { minLength: 1, maxLength: 5 }),
    defaults: fc.constantFrom({}, { timezone: "Asia/Tokyo", policy: { deadline: "10s" } }),
    isFirst: fc.boolean(),
    options: fc.constantFrom(
      { indentSeq: true },
      { indentSeq: false },
      { defaultStringType: "QUOTE_DOUBLE" as const },
      { collectionStyle: "flow" as const },
      { lineWidth: 20 },
    ),
  });

  test("when it is in order", () => {
    fc.assert(
      fc.property(files, ({ jobs, defaults, isFirst, options }) => {
        const text = stringify(isFirst ? { defaults, jobs } : { jobs, defaults }, {
          aliasDuplicateObjects: false,
          ...options,
        });
        const whole = readYamlConfig("f", text);
        expect(whole.problems).toEqual([]);
        expect(whole.jobs).toHaveLength(jobs.length);
        expect(readYamlConfig("f", text, ALWAYS_CUT)).toEqual(whole);
      }),
      { ...FUZZ, numRuns: 300 },
    );
  });

  test("when definitions in it are wrong", () => {
    const flaw = fc.constantFrom<object>({ timezone: "X" }, { wat: 1 }, { command: 3 }, { window: { duration: "x" } });
    fc.assert(
      fc.property(files, flaw, ({ jobs, defaults, options }, wrong) => {
        const text = stringify(
          { defaults, jobs: jobs.map((job) => ({ ...job, ...wrong })) },
          { aliasDuplicateObjects: false, ...options },
        );
        const whole = readYamlConfig("f", text);
        expect(whole.problems.length).toBeGreaterThanOrEqual(jobs.length);
        expect(readYamlConfig("f", text, ALWAYS_CUT)).toEqual(whole);
      }),
      { ...FUZZ, numRuns: 200 },
    );
  });

  test("anchors of earlier batches are known in later ones, with their places", () => {
    const filler = Array.from(
      { length: 2000 },
      (_, i) => `  - {identity: j${i}, schedule: "@daily", command: [x], user: u}\n`,
    );
    const text = `defaults: &d {timezone: UTC}\njobs:\n  - {identity: a, schedule: "@daily", command: [x], env: &e {A: "1", B-: x}}\n${filler.join("")}  - {identity: z, schedule: "@daily", command: [x], env: *e}\n  - {identity: y, schedule: "@daily", command: [x], env: *f}\n`;
    const cut = readYamlConfig("f", text, ALWAYS_CUT);
    expect(cut).toEqual(readYamlConfig("f", text));
    expect(cut.problems.map(({ line, column, identity }) => [line, column, identity])).toEqual([
      [3, 70, "a"],
      [3, 70, "z"],
      [2005, 58, "y"],
    ]);
    expect(cut.jobs).toHaveLength(2000);
  });

  test("what stands behind the jobs keeps its place", () => {
    const text = `on_invalid: quarantine\njobs:\n  - {identity: a, schedule: "@daily", command: [x]}\nkill_grace: 1x\nmax_armed: 3\n`;
    const cut = readYamlConfig("f", text, ALWAYS_CUT);
    expect(cut).toEqual(readYamlConfig("f", text));
    expect(cut.problems.map(({ line, column }) => [line, column])).toEqual([[4, 13]]);
    expect(cut.settings.map(({ name, line }) => [name, line])).toEqual([
      ["on_invalid", 1],
      ["max_armed", 5],
    ]);
  });

  test("a flaw in one batch leaves the jobs of the others", () => {
    const jobs = Array.from(
      { length: 2000 },
      (_, i) => `  - {identity: j${i}, schedule: "@daily", command: [x], user: u}\n`,
    );
    const text = `jobs:\n${jobs.join("")}  - {identity: "broken\n`;
    const { jobs: read, problems } = readYamlConfig("f", text, ALWAYS_CUT);
    expect(problems.every(({ line, problem }) => line >= 2002 && problem.code === "file-syntax")).toBe(true);
    expect(problems.length).toBeGreaterThan(0);
    expect(read.length).toBeGreaterThan(900);
  });
});
