/** What commands say of a job that runs once. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const JOBS = `defaults: { policy: { deadline: window } }
jobs:
  - { identity: migrate, at: 2026-12-01T03:00, timezone: Europe/Berlin, window: { duration: 1h }, command: ["true"] }
  - { identity: nightly, schedule: "0 3 * * *", command: ["true"] }
`;

async function kron(text: string, ...argv: readonly string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "jobs.yaml"), text);
  return await runCaptured(KRON, [...argv, "--config", "jobs.yaml"], { cwd });
}

describe("kron next", () => {
  test("one row, and that there is no more", async () => {
    const { out } = await kron(JOBS, "next", "migrate", "--at", "2026-11-19T00:00:00Z");
    expect(out.split("\n").length).toBe(5);
    expect(out).toContain("2026-12-01T02:00:00Z  2026-12-01T02:");
    expect(out).toContain("Once: there is no run after it.");
  });

  test("until its chosen second, also when its window is open by then", async () => {
    const { out } = await kron(JOBS, "next", "migrate", "--at", "2026-12-01T02:00:01Z");
    expect(out).toContain("2026-12-01T02:00:00Z  2026-12-01T02:");
  });

  test("afterwards: nothing, and why", async () => {
    const { out } = await kron(JOBS, "next", "migrate", "--at", "2026-12-02T00:00:00Z");
    expect(out).toContain("Once, and that time is over: 'kron why' says what became of it.");
    expect((await kron(JOBS, "next", "migrate", "--at", "2026-12-02", "-o", "json")).out).toBe("[]\n");
  });

  test("a time that a clock change leaves out", async () => {
    const text =
      "jobs: [{ identity: x, at: 2026-03-29T02:30, timezone: Europe/Berlin, dst: { gap: skip }, command: [a] }]\n";
    expect((await kron(text, "next", "x", "--at", "2026-01-01")).out).toContain("Never: a clock change skips its time");
  });

  test("of all jobs: in its place, and counted when it is over", async () => {
    const { out } = await kron(JOBS, "next", "--at", "2026-11-30T12:00:00Z", "--count", "3");
    expect(
      out
        .split("\n")
        .slice(1, 4)
        .map((row) => row.split(/ {2,}/)[2]),
    ).toEqual(["migrate", "nightly", "nightly"]);
    expect(out).not.toContain("no time left");
    const later = await kron(JOBS, "next", "--at", "2026-12-02T12:00:00Z", "--count", "1");
    expect(later.out).toContain("One job that runs once has no time left.");
  });
});

test("kron explain: the only decision there is, and none before it", async () => {
  const { out } = await kron(JOBS, "explain", "migrate", "--at", "2026-12-24", "-o", "json");
  const record = JSON.parse(out) as Record<string, unknown>;
  expect(record).toMatchObject({ schedule: "@at 2026-12-01T03:00", nominal_time: "2026-12-01T02:00:00Z" });
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "record.json"), `${JSON.stringify(record)}\n`);
  expect((await runCaptured(KRON, ["verify", "record.json"], { cwd })).exitCode).toBe(0);
  const moved = { ...record, schedule: "@at 2026-12-01T03:01" };
  fs.writeFileSync(path.join(cwd, "moved.json"), `${JSON.stringify(moved)}\n`);
  expect((await runCaptured(KRON, ["verify", "moved.json"], { cwd })).exitCode).not.toBe(0);
  expect((await kron(JOBS, "explain", "migrate", "--at", "2026-11-01")).err).toContain("has no period at or before");
});

test("kron forecast counts it once, kron simulate runs it once", async () => {
  const horizon = ["--at", "2026-12-01T00:00:00Z", "--horizon", "48h"];
  const { out } = await kron(JOBS, "forecast", "-o", "json", ...horizon);
  const { buckets } = JSON.parse(out) as { buckets: readonly { starts: number }[] };
  expect(buckets.reduce((sum, { starts }) => sum + starts, 0)).toBe(3);
  const span = ["--from", "2026-12-01T00:00:00Z", "--to", "2026-12-03T00:00:00Z"];
  const simulated = await kron(JOBS, "simulate", ...span, "-o", "json");
  expect(JSON.parse(simulated.out)).toMatchObject({ figures: { executed: 3 } });
});

test("kron tune leaves it where it is", async () => {
  const jobs = Array.from({ length: 40 }, (_, i) => `  - { identity: j${i}, at: 2026-12-01T03:00, command: [x] }\n`);
  const { out } = await kron(`jobs:\n${jobs.join("")}`, "tune", "--at", "2026-12-01T00:00:00Z", "--horizon", "24h");
  expect(out).toContain("40 run once, at the time that they name");
  expect(out).toContain("Nothing to propose.");
});

test("kron lint: a time that is over is a warning, and no error", async () => {
  const past = "jobs: [{ identity: x, at: 2020-01-01T00:00, policy: { deadline: window }, command: [a] }]\n";
  const { exitCode, out, err } = await kron(past, "lint");
  expect([exitCode, `${out}${err}`.includes("is over: if it has not run by now, it never will")]).toEqual([0, true]);
});

test.each([
  ["at: tomorrow", 'jobs.yaml:1:27: error: at: "tomorrow" is no date and time'],
  ["at: 2026-02-30T00:00", "jobs.yaml:1:27: error: at: there is no date 2026-02-30"],
  ['schedule: "@at soon"', "jobs.yaml:1:38: "],
])("%s is refused with its place", async (field, wanted) => {
  const { exitCode, out } = await kron(`jobs: [{ identity: x, ${field}, command: [a] }]\n`, "lint");
  expect([exitCode, out]).toEqual([2, expect.stringContaining(wanted)]);
});

test("a crontab does not know it, and says what does", async () => {
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "tab"), "@at 2026-12-01T03:00 /bin/true\n");
  const { err, out } = await runCaptured(KRON, ["import", "crontab", "tab"], { cwd });
  expect(`${out}${err}`).toContain("cron does not know @at");
  expect(`${out}${err}`).toContain("at: 2026-12-01T03:00");
});
