/** R6: a mutant whose place in the sources is gone shows nothing any more, and nobody would notice before all are tried. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "../torture/mutant-list.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

test("every mutant changes exactly one place, and the tests that are to notice it are there", () => {
  const stale = MUTANTS.filter(({ file, search, replace, tests }) => {
    const times = fs.readFileSync(path.join(ROOT, file), "utf8").split(search).length - 1;
    const areThere = tests.every((name) => fs.existsSync(path.join(ROOT, name)));
    return times !== 1 || search === replace || !areThere;
  });
  expect(stale.map(({ name }) => name)).toEqual([]);
  expect(MUTANTS.length).toBeGreaterThan(40);
});
