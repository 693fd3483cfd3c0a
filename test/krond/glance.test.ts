/** Failures at a glance: what `kron list` and `kron history` tell of runs that ended badly, from daemons and stores. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, type CommandResult, krondProcesses, type RunningKrond, runProgram } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

type Row = Readonly<Record<string, unknown>>;

function listed(here: Place, ...args: string[]): Row[] {
  return JSON.parse(here.kron("list", ...args, "-o", "json").out) as Row[];
}

function verified(...files: string[]): CommandResult {
  return runProgram(programs().kron, ["verify", ...files]);
}

function names(rows: readonly Row[]): unknown[] {
  return rows.map(({ identity }) => identity);
}

async function ran(here: Place, krond: RunningKrond, identity: string): Promise<void> {
  const from = krond.lines.length;
  expect(here.kron("run", identity).status).toBe(0);
  await krond.event("completed", { identity }, from);
}

function endOf(row: Readonly<Record<string, unknown>>): string {
  return String((row["last_run"] as { readonly ended_at?: unknown } | null)?.ended_at);
}

const JOBS = [job("t/bad", "exit 7"), job("t/good", "true"), job("t/idle", "true"), job("t/killed", "kill -9 $$")];

describe("which jobs fail", () => {
  test("the last exit, --failed, --running and the orders, from the daemon and from the store", async () => {
    const here = place([...JOBS, job("t/slow", "sleep 300")].join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (const identity of ["t/bad", "t/bad", "t/good", "t/killed"]) await ran(here, krond, identity);
    here.kron("run", "t/slow");
    await krond.event("started", { identity: "t/slow" });
    expect(names(listed(here, "--running"))).toEqual(["t/slow"]);
    const shown = (): unknown[] => {
      const [bad] = listed(here, "--identity", "t/bad");
      const lines = here.kron("list").out.split("\n");
      const exits = lines.flatMap((line) => /^(t\/\S+) .* (?:-|\d+) +(\S+) +-$/.exec(line)?.slice(1).join(" ") ?? []);
      return [
        bad?.["failures"],
        bad?.["last_run"],
        names(listed(here, "--failed")),
        names(listed(here, "--sort", "failures")).slice(0, 2),
        names(listed(here, "--sort", "last", "-n", "3")).length,
        // The longest first; of t/bad the last run alone counts.
        names(listed(here, "--sort", "duration", "--search", "t/")).slice(0, 1),
        names(listed(here, "--sort", "lateness")).slice(3),
        names(listed(here, "--sort", "last", "--offset", "1", "-n", "1")).length,
        exits,
      ];
    };
    const live = shown();
    expect(live).toEqual([
      2,
      expect.objectContaining({ source: "manual", result: "failure", exit_code: 7, signal: null, reason: null }),
      ["t/bad", "t/killed"],
      ["t/bad", "t/killed"],
      3,
      ["t/bad"],
      ["t/idle", "t/slow"],
      1,
      ["t/bad 7", "t/good 0", "t/idle -", "t/killed SIGKILL", "t/slow -"],
    ]);
    // Times have whole seconds: whoever ran in the same one is in the order of names.
    const ends = listed(here, "--sort", "last", "-n", "3").map((row) => endOf(row));
    expect(ends).toEqual([...ends].sort().reverse());
    expect(ends[0]).toMatch(/^\d{4}-/);
    here.kron("cancel", "t/slow");
    await krond.event("completed", { identity: "t/slow" });
    await krond.kill("SIGTERM");
    expect(shown().slice(0, 2)).toEqual(live.slice(0, 2));
    expect(names(listed(here, "--failed"))).toEqual(["t/bad", "t/killed", "t/slow"]);
  });

  test("a part of the list says of how many it is one", async () => {
    const here = place(JOBS.join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const last = (...args: string[]): string | undefined =>
      here
        .kron("list", ...args)
        .out.trimEnd()
        .split("\n")
        .at(-1);
    const tails = (): unknown[] => [
      last("-n", "2"),
      last("--offset", "3"),
      last("--identity", "t/*d*", "-n", "1"),
      last("--offset", "9"),
      last("--sort", "next", "-n", "1"),
    ];
    const expected = ["1-2 of 4 jobs", "4-4 of 4 jobs", "1-1 of 4 jobs", "none of 4 jobs", "1-1 of 4 jobs"];
    expect(tails()).toEqual(expected);
    await krond.kill("SIGTERM");
    expect(tails()).toEqual(expected);
  });

  test("where the next run comes from, and which are due", async () => {
    const here = place([...JOBS, `  - { identity: t/often, every: 2h, command: [/bin/true] }\n`].join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("hint", "t/good", "--at", "30m");
    const sources = listed(here).map(({ identity, next_source }) => [identity, next_source]);
    expect(Object.fromEntries(sources)).toMatchObject({
      "t/bad": "cron",
      "t/good": "hint-oneshot",
      "t/often": "interval",
    });
    expect(here.kron("list").out).toMatch(/t\/good .*\(in \d+m\S*\) +hint-oneshot/);
    expect(names(listed(here, "--due", "1h"))).toEqual(["t/good"]);
    expect(names(listed(here, "--due"))).toEqual([]);
    expect(here.kron("list", "--local", "--tz", "Asia/Tokyo").out).toMatch(
      /NEXT \(LOCAL\)[\s\S]*\d\d:\d\d:\d\d \+09:00 \(in/,
    );
  });
});

describe("kron history over all jobs", () => {
  test("newest first, by outcome, by failure and since a moment; from the daemon and from the store", async () => {
    const here = place(JOBS.join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (const identity of ["t/bad", "t/good", "t/killed"]) await ran(here, krond, identity);
    here.kron("pause", "t/idle", "--until", "1h", "--reason", "x");
    const rows = (...args: string[]): unknown[] =>
      (JSON.parse(here.kron("history", ...args, "-o", "json").out) as Row[]).map(
        (row) => `${row["identity"] ?? ""} ${row["outcome"]}`,
      );
    const all = (): unknown[] => [
      rows("--outcome", "executed"),
      rows("--failed"),
      rows("--failed", "-n", "1"),
      rows("--outcome", "paused,resumed"),
      rows("--failed", "--since", "1h"),
      rows("--since", "2020-01-01", "--outcome", "executed", "-n", "2"),
      rows("t/bad", "--failed"),
      rows("t/good", "--failed"),
    ];
    const expected = [
      ["t/killed executed", "t/good executed", "t/bad executed"],
      ["t/killed executed", "t/bad executed"],
      ["t/killed executed"],
      ["t/idle paused"],
      ["t/killed executed", "t/bad executed"],
      ["t/killed executed", "t/good executed"],
      [" executed"],
      [],
    ];
    expect(all()).toEqual(expected);
    const text = here.kron("history", "--failed").out;
    expect(text).toMatch(/^JOB +PERIOD +OUTCOME +CHOSEN/);
    expect(text).toMatch(/t\/bad +\S+ \(manual\) +executed, exit 7 /);
    expect(text).toMatch(/t\/killed +\S+ \(manual\) +executed, SIGKILL /);
    expect(here.kron("history", "t/bad").out).toMatch(/executed, exit 7 /);
    await krond.kill("SIGTERM");
    expect(all()).toEqual(expected);
    expect(here.kron("history", "--outcome", "fine").err).toContain('--outcome: "fine" is not one of executed');
    expect(here.kron("history", "--follow").err).toContain("--follow needs a job");
  });
});

describe("documents that this version cannot use (F13)", () => {
  test("list, history, hint and export say so and exit with 3", async () => {
    const here = place(JOBS.join(""));
    const krond = startKrond(here.config, here.state, ["--store", "files"]);
    await krond.ready();
    await ran(here, krond, "t/bad");
    await krond.kill("SIGTERM");
    const file = fs
      .readdirSync(here.state)
      .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
      .map((name) => path.join(here.state, name))
      .find((name) => fs.readFileSync(name, "utf8").includes('"t/bad"'));
    const text = fs.readFileSync(file ?? "", "utf8");
    fs.writeFileSync(file ?? "", text.replace(/"Version": ?"1"/, '"Version":"2"'), { mode: 0o600 });
    const says = 'version "2" of the state document is not supported';
    const list = here.kron("list", "-o", "json");
    expect([list.status, list.err]).toEqual([3, expect.stringContaining(`t/bad: ${says}`)]);
    expect(names(JSON.parse(list.out) as Row[])).toEqual(["t/good", "t/idle", "t/killed"]);
    for (const command of [
      ["history", "t/bad"],
      ["hint", "t/bad"],
      ["why", "t/bad@2026-01-01T00:00:00Z"],
    ]) {
      const { status, err } = here.kron(...command);
      expect([command, status, err]).toEqual([command, 3, expect.stringContaining(says)]);
    }
    expect(here.kron("history", "t/good").status).toBe(0);
    const out = here.krond("state", "export", path.join(here.root, "copy"));
    expect([out.status, out.err]).toEqual([3, expect.stringContaining(says)]);
    expect(out.out).toContain("ledger records");
  });
});

describe("kron verify and what leaves the program (F11)", () => {
  test("the ledger of an export, several files, and the history of a job and of all", async () => {
    const jobs = Array.from({ length: 60 }, (_, index) => {
      return `  - { identity: t/${index}, schedule: "* * * * *", window: { mode: after, duration: 59s }, command: [/bin/false] }\n`;
    });
    const here = place(jobs.join(""));
    const krond = startKrond(here.config, here.state);
    const { identity } = await krond.event("completed", { exit_code: 1 });
    await krond.kill("SIGTERM");
    const [row] = listed(here, "--identity", String(identity));
    expect(row?.["last_period_run"]).toMatchObject({ result: "failure", exit_code: 1, source: null });
    expect(here.kron("list", "--identity", String(identity)).out).toContain("executed, exit 1 ");
    const copy = path.join(here.root, "copy");
    expect(here.krond("state", "export", copy).status).toBe(0);
    const ledger = fs.readdirSync(path.join(copy, "ledger")).map((name) => path.join(copy, "ledger", name));
    const one = ledger.find((name) => fs.readFileSync(name, "utf8").includes("seed_hash")) ?? "";
    expect(verified(one, ...ledger).out).toMatch(/^[1-9]\d* verified, 0 different/);
    const history = path.join(here.root, "history.jsonl");
    for (const args of [
      ["history", String(identity)],
      ["history", "--outcome", "executed"],
    ]) {
      fs.writeFileSync(history, here.kron(...args, "-o", "jsonl").out);
      expect(verified(history).out).toMatch(/^[1-9]\d* verified, 0 different/);
    }
    fs.writeFileSync(history, fs.readFileSync(history, "utf8").replace(/"seed_hash":"[0-9a-f]/, '"seed_hash":"x'));
    expect(verified(history).status).toBe(2);
  });
});
