import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseEnvFile } from "../../../src/core/job/env-file.js";
import { requireErr, requireOk } from "../../support/results.js";

const rows: readonly (readonly [name: string, text: string, variables: Record<string, string>])[] = [
  ["nothing", "", {}],
  ["blank lines and comments of both kinds", "\n  \n# A=1\n  ; B=2\n", {}],
  ["plain values, trimmed", "A=1\nB =  two words  \nC=", { A: "1", B: "two words", C: "" }],
  ["the last line needs no end", "A=1", { A: "1" }],
  ["Windows line ends and a byte order mark", "\ufeffA=1\r\nB='x'\r\n", { A: "1", B: "x" }],
  ["export, as files for shells have it", "export A=1\n  export  B='2'", { A: "1", B: "2" }],
  ["a comment stands apart, a sign inside a value does not", "A=x # y\nB=x#y\nC=#z", { A: "x", B: "x#y", C: "#z" }],
  ["single quotes: everything is itself", "A='a $B \\n \"c\" # d' # e", { A: 'a $B \\n "c" # d' }],
  [
    "double quotes: escapes, and nothing is expanded",
    'A="a\\tb \\"c\\" \\\\ \\$D $E \\x"',
    { A: 'a\tb "c" \\ $D $E \\x' },
  ],
  [
    "several lines in quotes",
    "KEY=\"-----BEGIN\nabc\n-----END\"\nB='x\ny'",
    { KEY: "-----BEGIN\nabc\n-----END", B: "x\ny" },
  ],
  ["a backslash at the end of a line in double quotes joins it", 'A="one \\\ntwo"', { A: "one two" }],
  ["equals signs belong to the value", "URL=postgres://u:p@h/db?a=b", { URL: "postgres://u:p@h/db?a=b" }],
  ["the last of a name counts", "A=1\nA=2", { A: "2" }],
  ["names that objects have of their own", "constructor=1\n__proto__x=2", { constructor: "1", __proto__x: "2" }],
];

describe("files of variables", () => {
  test.each(rows)("%s", (_name, text, variables) => {
    expect({ ...requireOk(parseEnvFile(text)) }).toEqual(variables);
  });

  test.each([
    ["no assignment", "A=1\ncanary", 2, "expected NAME=value"],
    ["no name", "=canary", 1, "expected NAME=value"],
    ["a name that is none", "\n\n1A=canary", 3, "expected a name"],
    ["a name with a blank", "A B=canary", 1, "expected NAME=value"],
    ["a name of ours", "KRON_IDENTITY=canary", 1, "set by Kron itself"],
    ["an open quote", "A=1\nB='canary\nC=2", 2, "a quote is not closed"],
    ["words behind a quote", 'A="canary" more', 1, "something follows it"],
    ["NUL", "A=can\0ary", 1, "NUL"],
  ])("%s: located, and not quoted", (_name, text, line, message) => {
    const problem = requireErr(parseEnvFile(text));
    expect(problem).toEqual({ line, message: expect.stringContaining(message) });
    expect(problem.message).not.toContain("canary");
  });

  test("whatever is written in single quotes comes back, and any text is read or refused", () => {
    const value = fc.string({ unit: "binary" }).map((text) => text.replace(/['\0\r\ufeff]/g, ""));
    fc.assert(
      fc.property(value, (text) => {
        expect(requireOk(parseEnvFile(`A='${text}'`))["A"]).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."A=#;'\"\\ \n\t$x") }), (text) => void parseEnvFile(text)),
    );
  });

  test("long values and hostile lines are read in time", () => {
    const long = "x".repeat(1_000_000);
    expect(requireOk(parseEnvFile(`A="${long}"`))["A"]).toHaveLength(1_000_000);
    expect(requireOk(parseEnvFile(`A=${"# ".repeat(500_000)}`))["A"]).toBe("#");
    expect(requireErr(parseEnvFile(" ".repeat(1_000_000).concat("x"))).line).toBe(1);
    expect(requireErr(parseEnvFile(`A="${"\\".repeat(999_999)}`)).line).toBe(1);
  });
});
