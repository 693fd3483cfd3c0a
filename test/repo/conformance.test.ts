/**
 * docs/conformance.md is kept true: every test it cites exists under the title it cites, every clause is either shown or
 * planned, and the counts at its top are those of its tables.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const DOCUMENT = "docs/conformance.md";
const PLANNED = "planned";

interface Row {
  readonly section: string;
  readonly id: string;
  readonly clause: string;
  readonly shownBy: string;
}

interface Citation {
  readonly id: string;
  readonly file: string;
  readonly title: string;
}

interface Count {
  readonly section: string;
  readonly shown: number;
  readonly planned: number;
}

const lines = fs.readFileSync(DOCUMENT, "utf8").split("\n");

function cellsOf(line: string): readonly string[] | null {
  return line.startsWith("|") && line.endsWith("|")
    ? line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
    : null;
}

function isFurniture([first = ""]: readonly string[]): boolean {
  return first === "id" || first === "specification" || /^-+$/.test(first);
}

/** The rows under each `## ` heading, but for those of the counts. */
function rowsOf(): readonly Row[] {
  let section = "";
  return lines.flatMap((line) => {
    if (line.startsWith("## ")) section = line.slice(3);
    const cells = cellsOf(line);
    if (cells === null || isFurniture(cells) || section === "Counts") return [];
    const [id = "", clause = "", shownBy = "", ...more] = cells;
    return [{ section, id, clause, shownBy: [shownBy, ...more].join(" | ") }];
  });
}

function countsOf(): readonly Count[] {
  const from = lines.indexOf("## Counts");
  const until = lines.findIndex((line, i) => i > from && line.startsWith("## "));
  return lines.slice(from, until).flatMap((line) => {
    const cells = cellsOf(line);
    if (cells === null || isFurniture(cells)) return [];
    return [{ section: cells[0] ?? "", shown: Number(cells[1]), planned: Number(cells[2]) }];
  });
}

function citationsOf({ id, shownBy }: Row): readonly Citation[] {
  if (shownBy === PLANNED) return [];
  return shownBy.split("<br>").map((citation) => {
    const [, file = "", title = ""] = /^(\S+?): (.+)$/.exec(citation.trim()) ?? [];
    return { id, file, title };
  });
}

const ROWS = rowsOf();
const CITATIONS = ROWS.flatMap(citationsOf);
const literals = new Map<string, readonly string[]>();

/** Shorter titles must be a whole one: part of one could be found anywhere. */
const PART_LENGTH = 14;

/** Every text of a file that may be a title, or a row of one: not its comments, not what it imports. */
function literalsOf(file: string): readonly string[] {
  const known = literals.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node)) found.push(node.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  literals.set(file, found);
  return found;
}

function isThere({ file, title }: Citation): boolean {
  return literalsOf(file).some((text) => (title.length < PART_LENGTH ? text === title : text.includes(title)));
}

function testFiles(folder = "test"): readonly string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((name) => name.endsWith(".ts"));
}

/** Whether a file is a test, or is part of one: reached from it by imports. */
function reachable(): ReadonlySet<string> {
  const files = testFiles();
  const found = new Set(files.filter((file) => file.endsWith(".test.ts")));
  // A set takes in what is added while it is gone through.
  for (const file of found) {
    for (const [, target = ""] of fs.readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)\.js"/g)) {
      const imported = `${path.join(path.dirname(file), target)}.ts`;
      if (files.includes(imported)) found.add(imported);
    }
  }
  return found;
}

/** What is said of a wrong row, so that it can be found at once. */
const of = (row: { readonly id: string }, what: string): string => `${row.id}: ${what}`;

describe("docs/conformance.md", () => {
  test("every row has an id, a clause, and something that shows it or the word planned", () => {
    const isWhole = ({ id, clause, shownBy }: Row) =>
      /^[A-Z]+-\d+$/.test(id) && clause !== "" && shownBy !== "" && !shownBy.includes(" | ");
    expect(ROWS.length).toBeGreaterThan(300);
    expect(ROWS.filter((row) => !isWhole(row))).toEqual([]);
  });

  test("ids are unique, and consecutive within their specification", () => {
    const next = new Map<string, number>();
    const wrong = ROWS.filter(({ section, id }) => {
      const n = (next.get(section) ?? 0) + 1;
      next.set(section, n);
      return !id.endsWith(`-${n}`);
    });
    // After the first every other one is wrong as well.
    expect(wrong.slice(0, 1).map(({ id, clause }) => `${id}: ${clause}`)).toEqual([]);
    expect(new Set(ROWS.map(({ id }) => id)).size).toBe(ROWS.length);
  });

  test("every citation names a file and a title", () => {
    expect(CITATIONS.filter(({ file, title }) => file === "" || title === "")).toEqual([]);
  });

  test("every cited file exists, and belongs to a test", () => {
    const files = reachable();
    expect(CITATIONS.filter(({ file }) => !files.has(file)).map((it) => of(it, it.file))).toEqual([]);
  });

  test("every cited title is there", () => {
    const gone = CITATIONS.filter((it) => !fs.existsSync(it.file) || !isThere(it));
    expect(gone.map((it) => of(it, `${it.file}: ${it.title}`))).toEqual([]);
  });

  test("the counts are those of the tables", () => {
    const sections = [...new Set(ROWS.map(({ section }) => section))];
    const counted = sections.map((section) => {
      const rows = ROWS.filter((row) => row.section === section);
      const planned = rows.filter(({ shownBy }) => shownBy === PLANNED).length;
      return { section, shown: rows.length - planned, planned };
    });
    const total = {
      section: "all",
      shown: counted.reduce((sum, { shown }) => sum + shown, 0),
      planned: counted.reduce((sum, { planned }) => sum + planned, 0),
    };
    expect(countsOf()).toEqual([...counted, total]);
  });

  test("every rule of docs/semantics.md, every golden value and every trace property has a row", () => {
    const rules = [...fs.readFileSync("docs/semantics.md", "utf8").matchAll(/^\*\*(S\d+) /gm)].map(([, rule]) => rule);
    const numbered = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
    const wanted = [...rules, ...numbered("G", 6), ...numbered("P", 26), ...numbered("L", 4)];
    const clauses = ROWS.map(({ clause }) => clause.split(/[ :]/)[0]);
    expect(rules.length).toBeGreaterThan(30);
    expect(wanted.filter((rule) => !clauses.includes(rule))).toEqual([]);
  });
});
