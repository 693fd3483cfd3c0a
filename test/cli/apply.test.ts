/** `kron apply` and `kron node` before any database is asked: what is refused, and why. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const NOWHERE = ["--store", "postgres://krond@127.0.0.1:1/kron?sslmode=disable"];

function fileOf(text: string): string {
  const file = path.join(newDirectory(), "jobs.yaml");
  fs.writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const SOUND = 'jobs:\n  - { identity: a, schedule: "0 3 * * *", node: db1, command: [x] }\n';
const WRONG = 'jobs:\n  - { identity: a, schedule: "0 3 * * *", node: db1, pool: gpu, command: [x] }\n';

describe("kron apply", () => {
  test("an invalid configuration is told before any database is asked", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["apply", ...NOWHERE, fileOf(WRONG)]);
    expect(exitCode).toBe(2);
    expect(err).toContain("pool: node and pool do not go together");
  });

  test("what a stranger may write is refused, as at a start", async () => {
    const file = fileOf(SOUND);
    fs.chmodSync(file, 0o666);
    const { exitCode, err } = await runCaptured(KRON, ["apply", ...NOWHERE, file]);
    expect([exitCode, err]).toEqual([2, expect.stringContaining("may be written by others")]);
  });

  test("a request that may not go where it is to go is refused", async () => {
    const file = fileOf('jobs:\n  - { identity: a, schedule: "0 3 * * *", http: { url: "http://127.0.0.1:1/x" } }\n');
    const refused = await runCaptured(KRON, ["apply", ...NOWHERE, file]);
    expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining("may not go to a private address")]);
  });

  test("nodes share a database: where there is none, there are none", async () => {
    const argv = ["apply", "--state", newDirectory(), fileOf(SOUND)];
    const { exitCode, err } = await runCaptured(KRON, argv);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("nodes share a database")]);
  });

  test.each([
    ["--wait soon", ["--wait", "soon"], "--wait"],
    ["a password in the address", ["--store", "postgres://krond:secret@db/kron"], "holds a password"],
  ])("%s", async (_title, more, message) => {
    const { exitCode, err } = await runCaptured(KRON, ["apply", ...more, fileOf(SOUND)]);
    expect([exitCode, err]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe("kron node", () => {
  test.each([
    [["node", "drain"], "write: kron node drain NODE"],
    [["node", "list", "web1"], "node list takes no arguments"],
    [["node", "drian", "web1"], "did you mean 'kron node drain'?"],
    [["node", "drain", "web1", "--store", "lmdb"], "nodes share a database"],
  ])("%j", async (argv, message) => {
    const { exitCode, err } = await runCaptured(KRON, [...argv, "--state", newDirectory()]);
    expect([exitCode, err]).toEqual([1, expect.stringContaining(message)]);
  });
});
