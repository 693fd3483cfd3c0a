/** A job that runs once, on the machine that this is: it runs, is done, and stays so whatever becomes of daemon and files. */
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

/** Far enough that a busy machine has read the file by then, and within the deadline if not. */
const AHEAD_MS = 8_000;
const onceAt = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
const job = (name: string, at: string): string =>
  `  - { identity: ${name}, at: "${at}", policy: { deadline: 5m }, command: ["true"] }\n`;

test("it runs at its time, is done, and is not run again by a restart", async () => {
  const at = onceAt(Date.now() + AHEAD_MS);
  const text = job("t/once", at) + job("t/past", "2026-01-01T00:00:00Z") + job("t/later", "2199-01-01T00:00:00Z");
  const here = place(text);
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  expect(here.kron("why", "t/later").out).toContain("not yet");
  await krond.event("completed", { identity: "t/once", period_id: at });
  const list = here.kron("list").out;
  expect(list).toMatch(/t\/once +@at \S+ UTC +done +/);
  expect(list).toMatch(/t\/past +@at \S+ UTC +never +/);
  expect(here.kron("why", `t/once@${at}`).out).toContain("executed");
  expect(here.kron("why", "t/once").out).toContain("executed");
  expect(here.kron("why", "t/past").out).toContain("before");
  const rows = JSON.parse(here.kron("list", "-o", "json").out) as {
    identity: string;
    next_chosen_time: unknown;
    once: unknown;
  }[];
  expect(rows.map(({ identity, next_chosen_time, once }) => [identity, next_chosen_time, once])).toEqual([
    ["t/later", "2199-01-01T00:00:00Z", "ahead"],
    ["t/once", null, "done"],
    ["t/past", null, "never"],
  ]);
  await krond.kill("SIGKILL");
  const later = startKrond(here.config, here.state);
  await later.ready();
  // Whatever would run at once has begun before a run that is asked for now.
  expect(here.kron("run", "t/past").status).toBe(0);
  await later.event("completed", { identity: "t/past", source: "manual" });
  expect(here.kron("history", "t/once").out.match(/executed/g)).toHaveLength(1);
  expect(here.kron("list").out).toMatch(/t\/once +@at \S+ UTC +done +/);
});
