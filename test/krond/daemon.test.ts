import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  builtPrograms,
  type CommandResult,
  childrenOf,
  jobsOf,
  krondProcesses,
  MARK,
  runProgram,
} from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();

interface Place {
  readonly state: string;
  readonly config: string;
  write(text: string): void;
  kron(...args: string[]): CommandResult;
  krond(...args: string[]): CommandResult;
}

/** A directory with a configuration whose jobs can be told from all other processes. */
function place(text: string): Place {
  const root = temporary();
  fs.chmodSync(root, 0o700);
  const [state, config] = [path.join(root, "state"), path.join(root, "jobs.yaml")];
  const write = (jobs: string): void =>
    fs.writeFileSync(config, `defaults:\n  env: { ${MARK}: "${state}" }\njobs:\n${jobs}`, { mode: 0o644 });
  write(text);
  return {
    state,
    config,
    write,
    kron: (...args) => runProgram(programs().kron, [...args, "--state", state]),
    krond: (...args) => runProgram(programs().krond, [...args, "--state", state]),
  };
}

const ROUNDS = 5;
const NEVER = "0 0 1 1 *";
const job = (identity: string, command: string, more = ""): string =>
  `  - { identity: ${identity}, schedule: "${NEVER}", shell: true, command: '${command}'${more} }\n`;

async function existing(file: string): Promise<void> {
  while (!fs.existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
}

describe("krond start", () => {
  it("R15: a run is started, recorded and shown; SIGTERM ends the daemon with 0", async () => {
    const here = place(job("t/hello", "echo hello from $KRON_IDENTITY"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    expect(here.kron("run", "t/hello").status).toBe(0);
    await krond.event("completed", { identity: "t/hello", exit_code: 0 });
    expect(here.kron("logs", "t/hello").out).toBe("hello from t/hello\n");
    const history = JSON.parse(here.kron("history", "t/hello", "-o", "json").out) as { source: string | null }[];
    expect(history[0]).toMatchObject({ source: "manual", outcome: "executed", exit_code: 0 });
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.map(({ event }) => event).slice(-2)).toEqual(["draining", "stopped"]);
  });

  it("S33: a second daemon on the same state directory exits with 4", async () => {
    const here = place(job("t/one", "true"));
    await startKrond(here.config, here.state).ready();
    const second = startKrond(here.config, here.state);
    expect(await second.ended).toBe(4);
    expect(second.stderr).toContain("another process holds");
  });

  it("R9: of daemons that start at once one runs and all others exit with 4; SIGKILL of the holder frees the lock", async () => {
    const here = place(job("t/one", "true"));
    const link = path.join(path.dirname(here.state), "link");
    fs.mkdirSync(here.state, { mode: 0o700 });
    fs.symlinkSync(path.dirname(here.state), link);
    let heldTwice = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const paths = [here.state, `${here.state}/`, path.join(link, "state")];
      const all = paths.map((state) => startKrond(here.config, state));
      const ends = all.map((krond) => krond.ended.then((status) => ({ krond, status })));
      const losers = [await Promise.race(ends)];
      const rest = ends.filter((_, index) => all[index] !== losers[0]?.krond);
      losers.push(await Promise.race(rest));
      expect(losers.map(({ status }) => status)).toEqual([4, 4]);
      const winner = all.find((krond) => losers.every((loser) => loser.krond !== krond));
      await winner?.ready();
      heldTwice += losers.filter(({ krond }) => krond.lines.some(({ event }) => event === "ready")).length;
      await winner?.kill();
    }
    console.log(
      `R9: ${ROUNDS} rounds of 3 simultaneous starts by path, by path with a slash and by link: ${heldTwice} double holders`,
    );
    expect(heldTwice).toBe(0);
  });

  it("metrics, health and readiness are served where --metrics says", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "0"]);
    const { metrics } = await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    const text = await (await fetch(`http://${String(metrics)}/metrics`)).text();
    expect(text).toContain('kron_runs_total{result="success"} 1');
    expect((await fetch(`http://${String(metrics)}/readyz`)).status).toBe(200);
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  it("an address that is taken refuses the start with 5 and leaves nothing behind", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "192.0.2.1:9"]);
    expect(await krond.ended).toBe(5);
    expect(krond.stderr).toContain("cannot listen");
    expect(fs.existsSync(path.join(here.state, "krond.sock"))).toBe(false);
  });

  it("S35: an invalid configuration exits with 2, names every problem with its place, and leaves no state", async () => {
    const here = place(
      `  - { identity: t/a, schedule: "61 * * * *", command: [x] }\n  - { identity: t/b, schedule: "* * * * *" }\n`,
    );
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("jobs.yaml:4:");
    expect(krond.stderr).toContain("jobs.yaml:5:");
    expect(krond.stderr).toMatch(/\d problems/);
    expect(fs.existsSync(here.state)).toBe(false);
  });

  it("an http target is refused with the words that say so", async () => {
    const here = place(`  - { identity: t/h, schedule: "* * * * *", http: { url: "https://example.org/" } }\n`);
    fs.writeFileSync(here.config, fs.readFileSync(here.config, "utf8").replace(/^defaults:\n.*\n/m, ""));
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("http targets are not available yet");
  });

  it("S31: a state directory that is open to others exits with 3", async () => {
    const here = place(job("t/a", "true"));
    fs.mkdirSync(here.state, { mode: 0o755 });
    fs.chmodSync(here.state, 0o755);
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(3);
    expect(krond.stderr).toContain("it must be 0700");
  });

  it("a configuration that strangers may write exits with 2", async () => {
    const here = place(job("t/a", "true"));
    fs.chmodSync(here.config, 0o666);
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("may be written by others");
  });

  it("S31: the socket is its owner's alone, in a directory that is too, and is gone after the stop", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const socket = path.join(here.state, "krond.sock");
    expect(fs.statSync(here.state).mode & 0o7777).toBe(0o700);
    expect(fs.statSync(socket).mode & 0o7777).toBe(0o600);
    expect(here.krond("stop").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(fs.existsSync(socket)).toBe(false);
  });

  it("a socket that a killed daemon left behind does not hinder the next one", async () => {
    const here = place(job("t/a", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill();
    expect(here.krond("status").status).toBe(1);
    await startKrond(here.config, here.state).ready();
    expect(here.krond("status").status).toBe(0);
  });
});

describe("reload", () => {
  it("S16, S35: SIGHUP takes what is valid; an invalid job keeps its definition and is reported", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "false").replace(NEVER, "61 * * * *") + job("t/c", "true"));
    krond.child.kill("SIGHUP");
    await krond.event("config_reloaded", { added: 1, removed: 1, changed: 0, unchanged: 1 });
    await krond.event("error", { identity: "t/a", operation: "reload", error_type: "ValidationError" });
    const jobs = JSON.parse(here.kron("list", "-o", "json").out) as { identity: string; schedule: string }[];
    expect(jobs.map(({ identity, schedule }) => [identity, schedule])).toEqual([
      ["t/a", NEVER],
      ["t/c", NEVER],
    ]);
  });

  it("S35: a file that cannot be read at all takes nothing away", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    fs.writeFileSync(here.config, "jobs: [\n");
    expect(here.krond("reload").status).toBe(2);
    expect(JSON.parse(here.kron("list", "-o", "json").out)).toHaveLength(1);
  });

  it("S16: kron plan tells what krond reload then does", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "echo changed") + job("t/c", "true"));
    const plan = here.kron("plan", "-o", "json");
    expect(plan.status).toBe(0);
    const expected = { added: ["t/c"], removed: ["t/b"], unchanged: 0, kept: [], problems: [] };
    expect(JSON.parse(plan.out)).toMatchObject(expected);
    expect(JSON.parse(plan.out).changed).toMatchObject([{ identity: "t/a", fields: ["command"] }]);
    expect(JSON.parse(here.krond("reload", "-o", "json").out)).toMatchObject(expected);
    expect(JSON.parse(here.kron("plan", "-o", "json").out)).toMatchObject({ added: [], removed: [], unchanged: 2 });
  });
});

describe("what changed while no daemon ran", () => {
  it("S16: a job that is gone at the start counts as removed, keeps its state, and can come back", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    here.write(job("t/a", "true"));
    const second = startKrond(here.config, here.state);
    await second.event("removed", { identity: "t/b" });
    await second.ready();
    expect(here.kron("run", "t/b").status).toBe(1);
    expect(here.kron("list", "-o", "jsonl").out).not.toContain("t/b");
    await second.kill("SIGTERM");
    expect(here.kron("list", "-o", "jsonl").out).not.toContain("t/b");
    here.write(job("t/a", "true") + job("t/b", "true"));
    const third = startKrond(here.config, here.state);
    await third.ready();
    expect(here.kron("run", "t/b").status).toBe(0);
    await third.event("completed", { identity: "t/b", exit_code: 0 });
  });

  it("S16: the same over a reload", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "true"));
    expect(here.krond("reload").status).toBe(0);
    expect(here.kron("run", "t/b").status).toBe(1);
    here.write(job("t/a", "true") + job("t/b", "true"));
    expect(here.krond("reload").status).toBe(0);
    expect(here.kron("run", "t/b").status).toBe(0);
  });
});

describe("R15: trouble from outside", () => {
  it("launchers that are killed are replaced; what runs goes on and is seen to end, and new runs start", async () => {
    const here = place(job("t/long", "sleep 4") + job("t/short", "echo back"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/long");
    await krond.event("started", { identity: "t/long" });
    const launchers = childrenOf(krond.pid);
    expect(launchers.length).toBeGreaterThan(0);
    for (const pid of launchers) process.kill(pid, "SIGKILL");
    await krond.event("error", { error_code: "launcher-died" });
    expect(here.kron("run", "t/short").status).toBe(0);
    await krond.event("completed", { identity: "t/short", exit_code: 0 });
    await krond.event("completed", { identity: "t/long" });
    expect(krond.lines.filter(({ event, identity }) => event === "started" && identity === "t/long")).toHaveLength(1);
  });

  it("a storm of SIGHUP is a few reloads, and SIGSTOP and SIGCONT in between end nothing", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (let count = 0; count < 200; count += 1) krond.child.kill("SIGHUP");
    krond.child.kill("SIGSTOP");
    for (let count = 0; count < 200; count += 1) krond.child.kill("SIGHUP");
    krond.child.kill("SIGCONT");
    await krond.event("config_reloaded");
    expect(here.kron("run", "t/a").status).toBe(0);
    await krond.event("completed", { identity: "t/a", exit_code: 0 });
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
  });

  it("signals that come while the daemon starts do not end it in the system's own way", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    // From here on the handlers are there; the launchers are started afterwards.
    await existing(here.state);
    krond.child.kill("SIGHUP");
    await krond.ready();
    await krond.event("config_reloaded");
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  it("ERROR-MODEL: a state write that fails is fatal: it is logged at level error, and the exit code is 5", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--store", "files"]);
    await krond.ready();
    fs.renameSync(here.state, `${here.state}.gone`);
    const socket = path.join(`${here.state}.gone`, "krond.sock");
    expect(fs.existsSync(socket)).toBe(true);
    const pause = ["pause", "t/a", "--until", "1h", "--reason", "x", "--state", `${here.state}.gone`];
    expect(runProgram(programs().kron, pause).status).toBe(5);
    expect(await krond.event("fatal")).toMatchObject({ level: "error", error_type: "PersistenceError" });
    expect(await krond.ended).toBe(5);
  });
});

describe("what runs outlives the daemon", () => {
  it("S29: SIGKILL of the daemon during a run: it goes on, is adopted, and its exit code is null", async () => {
    const here = place(job("t/long", "echo begin; sleep 3; echo end"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    here.kron("run", "t/long");
    const { pid } = await first.event("started", { identity: "t/long" });
    await first.kill();
    const second = startKrond(here.config, here.state);
    await second.event("adopted", { identity: "t/long", pid, outcome: "watching" });
    await second.event("completed", { identity: "t/long", pid, exit_code: null });
    expect(here.kron("logs", "t/long").out).toBe("begin\nend\n");
    const [row] = JSON.parse(here.kron("history", "t/long", "-o", "json").out) as unknown[];
    expect(row).toMatchObject({ outcome: "executed", exit_code: null, signal: null, reason: "exit_unseen" });
  });

  it("S29: SIGTERM leaves what runs alone; the next daemon adopts it", async () => {
    const here = place(job("t/long", "sleep 60"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    here.kron("run", "t/long");
    await first.event("started", { identity: "t/long" });
    expect(await first.kill("SIGTERM")).toBe(0);
    expect(jobsOf(here.state).length).toBeGreaterThan(0);
    const second = startKrond(here.config, here.state);
    await second.event("adopted", { identity: "t/long", outcome: "watching" });
    expect(here.kron("cancel", "t/long").status).toBe(0);
    await second.event("completed", { identity: "t/long" });
  });

  it("krond stop --graceful waits for what runs", async () => {
    const here = place(job("t/short", "sleep 2; echo done"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/short");
    expect(here.krond("stop", "--graceful").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(krond.lines.find(({ event }) => event === "completed")).toMatchObject({ exit_code: 0 });
  });

  it("a graceful stop still ends a run at its timeout", async () => {
    const here = place(job("t/hangs", "sleep 600", ', timeout: "2s"'));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/hangs");
    expect(here.krond("stop", "--graceful").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(krond.lines.find(({ event }) => event === "completed")).toMatchObject({ reason: "timeout" });
  });

  it("a second signal stops at once", async () => {
    const here = place(job("t/long", "sleep 60"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/long");
    krond.child.kill("SIGHUP");
    await krond.event("config_reloaded");
    krond.child.kill("SIGTERM");
    krond.child.kill("SIGTERM");
    expect(await krond.ended).toBe(0);
  });
});

describe("control commands", () => {
  it("S40: a manual run is recorded as one and leaves the schedule alone", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const run = JSON.parse(here.kron("run", "t/a", "-o", "json").out) as { slot: string };
    await krond.event("completed", { identity: "t/a", source: "manual" });
    const [status] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(status).toMatchObject({ lastPeriodId: null, lastOutcome: null, active: [] });
    const [row] = JSON.parse(here.kron("history", "t/a", "-o", "json").out) as Record<string, unknown>[];
    expect(row).toMatchObject({ period_id: run.slot, source: "manual" });
  });

  it("a run that is over at once is no failed start", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const statuses = Array.from({ length: 10 }, () => here.kron("run", "t/a").status);
    expect(statuses).toEqual(Array(10).fill(0));
  });

  it("S17: pause and resume, and why knows of them", async () => {
    const here = place(`  - { identity: t/m, schedule: "* * * * *", command: [/bin/true] }\n`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    expect(here.kron("pause", "t/m", "--until", "2h", "--reason", "an upgrade").status).toBe(0);
    const [paused] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(paused).toMatchObject({ standing: "paused", pauseReason: "an upgrade" });
    const next = String(paused?.["nextPeriodId"]);
    expect(here.kron("why", `t/m@${next}`).out).toContain("paused until");
    expect(here.kron("resume", "t/m").status).toBe(0);
    const [resumed] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(resumed).toMatchObject({ standing: "enabled" });
    expect(here.kron("pause", "t/m", "--until", "2001-01-01T00:00:00Z", "--reason", "x").status).toBe(1);
  });

  it("S28: cancel ends the whole tree of a run", async () => {
    const here = place(job("t/tree", "sleep 300 & setsid sleep 300 & wait"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/tree");
    await krond.event("started", { identity: "t/tree" });
    expect(here.kron("cancel", "t/tree", "-o", "json").out).toContain('"ended": 1');
    await krond.event("completed", { identity: "t/tree", reason: "cancelled" });
    expect(here.kron("cancel", "t/tree@2026-01-01T00:00:00Z", "-o", "json").out).toContain('"ended": 0');
    expect(jobsOf(here.state)).toEqual([]);
  });

  it.each([
    ["run", "t/none"],
    ["cancel", "t/none"],
    ["resume", "t/none"],
    ["history", "t/none"],
    ["why", "t/none@2026-01-01T00:00:00Z"],
    ["logs", "t/none"],
  ])("%s of a job that is not there exits with 1", async (verb, what) => {
    const here = place(job("t/a", "true"));
    await startKrond(here.config, here.state).ready();
    expect(here.kron(verb, what).status).toBe(1);
  });

  it("list, why, history and logs work on the store while no daemon runs; run does not", async () => {
    const here = place(job("t/a", "echo kept"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    await krond.kill("SIGTERM");
    expect(here.kron("list").out).toContain("t/a");
    expect(here.kron("history", "t/a").out).toContain("(manual)");
    expect(here.kron("logs", "t/a").out).toBe("kept\n");
    expect(here.kron("why", "t/a@2020-01-01T00:00:00Z").out).toContain("before the definition");
    expect(here.kron("run", "t/a").status).toBe(1);
    expect(here.kron("list").status).toBe(0);
  });

  it("kron verify recomputes every decision of the daemon's own log", async () => {
    // So many that one of them is due every second.
    const jobs = Array.from({ length: 60 }, (_, index) => {
      return `  - { identity: t/${index}, schedule: "* * * * *", window: { mode: after, duration: 59s }, command: [/bin/true] }\n`;
    });
    const here = place(jobs.join(""));
    const krond = startKrond(here.config, here.state, ["--store", "files"]);
    await krond.line((line) => line["decision"] != null);
    await krond.kill("SIGTERM");
    const log = path.join(path.dirname(here.state), "krond.log");
    fs.writeFileSync(log, krond.lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const verified = runProgram(programs().kron, ["verify", log]);
    expect(verified.out).toMatch(/^[1-9]\d* verified, 0 different/);
  });
});

describe("krond state", () => {
  it("S30: export and import carry everything over, from one backend to the other", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    await krond.kill("SIGTERM");
    const [copy, other] = [path.join(here.state, "../copy"), path.join(here.state, "../other")];
    expect(here.krond("state", "export", copy).status).toBe(0);
    const into = ["state", "import", copy, "--store", "files", "--state", other];
    expect(runProgram(programs().krond, into).status).toBe(0);
    const [one, two] = [here.state, other].map((state) =>
      runProgram(programs().kron, ["history", "t/a", "-o", "json", "--state", state]),
    );
    expect(two?.out).toBe(one?.out);
    expect(runProgram(programs().krond, ["state", "check", "--state", other]).status).toBe(0);
  });

  it("S32: a store that is gone is refused with 3, until recover --fence", async () => {
    const here = place(job("t/a", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    fs.rmSync(path.join(here.state, "kron.mdb"));
    const second = startKrond(here.config, here.state);
    expect(await second.ended).toBe(3);
    expect(here.krond("state", "recover", "--fence", "--config", here.config).status).toBe(0);
    await startKrond(here.config, here.state).ready();
    expect(here.kron("list", "-o", "json").out).toContain("state_recovered");
  });
});
