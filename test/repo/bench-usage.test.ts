import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));

function bench(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, ...args], { encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

describe("the benchmarks say how they are called, and measure nothing then", () => {
  test.each([["--help"], ["-h"]])("%s: usage on standard output, exit status 0", (option) => {
    const { status, out, err } = bench(option, "core");
    expect([status, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Usage: npm run bench -- \[NAME \.\.\.\]/);
  });

  test.each([
    ["an unknown option", ["--nosuch"], "bench: Unknown option '--nosuch'"],
    ["an option without its value", ["--json"], "bench: Option '--json <value>' argument missing"],
    ["an unknown name", ["core", "nosuch"], "bench: unknown name nosuch"],
    ["a name that every object has", ["toString"], "bench: unknown name toString"],
  ])("%s: what is wrong, and usage, on standard error; exit status 2", (_title, args, said) => {
    const { status, out, err } = bench(...args);
    expect([status, out, err.split("\n")[0]]).toEqual([2, "", said]);
    expect(err).toContain("\nUsage: npm run bench");
    expect(err).not.toContain("    at ");
  });
});
