import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { createLog } from "../../src/krond/log/logging.js";
import { runCaptured } from "../support/cli.js";

const JOBS = ["--config", "test/cli/files/jobs.yaml"];

/** The field names of the decision record, in their order: a contract with other tools. */
const RECORD_FIELDS = [
  "identity",
  "schedule",
  "dst",
  "period_id",
  "period_key",
  "nominal_time",
  "window_mode",
  "window_duration",
  "window_start",
  "window_end",
  "chosen_time",
  "timezone",
  "tz_version",
  "distribution",
  "dist_params",
  "seed_strategy",
  "salt",
  "seed_hash",
  "attempts",
  "constraints_applied",
  "unschedulable",
  "reason",
  "engine_version",
];

async function kron(...argv: readonly string[]) {
  return runCaptured(KRON, argv);
}

function records(out: string): Record<string, unknown>[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("kron next", () => {
  test("-o jsonl: one bare record a line, from the first nominal time after --at", async () => {
    const { exitCode, out, err } = await kron(
      "next",
      "prod/db-backup",
      ...JOBS,
      "--count",
      "3",
      "--at",
      "2026-02-28T00:00:00Z",
      "-o",
      "jsonl",
    );
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(records(out).map((record) => [record["period_id"], record["chosen_time"]])).toEqual([
      ["2026-03-01T00:00:00Z", "2026-03-01T02:32:20Z"],
      ["2026-03-02T00:00:00Z", "2026-03-02T00:38:36Z"],
      ["2026-03-03T00:00:00Z", "2026-03-03T01:37:50Z"],
    ]);
    for (const record of records(out)) expect(Object.keys(record)).toEqual(RECORD_FIELDS);
  });

  test("an offset in --at means the same instant", async () => {
    const utc = await kron("next", "msgs/paris", ...JOBS, "--at", "2026-03-01T23:30:00Z", "-o", "jsonl");
    const offset = await kron("next", "msgs/paris", ...JOBS, "--at", "2026-03-02T01:30:00+02:00", "-o", "jsonl");
    expect(offset).toEqual(utc);
    expect(records(utc.out)[0]).toMatchObject({
      period_id: "2026-03-02T09:00:00Z",
      chosen_time: "2026-03-02T09:27:06Z",
    });
  });

  test("text shows the second, the shift and the wall clock of the job's zone", async () => {
    const { out } = await kron("next", "msgs/paris", ...JOBS, "--count", "1", "--at", "2026-03-01T23:30:00Z");
    expect(out).toContain("2026-03-02T09:00:00Z  2026-03-02T09:27:06Z  +27m6s  2026-03-02 10:27:06 +01:00  in 9h57m6s");
  });

  test("without a job: what lies ahead over all jobs, soonest first, and suspended ones are named", async () => {
    const { out } = await kron("next", ...JOBS, "--at", "2026-03-01T01:00:00Z", "--count", "4");
    const identities = out
      .split("\n")
      .map((line) => /(?:prod|msgs|home)\/\S+/.exec(line)?.[0])
      .filter(Boolean);
    expect(identities).toEqual(["prod/db-backup", "msgs/paris", "home/never", "home/lights"]);
    expect(out).toContain("One suspended job is not shown.");
  });

  test("without a job: a period whose nominal time has passed is shown while its chosen time lies ahead (S10)", async () => {
    const { out } = await kron("next", ...JOBS, "--at", "2026-03-01T01:00:00Z", "--count", "1", "-o", "jsonl");
    expect(records(out)[0]).toMatchObject({ identity: "prod/db-backup", chosen_time: "2026-03-01T02:32:20Z" });
  });
});

describe("kron explain", () => {
  test("-o json: the record of the current period (S10)", async () => {
    const { out } = await kron("explain", "home/lights", ...JOBS, "--at", "2026-03-01T18:00:00Z", "-o", "json");
    const record = JSON.parse(out);
    expect(Object.keys(record)).toEqual(RECORD_FIELDS);
    expect(record).toMatchObject({ attempts: 55, chosen_time: "2026-03-01T18:58:01Z", unschedulable: false });
  });

  test("around: the window of the coming nominal time has opened, so its period is current (S10)", async () => {
    const before = await kron("explain", "msgs/paris", ...JOBS, "--at", "2026-03-02T08:14:59Z", "-o", "json");
    const opened = await kron("explain", "msgs/paris", ...JOBS, "--at", "2026-03-02T08:15:00Z", "-o", "json");
    expect(JSON.parse(before.out)).toMatchObject({ period_id: "2026-03-01T09:00:00Z" });
    expect(JSON.parse(opened.out)).toMatchObject({ period_id: "2026-03-02T09:00:00Z" });
  });

  test("text: hash input, hash, state, draws and verdicts", async () => {
    const { out } = await kron("explain", "home/lights", ...JOBS, "--at", "2026-03-01T18:00:00Z");
    expect(out).toContain(String.raw`"home/lights\n2026-03-01T18:00:00Z\nlights"`);
    expect(out).toContain("d61bedd4e238549ebdb9d45993ea58904aa8042c4691967c720b0f2006416345");
    expect(out).toContain("0xd61bedd4e238549e");
    expect(out).toContain("rejected by only between=18:58-19:00");
    expect(out).toContain("43 more rejected");
    expect(out).toContain("Chosen: 2026-03-01T18:58:01Z");
  });

  test("an unschedulable period says so", async () => {
    const { out } = await kron("explain", "home/never", ...JOBS, "--at", "2026-03-01T18:00:00Z");
    expect(out).toContain("Unschedulable: no candidate accepted within 64 attempts");
  });
});

describe("kron verify", () => {
  test.each(["text", "journal", "json"] as const)("SPEC observability: reads logs in the form %s", async (format) => {
    const { out } = await kron("next", ...JOBS, "--count", "5", "--at", "2026-01-01T00:00:00Z", "-o", "jsonl");
    const lines: string[] = [];
    const sink = { write: (line: string) => lines.push(line) > 0 };
    const log = createLog({ format, sink, now: () => 0, hasPriorities: format === "json" });
    for (const decision of records(out)) {
      const fields = { identity: decision["identity"], reason: 'a " decision={" in words', decision };
      log.daemon({ at: 0, event: "trigger", component: "policy", level: "info", fields });
    }
    log.daemon({ at: 0, event: "ready", component: "scheduler", level: "info", fields: { jobs: 1 } });
    const verify = (input: string) => runCaptured(KRON, ["verify", "-"], { input });
    const count = records(out).length;
    const said = `${count} verified, 0 different, 1 other lines passed over\n`;
    expect(await verify(lines.join("\n"))).toEqual({ exitCode: 0, out: said, err: "" });
    const forged = lines.join("\n").replace('"attempts":1', '"attempts":2');
    expect(await verify(forged)).toMatchObject({ exitCode: 2, out: expect.stringContaining("1 different") });
  });

  test("what next and explain print verifies, as lines and as one document", async () => {
    const lines = await kron("next", "home/lights", ...JOBS, "--count", "20", "-o", "jsonl");
    const document = await kron("next", "home/lights", ...JOBS, "--count", "20", "-o", "json");
    const one = await kron("explain", "home/lights", ...JOBS, "-o", "json");
    const verify = (input: string) => runCaptured(KRON, ["verify", "-"], { input });
    expect(await verify(lines.out)).toEqual({ exitCode: 0, out: "20 verified, 0 different\n", err: "" });
    expect(await verify(document.out)).toEqual({ exitCode: 0, out: "20 verified, 0 different\n", err: "" });
    expect(await verify(one.out)).toEqual({ exitCode: 0, out: "1 verified, 0 different\n", err: "" });
  });

  test("log lines around the records are passed over, records inside log lines are found", async () => {
    const { out } = await kron("next", "prod/db-backup", ...JOBS, "--count", "1", "-o", "jsonl");
    const input = `${JSON.stringify({ event: "decision", decision: JSON.parse(out) })}\n{"event":"started"}\nplain text\n`;
    const verified = await runCaptured(KRON, ["verify", "-"], { input });
    expect(verified.out).toBe("1 verified, 0 different, 2 other lines passed over\n");
  });

  test.each([
    ["chosen_time", "02:32:20Z", "02:32:21Z"],
    ["seed_hash", "9c85657760a63b4d", "9c85657760a63b4e"],
    ["window_end", "T03:00:00Z", "T04:00:00Z"],
    ["attempts", '"attempts":1', '"attempts":2'],
  ])("a changed %s is named, and the exit code is 2", async (field, from, to) => {
    const { out } = await kron("next", "prod/db-backup", ...JOBS, "--count", "1", "-o", "jsonl");
    expect(out).toContain(from);
    const verified = await runCaptured(KRON, ["verify", "-"], { input: out.replace(from, to) });
    expect(verified.exitCode).toBe(2);
    expect(verified.out).toContain(`  ${field} is `);
    expect(verified.out).toContain("0 verified, 1 different");
  });

  test("-o jsonl gives a line for every record", async () => {
    const { out } = await kron("next", "prod/db-backup", ...JOBS, "--count", "2", "-o", "jsonl");
    const verified = await runCaptured(KRON, ["verify", "-", "-o", "jsonl"], { input: out });
    expect(records(verified.out).map((result) => [result["line"], result["ok"]])).toEqual([
      [1, true],
      [2, true],
    ]);
  });
});

describe("bad input: one line that says what is wrong, and the documented exit code", () => {
  test.each([
    [["next", "nobody", ...JOBS], 1, 'kron: no job "nobody"'],
    [["next", "db-backup", ...JOBS], 1, 'did you mean "prod/db-backup"?'],
    [["next", "prod/db-backup", ...JOBS, "--at", "someday"], 1, "kron: --at: "],
    [["next", "prod/db-backup", ...JOBS, "--at", "2026-02-30T00:00:00Z"], 1, "kron: --at: "],
    [["next", "prod/db-backup", ...JOBS, "--count", "0"], 1, 'kron: --count: "0" is not a whole number'],
    [["next", "prod/db-backup", ...JOBS, "--count", "1e3"], 1, 'kron: --count: "1e3" is not a whole number'],
    [["next", "a", "b", ...JOBS], 1, "kron: next takes at most one job"],
    [["next", "prod/db-backup", ...JOBS, "-o", "xml"], 1, 'kron: unknown output form "xml"'],
    [["next", "--bogus"], 1, "--bogus"],
    [["next", "prod/db-backup", "--config", "test/cli/files/missing.yaml"], 2, "missing.yaml"],
    [
      ["next", "prod/db-backup", "--config", "test/cli/files/broken.yaml"],
      2,
      "kron: 3 problems in test/cli/files/broken.yaml",
    ],
    [["explain", ...JOBS], 1, "kron: explain takes one job"],
    [["verify"], 1, "kron: verify takes files"],
    [["verify", "test/cli/files/missing.log"], 1, "kron: cannot read test/cli/files/missing.log"],
    [["verify", "test/cli/files/jobs.yaml"], 2, "kron: no decision record found"],
    [["frobnicate"], 1, 'kron: unknown command "frobnicate"'],
  ])("kron %j: exit %i", async (argv, exitCode, message) => {
    const result = await kron(...argv);
    expect(result.exitCode).toBe(exitCode);
    expect(result.err).toContain(message);
    expect(result.out).toBe("");
  });

  test("no configuration at all: says where it looked", async () => {
    const result = await runCaptured(KRON, ["next"], { env: { HOME: "/nonexistent" } });
    expect(result).toMatchObject({ exitCode: 1, err: expect.stringContaining("--config PATH") });
  });
});

describe("help", () => {
  test("every command explains itself and its options", async () => {
    for (const command of KRON.commands) {
      const { exitCode, out } = await kron(command.name, "--help");
      expect(exitCode).toBe(0);
      expect(out).toContain(`Usage: kron ${command.name}`);
      const ofVerbs = Object.keys(command.verbs?.specs ?? {}).map(
        async (verb) => (await kron(command.name, verb, "--help")).out,
      );
      const all = [out, ...(await Promise.all(ofVerbs))].join("\n");
      for (const option of command.options) expect(all).toContain(`--${option.name}`);
    }
  });

  test("the overview names every command; without a command it goes to standard error with exit 1", async () => {
    const help = await kron("--help");
    const nothing = await kron();
    expect(help).toMatchObject({ exitCode: 0, err: "" });
    expect(nothing).toEqual({ exitCode: 1, out: "", err: help.out });
    for (const command of KRON.commands) expect(help.out).toContain(command.summary);
  });
});
