import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, jobsOf, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);

describe("what runs outlives the daemon", () => {
  test("S29: SIGKILL of the daemon during a run: it goes on, is adopted, and its exit code is null", async () => {
    const mayEnd = path.join(temporary(), "may-end");
    const here = place(job("t/long", `echo begin; until [ -e ${mayEnd} ]; do sleep 0.1; done; echo end`));
    const first = startKrond(here.config, here.state);
    await first.ready();
    here.kron("run", "t/long");
    const { pid } = await first.event("started", { identity: "t/long" });
    await first.kill();
    const second = startKrond(here.config, here.state);
    await second.event("adopted", { identity: "t/long", pid, outcome: "watching" });
    fs.writeFileSync(mayEnd, "");
    await second.event("completed", { identity: "t/long", pid, exit_code: null });
    expect(here.kron("logs", "t/long").out).toBe("begin\nend\n");
    const [row] = JSON.parse(here.kron("history", "t/long", "-o", "json").out) as unknown[];
    expect(row).toMatchObject({ outcome: "executed", exit_code: null, signal: null, reason: "exit_unseen" });
  });

  test("S29: SIGTERM leaves what runs alone; the next daemon adopts it", async () => {
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

  test("krond stop --graceful waits for what runs", async () => {
    const here = place(job("t/short", "sleep 2; echo done"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/short");
    expect(here.krond("stop", "--graceful").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(krond.lines.find(({ event }) => event === "completed")).toMatchObject({ exit_code: 0 });
  });

  test("a graceful stop still ends a run at its timeout", async () => {
    const here = place(job("t/hangs", "sleep 600", ', timeout: "2s"'));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/hangs");
    expect(here.krond("stop", "--graceful").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(krond.lines.find(({ event }) => event === "completed")).toMatchObject({ reason: "timeout" });
  });

  test("a second signal stops at once", async () => {
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
