import { describe, expect, test } from "vitest";
import { type Column, FittedTable } from "../../src/cli/table.js";

interface Row {
  readonly name: string;
  readonly when: string;
  readonly what: string;
}

const PLAIN = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
const MARKED = { ...PLAIN, red: (text: string) => `<${text}>` };

function same(text: string): string {
  return text;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "NAME", rank: 3, least: 6, cap: 10, cell: ({ name }) => name },
  {
    title: "WHEN (UTC)",
    shortTitle: "WHEN",
    rank: 1,
    least: 4,
    cell: ({ when }) => ({ text: `at ${when}`, short: when }),
  },
  { title: "WHAT", rank: 2, least: 5, cell: ({ what }) => ({ text: what, colour: "red" }) },
];

const ROWS: readonly Row[] = [
  { name: "a", when: "09:00", what: "executed" },
  { name: "b/longer", when: "10:00", what: "missed" },
];

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

describe("tables that come in pages", () => {
  test("without a terminal nothing is shortened, and columns grow with what comes", () => {
    const table = new FittedTable(COLUMNS, null, PLAIN);
    expect(table.text(ROWS.slice(0, 1))).toBe("NAME  WHEN (UTC)  WHAT\na     at 09:00    executed\n");
    expect(table.text(ROWS.slice(1))).toBe("b/longer  at 10:00    missed\n");
    expect(table.end()).toBe("");
  });

  test("a table without rows has a header", () => {
    expect(new FittedTable(COLUMNS, 80, PLAIN).end()).toBe("NAME  WHEN (UTC)  WHAT\n");
  });

  test("one long name widens its own row only", () => {
    const long = { name: "n".repeat(30), when: "09:00", what: "executed" };
    const lines = new FittedTable(COLUMNS, null, PLAIN).text([...ROWS, long]).split("\n");
    expect(lines[1]).toBe("a         at 09:00    executed");
    expect(lines[3]).toBe(`${"n".repeat(30)}  at 09:00    executed`);
  });

  test("a terminal that is wide enough sees everything", () => {
    expect(new FittedTable(COLUMNS, 80, PLAIN).text(ROWS)).toBe(
      "NAME      WHEN (UTC)  WHAT\na         at 09:00    executed\nb/longer  at 10:00    missed\n",
    );
  });

  test.each([
    [26, "NAME      WHEN   WHAT\na         09:00  executed\nb/longer  10:00  missed\n"],
    [23, "NAME      WHEN  WHAT\na         09:…  execut…\nb/longer  10:…  missed\n"],
    [20, "NAME     WHEN  WHAT\na        09:…  exec…\nb/long…  10:…  miss…\n"],
    [14, "NAME    WHAT\na       exec…\nb/lon…  miss…\n"],
    [6, "NAME\na\nb/lon…\n"],
    [3, "NA…\na\nb/…\n"],
  ])("%i columns: the least important is shortened first, then left out; no row is wider", (width, expected) => {
    const text = new FittedTable(COLUMNS, width, PLAIN).text(ROWS);
    expect(text).toBe(expected);
    expect(widest(text)).toBeLessThanOrEqual(width);
  });

  test("later pages keep to the widths of the first", () => {
    const table = new FittedTable(COLUMNS, 30, PLAIN);
    table.text(ROWS);
    expect(table.text([{ name: "a/much/longer/name", when: "11:00", what: "unschedulable" }])).toBe(
      "a/much/…  at 11:00    unsched…\n",
    );
  });

  test("colours take no room", () => {
    expect(new FittedTable(COLUMNS, 80, MARKED).text(ROWS)).toContain("a         at 09:00    <executed>\n");
  });
});
