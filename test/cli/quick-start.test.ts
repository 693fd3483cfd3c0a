/** What is read before a command does anything: help, the version and each press of Tab wait for it. */
import * as fs from "node:fs";
import { isBuiltin } from "node:module";
import * as path from "node:path";
import { describe, expect, inject, test } from "vitest";

const programs = inject("programs");
const STATIC = /^(?:import|export|\})[^\n"]*"([^"\n]+)";$/gm;

/** Packages that a built file loads by itself, and through the files that it loads. */
function packagesOf(file: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const named = [...fs.readFileSync(file, "utf8").matchAll(STATIC)].map(([, name = ""]) => name);
  const packages = named.filter((name) => !name.startsWith(".") && !isBuiltin(name));
  const own = named.filter((name) => name.startsWith("."));
  return [...packages, ...own.flatMap((name) => packagesOf(path.resolve(path.dirname(file), name), seen))];
}

function fileOf(verb: string): string {
  const [, name = ""] =
    new RegExp(`import\\("(\\./${verb}-[^"]+)"\\)`).exec(fs.readFileSync(programs.kron, "utf8")) ?? [];
  return path.resolve(path.dirname(programs.kron), name);
}

describe("no package is loaded", () => {
  test.each(["kron", "krond"] as const)("for the help, the version and the completion of %s", (name) => {
    expect(packagesOf(programs[name])).toEqual([]);
  });

  test.each(["list", "control", "plan"])("for 'kron %s', when a daemon answers it", (verb) => {
    expect(packagesOf(fileOf(verb))).toEqual([]);
  });

  test("which this would notice", () => {
    expect(packagesOf(fileOf("lint"))).toEqual(expect.arrayContaining(["yaml", "zod", "temporal-polyfill"]));
  });
});
