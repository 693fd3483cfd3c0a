/** Whoever copies an example into a strict project gets no error. */
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { examplesOf } from "./testing/support/examples.js";
import { strictProblems } from "./testing/support/strict.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const TREES = ["src/scheduler", "src/scheduler/stores", "src/scheduler/testing"];
const PAGES = ["docs/scheduler.md", "docs/testing-schedules.md", ...TREES.flatMap(sourcesOf)];

function sourcesOf(folder: string): readonly string[] {
  const names = readdirSync(path.join(ROOT, folder)).filter((name) => name.endsWith(".ts"));
  return names.map((name) => `${folder}/${name}`);
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), "utf8");
}

/** Every block of the guides and of the comments of the library, and the programs of the page about migration. */
function examples(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const page of PAGES) {
    for (const [i, { code }] of examplesOf(read(page)).entries()) found.set(`${page}-${i + 1}.ts`, code);
  }
  for (const library of readdirSync(path.join(ROOT, "examples/migration"))) {
    const program = `examples/migration/${library}/after.mjs`;
    found.set(program, read(program));
  }
  return found;
}

test("every example of the scheduler compiles under strict", { timeout: 120_000 }, () => {
  const sources = examples();
  expect(sources.size).toBeGreaterThan(25);
  expect(strictProblems(sources)).toEqual([]);
});

test("what does not is found", { timeout: 120_000 }, () => {
  const careless = 'const store = { transact(update) {} };\nlet n: number = "1";\nexport { store, n };\n';
  const found = strictProblems(new Map([["docs/careless.ts", careless]]));
  expect(found.map((problem) => problem.split(": ")[0])).toEqual(["docs/careless.ts:1", "docs/careless.ts:2"]);
});
