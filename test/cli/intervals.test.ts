/** What the commands that look ahead say of jobs without cron periods. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const AT = ["--at", "2026-03-28T12:00:00Z"];
const JOBS = `jobs:
  - { identity: poll, every: 90s, max_interval: 80s, command: [x] }
  - { identity: sync, every: 5m, command: [x] }
  - { identity: night, schedule: "0 3 * * *", min_interval: 1h, command: [x] }
`;
const directory = temporaryDirectories();

async function kron(...argv: readonly string[]) {
  const file = path.join(directory(), "jobs.yaml");
  fs.writeFileSync(file, JOBS);
  return runCaptured(KRON, [...argv, "--config", file]);
}

describe("kron next", () => {
  test("counts an interval from --at, and says so", async () => {
    const { out } = await kron("next", "sync", ...AT, "--count", "2");
    expect(out.split("\n")).toEqual([
      "PERIOD     CHOSEN (UTC)          SHIFT  CHOSEN (LOCAL)              FROM NOW",
      "@every 5m  2026-03-28T12:05:00Z      -  2026-03-28 12:05:00 +00:00  in 5m",
      "@every 5m  2026-03-28T12:10:00Z      -  2026-03-28 12:10:00 +00:00  in 10m",
      "",
      "Every 5m from the start of one run to the next; counted from now. With --state it is counted from the last run.",
      "",
    ]);
  });

  test("within its bounds", async () => {
    const { out } = await kron("next", "poll", ...AT, "--count", "2", "-o", "jsonl");
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { identity: "poll", schedule: "@every 1m30s", source: "interval", chosen_time: "2026-03-28T12:01:20Z" },
      { identity: "poll", schedule: "@every 1m30s", source: "interval", chosen_time: "2026-03-28T12:02:40Z" },
    ]);
  });

  test("lists intervals and periods together, soonest first", async () => {
    const { out } = await kron("next", ...AT, "--count", "5");
    const rows = out.split("\n").slice(1, 6);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 4).join(" | "))).toEqual([
      "2026-03-28T12:01:20Z | in 1m20s | poll | @every 1m30s",
      "2026-03-28T12:02:40Z | in 2m40s | poll | @every 1m30s",
      "2026-03-28T12:04:00Z | in 4m | poll | @every 1m30s",
      "2026-03-28T12:05:00Z | in 5m | sync | @every 5m",
      "2026-03-28T12:05:20Z | in 5m20s | poll | @every 1m30s",
    ]);
  });

  test("says of a cron schedule that it has bounds", async () => {
    const { out } = await kron("next", "night", ...AT, "--count", "1");
    expect(out).toContain("From the start of one run to the next it is at least 1h: 'kron forecast' counts with that.");
  });
});

test("kron explain: there is no decision to explain", async () => {
  const { exitCode, err } = await kron("explain", "sync", ...AT);
  expect([exitCode, err]).toEqual([1, expect.stringContaining("sync runs every 5m: there is no window")]);
});

test("kron forecast counts intervals exactly", async () => {
  const { out } = await kron("forecast", ...AT, "--horizon", "2h", "--bucket", "1h", "-o", "csv");
  // 45 of every 80 s, 12 of every 5 min.
  expect(
    out
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(",").slice(0, 2)),
  ).toEqual([
    ["2026-03-28T12:00:00Z", "57"],
    ["2026-03-28T13:00:00Z", "57"],
  ]);
});

test("kron tune leaves intervals alone", async () => {
  const { out } = await kron("tune", ...AT, "--target-peak", "1", "-o", "json");
  expect(JSON.parse(out).left_alone).toMatchObject({ interval: 2 });
});

test("kron lint finds nothing wrong with them", async () => {
  expect((await kron("lint")).exitCode).toBe(0);
});
