/** How the tests are divided: see vitest.config.ts. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import config from "../../vitest.config.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDERS = ["core", "machines", "simulation", "scheduler", "actors/supervisor"];
const REPLACES = /\bvi\.(?:mock|doMock|resetModules)\(/;

function includedBy(name: string): readonly string[] {
  const project = (config.test?.projects ?? []).find(
    (it) => typeof it === "object" && "test" in it && it.test?.name === name,
  );
  if (typeof project !== "object" || !("test" in project)) throw new Error(`there is no project ${name}`);
  return project.test?.include ?? [];
}

test("who puts modules in the place of others shares no world with other tests", () => {
  const files = FOLDERS.flatMap((folder) => {
    const names = fs.readdirSync(path.join(ROOT, "test", folder), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".test.ts")).map((name) => `test/${folder}/${name}`);
  });
  const replacing = files.filter((file) => REPLACES.test(fs.readFileSync(path.join(ROOT, file), "utf8")));
  expect(replacing.length).toBeGreaterThan(0);
  expect([...includedBy("replacing")].sort()).toEqual(replacing.sort());
});

test("long tests are where they are said to be", () => {
  const folders = includedBy("long").map((pattern) => pattern.replace(/\/?[^/]*\*.*$/, ""));
  expect(folders.filter((name) => !fs.existsSync(path.join(ROOT, name)))).toEqual([]);
});
