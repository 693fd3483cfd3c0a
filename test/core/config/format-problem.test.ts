import { describe, expect, test } from "vitest";
import { formatPath, formatProblem } from "../../../src/core/config/format-problem.js";
import { LineIndex, type LocatedProblem } from "../../../src/core/config/located.js";

function problem(more: Partial<LocatedProblem> = {}): LocatedProblem {
  const told = { code: "field-range" as const, message: "is wrong", path: ["policy", "deadline"], hint: "write 1s" };
  return { problem: told, file: "a.yaml", line: 3, column: 5, length: 3, identity: null, ...more };
}

describe("a problem as it is shown", () => {
  test("place, field, message, line, caret, hint", () => {
    expect(formatProblem(problem(), "    bad: 1")).toBe(
      ["a.yaml:3:5: error: policy.deadline: is wrong", "      bad: 1", "      ^^^", "  hint: write 1s"].join("\n"),
    );
  });

  test("without the line, the hint and the field", () => {
    const bare = { code: "file-syntax" as const, message: "is wrong", path: [] };
    expect(formatProblem(problem({ problem: bare }), null)).toBe("a.yaml:3:5: error: is wrong");
  });

  test("in colour", () => {
    const text = formatProblem(problem(), "    bad: 1", { color: true });
    expect(text.split("\n")).toEqual([
      "\u001b[1ma.yaml:3:5\u001b[0m: \u001b[1;31merror:\u001b[0m policy.deadline: is wrong",
      "      bad: 1",
      "      \u001b[1;31m^^^\u001b[0m",
      "  hint: write 1s",
    ]);
  });

  const carets: readonly [title: string, line: string, column: number, length: number, shown: readonly string[]][] = [
    ["tabs stay tabs", "\t\tbad", 3, 3, ["  \t\tbad", "  \t\t^^^"]],
    ["wide characters take two columns", "名: bad", 4, 3, ["  名: bad", "      ^^^"]],
    ["so do characters outside the basic plane", "🙂 bad", 4, 3, ["  🙂 bad", "     ^^^"]],
    ["behind the end of the line", "ab", 9, 1, ["  ab", "    ^"]],
    ["longer than the line", "abc", 2, 99, ["  abc", "   ^^"]],
    ["an empty line", "", 1, 1, ["  ", "  ^"]],
    [
      "of a long line the surroundings",
      `${"x".repeat(300)}BAD${"y".repeat(300)}`,
      301,
      3,
      [`  ...${"x".repeat(60)}BAD${"y".repeat(97)}...`, `     ${" ".repeat(60)}^^^`],
    ],
  ];
  test.each(carets)("%s", (_title, line, column, length, shown) => {
    const [, ...rest] = formatProblem(problem({ column, length }), line).split("\n");
    expect(rest.slice(0, 2)).toEqual(shown);
  });

  test("nothing in a file speaks to the terminal", () => {
    const told = { code: "field-range" as const, message: "\u001b[2J", path: ["\u0007"], hint: "\u009b1m\u202e" };
    const text = formatProblem(problem({ problem: told, file: "\u001b]0;x\u0007" }), "\u001b[31m\r\u0000x");
    expect(text).not.toMatch(/[^\P{C}\n\t]/u);
  });

  test.each([
    [["policy", "deadline"], "policy.deadline"],
    [["command", 2], "command[2]"],
    [[], ""],
    [Array.from({ length: 100 }, () => "abc"), `${"abc.".repeat(19)}a...`],
  ])("a path: %j", (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

describe("lines of a text", () => {
  const text = "ab\r\n\ncd";
  const rows: readonly [start: number, end: number, line: number, column: number, length: number][] = [
    [0, 2, 1, 1, 2],
    [1, 7, 1, 2, 2],
    [4, 4, 2, 1, 1],
    [5, 7, 3, 1, 2],
    [7, 7, 3, 3, 1],
  ];
  test.each(rows)("%i to %i", (start, end, line, column, length) => {
    expect(new LineIndex(text).placeOf({ start, end })).toEqual({ line, column, length });
  });

  test("without their ends", () => {
    const lines = new LineIndex(text);
    expect([1, 2, 3, 4].map((line) => lines.lineText(line))).toEqual(["ab", "", "cd", null]);
  });
});
