/** ERROR-MODEL: every kind of error that is named is either raised somewhere, or it is said why it cannot be. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { ERRORS, type ErrorCode, errorKind } from "../../../../src/core/base/errors/registry.js";

const SOURCES = path.resolve(import.meta.dirname, "../../../../src");
/** The table itself, and what a scenario may ask a pretended machine to answer. */
const NAMES_ONLY: ReadonlySet<string> = new Set(["core/base/errors/registry.ts", "simulation/scenario-shape.ts"]);

function codesNamedIn(directory: string): ReadonlySet<string> {
  const names = fs.readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts") && !NAMES_ONLY.has(name.replaceAll(path.sep, "/")));
  const texts = files.map((name) => fs.readFileSync(path.join(directory, name), "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(/"([a-z]+(?:-[a-z]+)+)"/g)].map(([, code = ""]) => code)));
}

const CODES = Object.keys(ERRORS) as ErrorCode[];
const raised = codesNamedIn(SOURCES);

describe("ERROR-MODEL: what is named, and what is raised", () => {
  test("a code that nothing raises says why, and one that says why is raised by nothing", () => {
    const silent = CODES.filter((code) => !raised.has(code));
    expect(silent).toEqual(CODES.filter((code) => errorKind(code).never !== undefined));
  });

  test.each(CODES.filter((code) => errorKind(code).never !== undefined))(
    "%s: what takes its place is named, and raised",
    (code) => {
      const inItsPlace = CODES.filter((other) => errorKind(code).never?.includes(other) === true);
      expect(inItsPlace.length).toBeGreaterThan(0);
      expect(inItsPlace.filter((other) => !raised.has(other))).toEqual([]);
    },
  );

  test("ERROR-MODEL ConstraintError: static trouble is a ValidationError, dynamic trouble a SchedulingError", () => {
    const codes = ["constraint-syntax", "constraint-range", "decision-failed"] as const;
    expect(codes.map((code) => errorKind(code).category)).toEqual([
      "ValidationError",
      "ValidationError",
      "SchedulingError",
    ]);
  });
});
