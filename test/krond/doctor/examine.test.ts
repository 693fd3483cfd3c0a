import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { examine } from "../../../src/krond/doctor/doctor.js";
import type { Finding } from "../../../src/krond/doctor/model.js";
import { BACKENDS } from "../../../src/persist/backends.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();

async function findings(stateDirectory: string): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const finding of examine({
    stateDirectory,
    store: { backend: BACKENDS.lmdb, at: stateDirectory },
    env: process.env,
  }))
    found.push(finding);
  return found;
}

test("every check is answered with figures, and nothing is left behind", async () => {
  const directory = newDirectory();
  const found = await findings(directory);
  expect(found.map(({ check }) => check)).toEqual(["host", "state", "fsync", "clock", "timer", "spawn"]);
  for (const { figures, check, message } of found)
    expect([check, message, Object.keys(figures).length > 1]).toEqual([check, message, true]);
  expect(found.find(({ check }) => check === "spawn")?.figures["processes"]).toBe(200);
  expect(readdirSync(directory)).toEqual([]);
});

test("a state directory that is still to be made: what it will be made in is looked at, and it is not made", async () => {
  const directory = newDirectory();
  mkdirSync(join(directory, "lib"));
  const wanted = join(directory, "lib", "krond", "state");
  const sync = (await findings(wanted)).find(({ check }) => check === "fsync");
  expect(sync?.figures["p50_ms"]).toBeGreaterThan(0);
  expect(readdirSync(join(directory, "lib"))).toEqual([]);
});
