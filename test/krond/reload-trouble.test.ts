/** S16, S35: a reload that cannot be carried out changes nothing, and ends nothing. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { AS_NORMAL_USER, faultPlaces, giveAway } from "../faults/place.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

/** Enough text for threads to pay. */
const MANY = Array.from({ length: 1_200 }, (_, index) => job(`t/new-${index}`, "true")).join("");

let heal: (() => void) | null = null;
afterEach(() => heal?.());

/** From here on every worker thread ends in its first breath, as when its file is replaced by another version's. */
function poisonWorkers(): () => void {
  const file = path.join(path.dirname(programs().krond), "decision-worker.js");
  const sound = fs.readFileSync(file);
  fs.writeFileSync(file, "process.exit(7);\n");
  heal = () => {
    heal = null;
    fs.writeFileSync(file, sound);
  };
  return heal;
}

function threadsOf(pid: number): number {
  return fs.readdirSync(`/proc/${pid}/task`).length;
}

describe("a reload whose worker threads die", () => {
  test("S16, S35: is told as an error; the daemon goes on with the jobs it had, and the next reload is carried out", async () => {
    const here = place(job("t/old", "echo still here"));
    const krond = startKrond(here.config, here.state, ["--metrics", "0"]);
    const { metrics } = await krond.ready();
    const isReady = async (): Promise<number> => (await fetch(`http://${String(metrics)}/readyz`)).status;
    const cure = poisonWorkers();
    here.write(MANY);
    krond.child.kill("SIGHUP");
    const told = await krond.event("error", { error_code: "worker-died" });
    expect(told).toMatchObject({ level: "error", error_type: "SystemError", fatal: false });
    expect(String(told["hint"])).toContain("the configuration in force stays");
    const asked = here.krond("reload");
    expect([asked.status, asked.err]).toEqual([5, expect.stringContaining("worker ended each time")]);
    const jobs = JSON.parse(here.kron("list", "-o", "json").out) as { identity: string }[];
    expect(jobs.map(({ identity }) => identity)).toEqual(["t/old"]);
    expect(await isReady()).toBe(503);
    expect(here.kron("run", "t/old").status).toBe(0);
    await krond.event("completed", { identity: "t/old", exit_code: 0 });
    cure();
    expect(here.krond("reload").status).toBe(0);
    await krond.event("config_reloaded", { added: 1_200, removed: 1 });
    expect(await isReady()).toBe(200);
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
  });
});

describe("a reload that is overtaken by the end of the daemon", () => {
  test("S29: is given up in silence: the daemon ends as it was told to, and the next start has the new jobs", async () => {
    const here = place(job("t/old", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(MANY);
    const before = threadsOf(krond.pid);
    krond.child.kill("SIGHUP");
    // Then what the files are read with is there.
    while (threadsOf(krond.pid) <= before) await new Promise((resolve) => setImmediate(resolve));
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.filter(({ level }) => level === "error")).toEqual([]);
    const next = startKrond(here.config, here.state);
    expect(await next.ready()).toMatchObject({ jobs: 1_200 });
  });
});

const newPlace = faultPlaces(programs, temporaryDirectories());

describe("a reload for which the system gives no thread", () => {
  test("S16: is read by the daemon's own: that is warned about, and everything is in force afterwards", async () => {
    const jobs = (count: number): string =>
      JSON.stringify({
        jobs: Array.from({ length: count }, (_, index) => {
          return { identity: `t/${index}`, schedule: "0 0 1 1 *", command: ["/bin/true"], tags: ["x".repeat(60)] };
        }),
      });
    const here = newPlace(() => jobs(1));
    giveAway(here.state);
    const krond = here.start({ wrap: AS_NORMAL_USER });
    await krond.ready();
    const [program = "", ...args] = [...AS_NORMAL_USER, "prlimit", "--pid", String(krond.pid), "--nproc=1:"];
    expect(spawnSync(program, args).status).toBe(0);
    fs.writeFileSync(here.config, jobs(1_200));
    krond.child.kill("SIGHUP");
    const told = await krond.event("error", { error_code: "worker-unavailable" });
    expect(told).toMatchObject({ level: "warn", component: "planner", fatal: false });
    expect(told["message"]).toMatch(/^the system gives no thread: .*EAGAIN/);
    await krond.event("config_reloaded", { added: 1_199 });
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
  });
});
