import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A copy of the rules in an empty folder: samples are linted there as if they were sources. */
const folder = mkdtempSync(join(tmpdir(), "kron-boundaries-"));
const biome = resolve("node_modules/@biomejs/biome/bin/biome");

beforeAll(() => {
  const rules: Record<string, unknown> = JSON.parse(readFileSync("biome.json", "utf8"));
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ ...rules, $schema: undefined, vcs: undefined }));
  cpSync("scripts/lint", join(folder, "scripts/lint"), { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lintAs(file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const result = spawnSync(process.execPath, [biome, "lint", "--colors=off", file], { cwd: folder, encoding: "utf8" });
  return `${result.stdout}${result.stderr}`.replaceAll(/\s+/g, " ");
}

const IMPORTS: readonly (readonly [name: string, file: string, text: string, message: string])[] = [
  ["core → machines", "src/core/x.ts", 'import { m } from "../machines/m.js";\nm();', "core imports nothing of ours"],
  [
    "core → actors, type only",
    "src/core/x.ts",
    'import type { T } from "../actors/t.js";\nexport type U = T;',
    "core imports nothing of ours",
  ],
  [
    "core → persist, re-export",
    "src/core/x.ts",
    'export { s } from "../persist/s.js";',
    "core imports nothing of ours",
  ],
  [
    "core → cli, dynamic",
    "src/core/x.ts",
    'export const f = () => import("../cli/kron.js");',
    "core imports nothing of ours",
  ],
  [
    "core → node:fs",
    "src/core/x.ts",
    'import { readFileSync } from "node:fs";\nreadFileSync("x");',
    "core and machines do no I/O",
  ],
  ["machines → actors", "src/machines/x.ts", 'import { a } from "../actors/a.js";\na();', "machines import core only"],
  [
    "machines → persist",
    "src/machines/x.ts",
    'import { a } from "../persist/a.js";\na();',
    "machines import core only",
  ],
  ["persist → actors", "src/persist/x.ts", 'import { a } from "../actors/a.js";\na();', "persist imports core only"],
  ["actors → hosts", "src/actors/x.ts", 'import { a } from "../krond/a.js";\na();', "wiring belongs into a host"],
  [
    "actors → operations",
    "src/actors/x.ts",
    'import { a } from "../operations/a.js";\na();',
    "wiring belongs into a host",
  ],
  ["operations → hosts", "src/operations/x.ts", 'import { a } from "../krond/a.js";\na();', "operations know no host"],
  ["planner → hosts", "src/planner/x.ts", 'import { a } from "../krond/a.js";\na();', "planners look and propose"],
  ["planner → persist", "src/planner/x.ts", 'import { a } from "../persist/a.js";\na();', "planners look and propose"],
  ["core → planner", "src/core/x.ts", 'import { a } from "../planner/a.js";\na();', "core imports nothing of ours"],
  ["actors → planner", "src/actors/x.ts", 'import { a } from "../planner/a.js";\na();', "wiring belongs into a host"],
  ["host → host", "src/scheduler/x.ts", 'import { a } from "../cli/a.js";\na();', "hosts do not import each other"],
];

describe("import boundaries: a forbidden import is refused, and the message names what to do instead", () => {
  test.each(IMPORTS)("%s", (_name, file, text, message) => {
    expect(lintAs(file, text)).toContain(message);
  });

  test("a downward import passes", () => {
    expect(lintAs("src/actors/x.ts", 'import { a } from "../core/a.js";\na();')).not.toContain("noRestrictedImports");
  });
});

describe("S2: core and machines read no clock, timer, random source or environment", () => {
  const impure = [
    "Date.now()",
    "new Date()",
    "Math.random()",
    "process.env",
    "Temporal.Now.instant()",
    "globalThis.Date",
  ];
  test.each(impure)("%s is refused in core and in machines", (expression) => {
    const text = `export const x = () => ${expression};`;
    expect(lintAs("src/core/x.ts", text)).toContain("core and machines are pure (S2)");
    expect(lintAs("src/machines/x.ts", text)).toContain("core and machines are pure (S2)");
    expect(lintAs("src/actors/x.ts", text)).not.toContain("(S2)");
  });

  test("timers are refused", () => {
    expect(lintAs("src/core/x.ts", "setTimeout(() => {}, 1);")).toContain("noRestrictedGlobals");
  });
});
