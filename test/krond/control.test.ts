import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, jobsOf, krondProcesses, runProgram } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("control commands", () => {
  test("S40: a manual run is recorded as one and leaves the schedule alone", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const run = JSON.parse(here.kron("run", "t/a", "-o", "json").out) as { slot: string };
    await krond.event("completed", { identity: "t/a", source: "manual" });
    const [status] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(status).toMatchObject({ last_period_id: null, last_outcome: null, active: [] });
    const [row] = JSON.parse(here.kron("history", "t/a", "-o", "json").out) as Record<string, unknown>[];
    expect(row).toMatchObject({ period_id: run.slot, source: "manual" });
  });

  test("a run that is over at once is no failed start", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const statuses = Array.from({ length: 10 }, () => here.kron("run", "t/a").status);
    expect(statuses).toEqual(Array(10).fill(0));
  });

  test("S17: pause and resume, and why knows of them", async () => {
    const here = place(`  - { identity: t/m, schedule: "* * * * *", command: [/bin/true] }\n`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    expect(here.kron("pause", "t/m", "--until", "2h", "--reason", "an upgrade").status).toBe(0);
    const [paused] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(paused).toMatchObject({ standing: "paused", pause_reason: "an upgrade" });
    // What passes in the pause does not run afterwards: the next one is the first behind it.
    const MINUTE = 60_000;
    const within = new Date((Math.floor(Date.now() / MINUTE) + 60) * MINUTE).toISOString().replace(".000Z", "Z");
    expect(String(paused?.["next_period_id"]) > within).toBe(true);
    expect(here.kron("why", `t/m@${within}`).out).toContain("paused until");
    expect(here.kron("why", "t/m").out).toMatch(/paused .*until \S+.*an upgrade/);
    expect(here.kron("resume", "t/m").status).toBe(0);
    const [resumed] = JSON.parse(here.kron("list", "-o", "json").out) as Record<string, unknown>[];
    expect(resumed).toMatchObject({ standing: "enabled" });
    expect(here.kron("pause", "t/m", "--until", "2001-01-01T00:00:00Z", "--reason", "x").status).toBe(1);
  });

  test("S28: cancel ends the whole tree of a run", async () => {
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

  test.each([
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

  test("list, why, history and logs work on the store while no daemon runs; run does not", async () => {
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

  test("kron verify recomputes every decision of the daemon's own log", async () => {
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
