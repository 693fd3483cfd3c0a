import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, childrenOf, krondProcesses, runProgram } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("R15: trouble from outside", () => {
  test("launchers that are killed are replaced; what runs goes on and is seen to end, and new runs start", async () => {
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

  test("a storm of SIGHUP is a few reloads, and SIGSTOP and SIGCONT in between end nothing", async () => {
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

  test("signals that come while the daemon starts do not end it in the system's own way", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.handling("SIGHUP");
    krond.child.kill("SIGHUP");
    await krond.ready();
    await krond.event("config_reloaded");
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  test("ERROR-MODEL: a state write that fails is fatal: it is logged at level error, and the exit code is 5", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--store", "files"]);
    await krond.ready();
    // By then it has looked through what it keeps: the write is to be what fails.
    expect(here.krond("status").status).toBe(0);
    fs.renameSync(here.state, `${here.state}.gone`);
    const socket = path.join(`${here.state}.gone`, "krond.sock");
    expect(fs.existsSync(socket)).toBe(true);
    const pause = ["pause", "t/a", "--until", "1h", "--reason", "x", "--state", `${here.state}.gone`];
    expect(runProgram(programs().kron, pause).status).toBe(5);
    expect(await krond.event("fatal")).toMatchObject({ level: "error", error_type: "PersistenceError" });
    expect(await krond.ended).toBe(5);
  });
});
