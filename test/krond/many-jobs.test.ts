/** A daemon with more jobs than it can take in at once: broken off, started again, changed while it starts. */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const newDirectory = temporaryDirectories();
const JOBS = 8_000;

function place(jobs: number, schedule = "0 0 1 1 *"): { readonly config: string; readonly state: string } {
  const root = newDirectory();
  fs.chmodSync(root, 0o700);
  const config = path.join(root, "jobs.jsonl");
  write(config, jobs, schedule);
  return { config, state: path.join(root, "state") };
}

function write(config: string, jobs: number, schedule = "0 0 1 1 *"): void {
  const lines = Array.from({ length: jobs }, (_, nth) => {
    return JSON.stringify({ identity: `tenant-${nth % 100}/job-${nth}`, schedule, command: ["/bin/true"] });
  });
  // In one piece: a daemon may be reading it.
  fs.writeFileSync(`${config}.new`, `${lines.join("\n")}\n`, { mode: 0o644 });
  fs.renameSync(`${config}.new`, config);
}

function checkState(state: string): { readonly documents: number; readonly problems: readonly unknown[] } {
  const { out } = runProgram(programs().krond, ["state", "check", "--state", state, "-o", "json"]);
  return JSON.parse(out);
}

test("SIGTERM at any moment of a first load: a sound store, and the next start goes on", async () => {
  const { config, state } = place(JOBS);
  // Some while the files are read, some while jobs are being written: how far it is by then does not matter.
  for (const afterMs of [0, 150, 500, 1_000]) {
    const krond = startKrond(config, state);
    await krond.handling("SIGHUP");
    await sleep(afterMs);
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.stderr).toBe("");
    if (fs.existsSync(path.join(state, "kron-store.json"))) expect(checkState(state).problems).toEqual([]);
  }
  const krond = startKrond(config, state);
  expect(await krond.ready()).toMatchObject({ jobs: JOBS });
  expect(await krond.kill("SIGTERM")).toBe(0);
  expect(checkState(state)).toMatchObject({ documents: JOBS, problems: [] });
});

test("SIGKILL in the middle of a first load: files put back to what they were are read all the same", async () => {
  const { config, state } = place(2_000, "0 0 1 1 *");
  const first = startKrond(config, state);
  await first.ready();
  await first.kill("SIGTERM");
  write(config, 2_000, "0 0 2 1 *");
  const second = startKrond(config, state);
  await second.line(({ event }) => event === "ready" || event === "progress");
  await second.kill("SIGKILL");
  write(config, 2_000, "0 0 1 1 *");
  const third = startKrond(config, state);
  await third.ready();
  const { out } = runProgram(programs().kron, ["list", "--state", state, "-o", "jsonl"]);
  const schedules = new Set(
    out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { schedule: string }).schedule),
  );
  expect([...schedules]).toEqual(["0 0 1 1 *"]);
});

test("S16: a reload that comes while it starts is made up for; one without a change touches nothing", async () => {
  const { config, state } = place(JOBS);
  const krond = startKrond(config, state);
  await krond.handling("SIGHUP");
  write(config, JOBS + 1);
  krond.child.kill("SIGHUP");
  await krond.ready();
  await krond.event("config_reloaded");
  const status = runProgram(programs().krond, ["status", "--state", state, "-o", "json"]);
  expect(JSON.parse(status.out)).toMatchObject({ jobs: JOBS + 1 });
  const seen = krond.lines.length;
  expect(runProgram(programs().krond, ["reload", "--state", state]).status).toBe(0);
  expect(await krond.event("config_reloaded", {}, seen)).toMatchObject({ added: 0, changed: 0, removed: 0 });
});
