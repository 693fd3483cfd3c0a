/** The house is kept as ARCHITECTURE.md says: what a reader relies on without looking. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { longFiles, longFunctions, outOfOrder, uncalledMethods, unusedExports } from "./sources/rules.js";
import { cyclesIn, parse, readSources, type Sources } from "./sources/tree.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MOST_LINES_OF_A_FILE = 500;
const MOST_LINES_OF_A_FUNCTION = 60;
const PORTS = [
  ["src/persist/store.ts", "StateStore"],
  ["src/persist/store.ts", "StateReader"],
  ["src/persist/backends.ts", "Backend"],
  ["src/actors/runner/runner-of.ts", "RunnerOf"],
  ["src/actors/clock.ts", "Clock"],
  ["src/actors/supervisor/port.ts", "Supervisor"],
] as const;

/** Parts of endpoints that are whole and tested, and wait for those that will call them; nothing else may be put here. */
const AWAITED: readonly string[] = [];

const sources = readSources(ROOT, "src");

describe("the sources", () => {
  test("none imports itself by way of others, types included", () => {
    expect(cyclesIn(sources)).toEqual([]);
  });

  test("each folder of core knows only those before it", () => {
    expect(outOfOrder(sources)).toEqual([]);
  });

  test(`no file has more than ${MOST_LINES_OF_A_FILE} lines`, () => {
    expect(longFiles(sources, MOST_LINES_OF_A_FILE)).toEqual([]);
  });

  test(`no function has more than ${MOST_LINES_OF_A_FUNCTION} lines`, () => {
    expect(longFunctions(sources, MOST_LINES_OF_A_FUNCTION)).toEqual([]);
  });

  test("nothing is exported for tests alone", () => {
    const scripts = fs.readdirSync(path.join(ROOT, "scripts")).filter((name) => name.endsWith(".mjs"));
    const texts = scripts.map((name) => fs.readFileSync(path.join(ROOT, "scripts", name), "utf8"));
    const unused = unusedExports(sources, [...texts, ...textsOfPage()].join("\n"));
    expect(unused.filter((name) => !AWAITED.includes(name))).toEqual([]);
    expect(AWAITED.filter((name) => !unused.includes(name))).toEqual([]);
  });

  test("every method of a port has a caller", () => {
    expect(uncalledMethods(sources, PORTS)).toEqual([]);
  });
});

/** The page knows shapes of ours as types. */
function textsOfPage(): readonly string[] {
  const folder = path.join(ROOT, "web/src");
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\.tsx?$/.test(name)).map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
}

function written(files: Readonly<Record<string, string>>): Sources {
  return new Map(Object.entries(files).map(([file, text]) => [file, parse(file, text)]));
}

describe("which would be noticed", () => {
  test("a cycle of types", () => {
    const a = 'import type { B } from "./b.js";\nexport type A = B;\n';
    const b = 'export type { A as B } from "./a.js";\n';
    expect(cyclesIn(written({ "src/a.ts": a, "src/b.ts": b }))).toEqual(["src/a.ts → src/b.ts → src/a.ts"]);
  });

  test("a folder that knows a later one", () => {
    const text = 'import type { Why } from "../why/why.js";\nexport type X = Why;\n';
    expect(outOfOrder(written({ "src/core/time/x.ts": text }))).toEqual(["src/core/time/x.ts → src/core/why/why.ts"]);
    expect(outOfOrder(written({ "src/core/new/x.ts": text }))).toHaveLength(1);
  });

  test("a long file and a long function", () => {
    const long = written({ "src/x.ts": `const f = () => {\n${"  f();\n".repeat(60)}};\nf();\n` });
    expect(longFunctions(long, MOST_LINES_OF_A_FUNCTION)).toEqual(["src/x.ts:1"]);
    expect(longFunctions(long, 62)).toEqual([]);
    expect(longFiles(long, 62)).toEqual(["src/x.ts: 63 lines"]);
  });

  test("an export that only tests use", () => {
    const files = {
      "src/x.ts": "export const a = 1;\nexport const b = 2;\n",
      "src/y.ts": 'import { a } from "./x.js";\na;\n',
    };
    expect(unusedExports(written(files))).toEqual(["src/x.ts: b"]);
  });

  test("a method that nobody calls", () => {
    const port = {
      "src/p.ts": "export interface P { used(): void; idle(): void }\nexport const f = (p: P) => p.used();\n",
    };
    expect(uncalledMethods(written(port), [["src/p.ts", "P"]])).toEqual(["P.idle"]);
  });
});
