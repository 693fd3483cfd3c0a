import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { bundleEntry } from "../support/bundle.js";
import { runCaptured } from "../support/cli.js";

const FROM = "2026-03-01T00:00:00Z";
const place = mkdtempSync(join(tmpdir(), "kron-simulate-"));
const files = {
  jobs: join(place, "jobs.yaml"),
  other: join(place, "other.yaml"),
  broken: join(place, "broken.yaml"),
  scenario: join(place, "scenario.yml"),
  wrong: join(place, "wrong.yml"),
};

writeFileSync(
  files.jobs,
  `jobs:
  - { identity: prod/backup, schedule: "*/10 * * * *", window: { duration: 5m }, command: [/bin/true] }
  - { identity: prod/ping, schedule: "* * * * *", http: { url: "https://example.org/", method: GET } }
`,
);
writeFileSync(files.other, `jobs:\n  - { identity: dev/new, schedule: "*/5 * * * *", command: [/bin/true] }\n`);
writeFileSync(files.broken, `jobs:\n  - { identity: x, schedule: "61 * * * *", command: [/bin/true] }\n`);
writeFileSync(
  files.scenario,
  `from: ${FROM}
horizon: 2h
seed: 5
runs:
  - { match: "*", duration: "lognormal(20s, 0.8)", fail: 20% }
events:
  - { after: 20m, do: crash, step: after-claim }
  - { after: 40m, do: down, for: 5m }
  - { after: 1h, do: reload, config: other.yaml }
  - { after: 1h30m, do: jump, by: -10m }
expect: [duplicates=0, "peak<=10"]
`,
);
writeFileSync(files.wrong, `from: ${FROM}\nevents:\n  - { after: 1h, do: explode }\n`);

function simulateIn(argv: readonly string[]) {
  return runCaptured(KRON, ["simulate", ...argv]);
}

let program: Awaited<ReturnType<typeof bundleEntry>>;
const started = new Set<ChildProcess>();

beforeAll(async () => {
  program = await bundleEntry("src/cli/kron.ts");
});

afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  program.remove();
  rmSync(place, { recursive: true, force: true });
});

function kron(argv: readonly string[], env: Record<string, string> = {}, cwd = process.cwd()) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program.file, "simulate", ...argv], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}

describe("kron simulate, as a process", () => {
  test.each([["text"], ["json"], ["jsonl"]])(
    "the same bytes in any time zone, language and directory: -o %s",
    (form) => {
      const argv = [files.jobs, "--scenario", files.scenario, "--timeline", "-o", form];
      const reference = kron(argv, { TZ: "UTC", LANG: "C" });
      expect(reference).toMatchObject({ status: 0, stderr: "" });
      expect(reference.stdout.length).toBeGreaterThan(5_000);
      expect(kron(argv, { TZ: "Asia/Kathmandu", LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8" })).toEqual(reference);
      expect(kron(argv, { TZ: "America/St_Johns", COLUMNS: "20", TERM: "xterm-256color" }, place)).toEqual(reference);
    },
  );

  test("another seed is another story", () => {
    const argv = [files.jobs, "--scenario", files.scenario];
    expect(kron([...argv, "--seed", "6"]).stdout).not.toBe(kron(argv).stdout);
  });

  test("--expect: exit 2 when a rule is broken, 0 when all hold", () => {
    const argv = [files.jobs, "--from", FROM, "--horizon", "1h"];
    expect(kron([...argv, "--expect", "missed=0", "--expect", "executed=66"])).toMatchObject({ status: 0, stderr: "" });
    const broken = kron([...argv, "--expect", "peak<1", "--expect", "max_lateness<=5s"]);
    expect(broken.status).toBe(2);
    expect(broken.stdout).toContain("expect    peak<1: broken (1)\nexpect    max_lateness<=5s: holds (0s)\n");
  });

  test("Ctrl-C: what there is so far, and exit code 1", async () => {
    const argv = [files.jobs, "--from", FROM, "--horizon", "3650d", "--timeline"];
    const child = spawn(process.execPath, [program.file, "simulate", ...argv], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.add(child);
    let out = "";
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (out.length < 20_000 && out.length + text.length >= 20_000) child.kill("SIGINT");
      out += text;
    });
    const closed = new Promise((resolve) => child.stdout.once("close", resolve));
    expect(await ended).toBe(1);
    await closed;
    expect(out).toContain("\ninterrupted after ");
    expect(out).toContain("nothing ran twice, every period is accounted for");
  });
});

describe("what is printed", () => {
  const QUIET = [files.jobs, "--from", FROM, "--horizon", "30m"];

  test("text: a table of jobs, and the sums", async () => {
    const { exitCode, out } = await simulateIn(QUIET);
    expect(exitCode).toBe(0);
    expect(out).toBe(`30m from ${FROM} to 2026-03-01T00:30:00Z, 2 jobs, seed 0

JOB          PERIODS  EXECUTED  SKIPPED  MISSED  UNSCHED  NOT EVAL  OTHER  FAILED  PEAK  LATEST
prod/backup        3         3        0       0        0         0      0       0     1      0s
prod/ping         30        30        0       0        0         0      0       0     1      0s

periods   33: 33 executed
runs      33 started
exits     0 ×3, HTTP 200 ×30
lateness  half within 0s, 99% within 0s, most 0s
peaks     1 run at once at 2026-03-01T00:00:00Z, 1 start in one second at 2026-03-01T00:00:00Z
check     nothing ran twice, every period is accounted for
`);
  });

  test("json: figures, expectations, jobs, and the timeline when it is asked for", async () => {
    const { out } = await simulateIn([...QUIET, "-o", "json", "--timeline", "--expect", "started=33"]);
    const value = JSON.parse(out);
    expect(value).toMatchObject({
      seed: "0",
      from: FROM,
      figures: { periods: 33, executed: 33, duplicates: 0 },
      expectations: [{ rule: "started=33", actual: 33, holds: true }],
      jobs: [{ identity: "prod/backup", exits: { "0": 3 } }, { identity: "prod/ping" }],
    });
    expect(value.timeline[0]).toEqual({
      at: FROM,
      event: "daemon_started",
      identity: null,
      period_id: null,
      fields: {},
    });
  });

  test("jsonl: every record of the ledger, as the daemon would have written it", async () => {
    const { out } = await simulateIn([...QUIET, "-o", "jsonl"]);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const periods = lines.filter(({ type, kind }) => type === "ledger" && kind === "period");
    expect(periods).toHaveLength(33);
    expect(periods[0]).toMatchObject({ outcome: "executed", decision: { engine_version: expect.any(String) } });
    expect(lines.at(-1)).toMatchObject({ type: "summary", figures: { executed: 33 } });
    const verified = await runCaptured(KRON, ["verify", "-"], { input: out });
    expect(verified).toMatchObject({ exitCode: 0, out: expect.stringContaining("33 verified, 0 different") });
  });

  test("flags say the same as a scenario", async () => {
    const flags = [
      ...[files.jobs, "--from", FROM, "--horizon", "2h", "--seed", "5"],
      ...["--duration", "lognormal(20s, 0.8)", "--fail", "*=20%", "--crash", "+20m,5s,after-claim"],
      ...["--down", "+40m,5m", "--reload", `+1h,${files.other}`, "--jump", "2026-03-01T01:30:00Z,-10m"],
      ...["--expect", "duplicates=0", "--expect", "peak<=10"],
    ];
    expect(await simulateIn(flags)).toEqual(await simulateIn([files.jobs, "--scenario", files.scenario]));
  });
});

describe("what is refused, with a reason", () => {
  const rows: readonly (readonly [name: string, argv: readonly string[], exitCode: number, err: string])[] = [
    ["a broken scenario", ["--scenario", files.wrong], 2, `wrong.yml:3:22: error: events[0].do: expected one of crash`],
    ["a scenario that is not there", ["--scenario", join(place, "none.yml")], 2, "none.yml: there is no such file"],
    ["an unknown flag", ["--explode", "now"], 1, "--explode"],
    ["a figure that nobody knows", ["--expect", "mised=0"], 1, '--expect: unknown figure "mised"'],
    ["a horizon that is none", ["--horizon", "soon"], 1, "--horizon: not a duration"],
    ["an end before the beginning", ["--to", "2026-02-01T00:00:00Z"], 1, "not after its beginning"],
    ["two ends", ["--to", "2026-04-01T00:00:00Z", "--horizon", "1d"], 1, "--to and --horizon"],
    ["a crash beyond the end", ["--horizon", "1h", "--crash", "+2h"], 2, "crash at +2h lies outside"],
    ["a crash at no step", ["--crash", "+1h,5s,between"], 1, "--crash: expected one of before-claim"],
    ["too little", ["--down", "+1h"], 1, "--down: write T,FOR"],
    ["too much", ["--launcher-death", "+1h,5s"], 1, "--launcher-death: write T"],
    ["a share above all", ["--fail", "*=120%"], 1, "--fail: not a share"],
    ["no exit code", ["--exit", "*=none"], 1, "--exit: expected a number"],
    ["an unknown reason", ["--refuse", "*=gone"], 1, "--refuse: expected one of command-not-found"],
    ["no law", ["--duration", "*=gamma(2)"], 1, "--duration: not a duration"],
    ["a seed that is none", ["--seed", "x"], 1, '--seed: "x" is not a whole number'],
    [
      "another configuration that is broken",
      ["--reload", `+1h,${files.broken}`],
      2,
      "minute field: 61 is out of range",
    ],
  ];
  test.each(rows)("%s", async (_, argv, exitCode, err) => {
    const result = await simulateIn([files.jobs, "--from", FROM, ...argv]);
    expect(result).toMatchObject({ exitCode, out: "" });
    expect(result.err).toContain(err);
  });
});
