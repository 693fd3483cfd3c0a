/** S44: what commands say of a job that runs at boot. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const JOBS = `jobs:
  - { identity: warm, schedule: "@reboot", command: ["true"] }
  - { identity: nightly, schedule: "0 3 * * *", command: ["true"] }
`;

async function kron(...argv: readonly string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "jobs.yaml"), JOBS);
  return await runCaptured(KRON, [...argv, "--config", "jobs.yaml"], { cwd });
}

test("kron next: no instant is known, and the text says so", async () => {
  expect((await kron("next", "warm")).out).toContain("Once for each boot of the machine");
  const { out } = await kron("next", "--count", "1");
  expect(out).toContain("nightly");
  expect(out).toContain("One job runs at boot, at no instant that is known.");
  expect((await kron("next", "warm", "-o", "json")).out).toBe("[]\n");
});

test("kron explain: no window, no hash", async () => {
  const { exitCode, err } = await kron("explain", "warm");
  expect(exitCode).toBe(1);
  expect(err).toContain("warm runs once for each boot of the machine: there is no window and no hash");
});

test("kron forecast counts none of its starts", async () => {
  const { exitCode, out } = await kron("forecast", "-o", "json", "--at", "2026-03-01T00:00:00Z", "--horizon", "24h");
  const { jobs, buckets } = JSON.parse(out) as { jobs: number; buckets: readonly { starts: number }[] };
  expect([exitCode, jobs, buckets.reduce((sum, { starts }) => sum + starts, 0)]).toEqual([0, 2, 1]);
});
