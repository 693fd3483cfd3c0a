import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleEntry } from "../support/bundle.js";

/** The real program in real processes: what tests inside one process cannot see. */
let program: Awaited<ReturnType<typeof bundleEntry>>;
const elsewhere = mkdtempSync(join(tmpdir(), "kron-cli-"));

beforeAll(async () => {
  program = await bundleEntry("src/cli/kron.ts");
  cpSync("test/cli/files/jobs.yaml", join(elsewhere, "jobs.yaml"));
});

afterAll(() => {
  program.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

interface World {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly config?: string;
}

function kron(
  argv: readonly string[],
  { env = {}, cwd = process.cwd(), config = "test/cli/files/jobs.yaml" }: World = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program.file, ...argv, "--config", config], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("byte-identical output for identical input and zone data, whatever the environment", () => {
  const commands = [
    ["next", "msgs/paris", "--at", "2026-03-20T00:00:00Z", "--count", "20"],
    ["next", "msgs/paris", "--at", "2026-03-20T00:00:00Z", "--count", "20", "-o", "jsonl"],
    ["next", "--at", "2026-03-20T00:00:00Z"],
    ["explain", "home/lights", "--at", "2026-03-01T18:00:00Z"],
    ["explain", "home/lights", "--at", "2026-03-01T18:00:00Z", "-o", "json"],
  ];
  const worlds: readonly World[] = [
    { env: { TZ: "Asia/Kathmandu", LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8" } },
    { env: { TZ: "America/St_Johns", COLUMNS: "20", TERM: "xterm-256color" } },
    { cwd: elsewhere, config: "jobs.yaml" },
  ];

  test.each(commands)("kron %s %s %s %s", (...argv) => {
    const reference = kron(argv, { env: { TZ: "UTC", LANG: "C" } });
    expect(reference).toMatchObject({ status: 0, stderr: "" });
    for (const world of worlds) expect(kron(argv, world)).toEqual(reference);
  });
});

test("a reader that goes away ends the program quietly", () => {
  const command = `"${process.execPath}" "${program.file}" next prod/db-backup --count 20000 -o jsonl --config test/cli/files/jobs.yaml | head -1`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.split("\n")).toHaveLength(2);
});

test("exit codes reach the shell", () => {
  expect(kron(["next", "nobody"]).status).toBe(1);
  expect(kron(["next"], { config: "test/cli/files/broken.yaml" }).status).toBe(2);
});
