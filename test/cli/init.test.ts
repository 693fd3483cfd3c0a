import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();

function ownDirectory(): string {
  const cwd = newDirectory();
  fs.chmodSync(cwd, 0o755);
  return cwd;
}

describe("kron init", () => {
  test("S19: a file that lints clean, without a warning, has a deadline, and whose job is due within minutes", async () => {
    const cwd = ownDirectory();
    const made = await runCaptured(KRON, ["init", "--tz", "Europe/Berlin"], { cwd });
    expect([made.exitCode, made.out]).toEqual([
      0,
      expect.stringMatching(/^wrote jobs\.yaml\n[\s\S]*krond start --config jobs\.yaml/),
    ]);
    const file = path.join(cwd, "jobs.yaml");
    expect(fs.statSync(file).mode & 0o777).toBe(0o644);
    const text = fs.readFileSync(file, "utf8");
    for (const word of ["timezone: Europe/Berlin", "deadline: window", "window:", "# notify:"])
      expect(text).toContain(word);
    const lint = await runCaptured(KRON, ["lint", "jobs.yaml", "-o", "json"], { cwd });
    const { valid, jobs, warnings } = JSON.parse(lint.out) as {
      valid: boolean;
      jobs: number;
      warnings: { kind: string }[];
    };
    // Whether the way to a temporary directory is trusted is a matter of the machine.
    expect([valid, jobs, warnings.filter(({ kind }) => kind !== "untrusted")]).toEqual([true, 1, []]);
    const next = await runCaptured(KRON, ["next", "demo/hello", "--config", "jobs.yaml"], { cwd });
    expect(next.out).toContain("2026-02-28T12:0");
  });

  test("the notification that is commented out is one, once the signs are taken away", async () => {
    const cwd = ownDirectory();
    await runCaptured(KRON, ["init"], { cwd });
    const file = path.join(cwd, "jobs.yaml");
    const text = fs.readFileSync(file, "utf8").replace(/^ {2}# (notify:| {2}- \{ on)/gm, "  $1");
    expect(text).toContain("\n  notify:\n    - { on");
    fs.writeFileSync(file, text);
    expect((await runCaptured(KRON, ["lint", "jobs.yaml"], { cwd })).exitCode).toBe(0);
  });

  test.each<[title: string, args: readonly string[], made: string]>([
    ["a directory that is not there yet", ["new/dir"], "new/dir/jobs.yaml"],
    ["a file by its name", ["mine.yaml"], "mine.yaml"],
    ["a file in a new directory", ["new/mine.yml"], "new/mine.yml"],
  ])("%s", async (_title, args, made) => {
    const cwd = ownDirectory();
    const { exitCode, out } = await runCaptured(KRON, ["init", ...args], { cwd });
    expect([exitCode, out.split("\n", 1)[0], fs.existsSync(path.join(cwd, made))]).toEqual([0, `wrote ${made}`, true]);
  });

  test("what is there stays as it is, and so does what is no directory; nothing is half made", async () => {
    const cwd = ownDirectory();
    fs.writeFileSync(path.join(cwd, "jobs.yaml"), "mine");
    fs.writeFileSync(path.join(cwd, "notes"), "mine");
    const again = await runCaptured(KRON, ["init"], { cwd });
    const onFile = await runCaptured(KRON, ["init", "notes"], { cwd });
    const below = await runCaptured(KRON, ["init", "notes/deeper"], { cwd });
    const two = await runCaptured(KRON, ["init", "a", "b"], { cwd });
    const zone = await runCaptured(KRON, ["init", "other", "--tz", "Nowhere/At-All"], { cwd });
    expect([again, onFile, below, two, zone].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1, 1]);
    expect(again.err).toContain("is there already, and stays as it is");
    expect(onFile.err).toContain("name a directory, or a file that ends in .yaml");
    expect(fs.readdirSync(cwd).sort()).toEqual(["jobs.yaml", "notes"]);
    expect(fs.readFileSync(path.join(cwd, "jobs.yaml"), "utf8")).toBe("mine");
  });
});
