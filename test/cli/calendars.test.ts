/** Calendars as their users meet them: every command that reads a configuration knows them. */
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const CONFIG = `calendars:
  holidays: { dates: [2026-12-24], file: days.ics }
jobs:
  - identity: a
    schedule: "0 1 * * *"
    window: { mode: after, duration: 1h }
    constraints: { avoid: calendar=holidays }
    command: [echo, x]
  - identity: b
    schedule: "0 1 * * *"
    window: { mode: after, duration: 1h }
    constraints: { only: calendar=holidays }
    command: [echo, x]
`;
const DAYS = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\nEND:VEVENT\nEND:VCALENDAR\n";

let cwd: string;
beforeEach(() => {
  cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "jobs.yaml"), CONFIG);
  fs.writeFileSync(path.join(cwd, "days.ics"), DAYS);
});

async function kron(...argv: readonly string[]) {
  return runCaptured(KRON, argv, { cwd, nowAt: Date.parse("2026-12-22T12:00:00Z") });
}

test("next, explain and verify: the days of the file and those beside it, and the record verified by itself", async () => {
  const { out } = await kron("next", "-c", "jobs.yaml", "--count", "5", "-o", "jsonl");
  const records = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { identity: string; chosen_time: string });
  const days = (of: string): string[] =>
    records.filter(({ identity }) => identity === of).map(({ chosen_time: at }) => at.slice(0, 10));
  expect(days("a").filter((day) => day !== "")).not.toContain("2026-12-24");
  expect(days("a").filter((day) => day !== "")).not.toContain("2026-12-25");
  expect(
    days("b")
      .filter((day) => day !== "")
      .every((day) => ["2026-12-24", "2026-12-25"].includes(day)),
  ).toBe(true);

  const explained = await kron("explain", "a", "-c", "jobs.yaml", "--at", "2026-12-25T01:30:00Z");
  expect(explained.out).toContain(
    "rejected by avoid calendar=holidays(2026-12-24..2026-12-25) (wall clock 2026-12-25 ",
  );
  const record = await kron("explain", "b", "-c", "jobs.yaml", "--at", "2026-12-25T01:30:00Z", "-o", "json");
  expect(JSON.parse(record.out)).toMatchObject({
    constraints_applied: { only: "calendar=holidays(2026-12-24..2026-12-25)" },
  });
  fs.writeFileSync(path.join(cwd, "record.json"), record.out);
  fs.rmSync(path.join(cwd, "days.ics"));
  expect((await kron("verify", "record.json")).exitCode).toBe(0);
});

test("forecast counts without the days of a calendar", async () => {
  const { exitCode, out, err } = await kron(
    "forecast",
    "-c",
    "jobs.yaml",
    "--from",
    "2026-12-23T00:00:00Z",
    "--to",
    "2026-12-27T00:00:00Z",
    "-o",
    "json",
  );
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  expect(JSON.stringify(JSON.parse(out))).toContain('"unschedulable":4');
});

test("simulate runs on the days that are left", async () => {
  const { exitCode, out } = await kron(
    "simulate",
    "-c",
    "jobs.yaml",
    "--from",
    "2026-12-23T00:00:00Z",
    "--to",
    "2026-12-27T00:00:00Z",
    "-o",
    "json",
  );
  expect(exitCode).toBe(0);
  expect(out).toContain("unschedulable");
});

describe("kron lint", () => {
  test("a calendar nobody has written on warns, a file that cannot be read is an error with its place", async () => {
    const later = await kron("lint", "jobs.yaml", "--at", "2028-01-01T00:00:00Z");
    expect(later.exitCode).toBe(0);
    expect(later.out).toContain(
      "a, b: warning: the calendar holidays has no date in the next 400 days, its last one is 2026-12-25; 2 jobs use it",
    );
    fs.writeFileSync(path.join(cwd, "days.ics"), DAYS.replace("20261225", "20261225T100000"));
    const { exitCode, out } = await kron("lint", "jobs.yaml");
    expect(exitCode).toBe(2);
    expect(out).toContain(
      "days.ics:3:1: error: DTSTART has a time of day\n  DTSTART;VALUE=DATE:20261225T100000\n  ^\n  hint: ",
    );
    expect(out).toContain('jobs.yaml:7:36: error: constraints.avoid: the calendar "holidays" cannot be used');
  });
});

test("tune writes windows for jobs that call a calendar by its name, and leaves the name", async () => {
  const jobs = Array.from({ length: 30 }, (_, n) => `  - { identity: j${n}, schedule: "0 3 * * *", command: [x] }\n`);
  const head =
    "calendars:\n  holidays: { file: days.ics }\ndefaults: { constraints: { avoid: calendar=holidays } }\njobs:\n";
  fs.writeFileSync(path.join(cwd, "many.yaml"), head + jobs.join(""));
  const { exitCode, err } = await kron("tune", "many.yaml", "--write");
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  const tuned = fs.readFileSync(path.join(cwd, "many.yaml"), "utf8");
  expect(tuned.startsWith(head)).toBe(true);
  expect(tuned.match(/window:/g)?.length).toBeGreaterThan(10);
  expect((await kron("lint", "many.yaml")).exitCode).toBe(0);
});

test("the example is sound, and its calendars say what it says they do", async () => {
  const config = path.resolve(import.meta.dirname, "../../examples/calendars");
  const lint = await kron("lint", config);
  expect([lint.exitCode, lint.out.includes("0 errors")]).toEqual([0, true]);
  const { out } = await kron("next", "-c", config, "--at", "2026-12-24T00:00:00Z", "--count", "30", "-o", "jsonl");
  const days = (of: string): string[] =>
    out
      .split("\n")
      .filter((line) => line.includes(`"identity":"${of}"`))
      .flatMap((line) => /"chosen_time":"([^T"]+)/.exec(line)?.[1] ?? []);
  expect(days("demo/settlement").slice(0, 3)).toEqual(["2026-12-24", "2026-12-28", "2026-12-29"]);
  expect(days("demo/stock-taking").slice(0, 2)).toEqual(["2026-12-27", "2026-12-28"]);
});
