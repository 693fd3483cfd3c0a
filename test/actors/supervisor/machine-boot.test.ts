/** S44: what a daemon tells its jobs of the boots of the machine, with the supervisor of production. */
import { describe, expect, test } from "vitest";
import { fenceFor } from "../../../src/actors/supervisor/start/recovery.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { fenceDocument } from "../../../src/core/state/fence.js";
import { SECOND_MS } from "../../../src/core/time/instant.js";
import { job, World } from "./world.js";

const AT_BOOT = job("a", "@reboot");
const SLOT = "2026-03-01T12:00:00Z";
const LATE = job("late", "@reboot");

async function pass(world: World, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    world.clock.advance(SECOND_MS);
    await world.settle();
  }
}

async function booted(world: World, jobs: readonly (typeof AT_BOOT)[]): Promise<void> {
  await world.boot(jobs);
  await pass(world, 3);
}

async function machineDown(world: World): Promise<void> {
  await world.settle();
  world.kill();
  world.host.reboot();
}

const ran = (world: World): readonly string[] => world.begun.map(({ identity, bootId }) => `${identity} in ${bootId}`);

describe("S44", () => {
  test("a restart within a boot runs nothing again, and the clock does not matter", async () => {
    const world = new World();
    await booted(world, [AT_BOOT]);
    world.kill();
    world.clock.jump(-7_200_000);
    await booted(world, [AT_BOOT]);
    expect(ran(world)).toEqual(["a in boot-1"]);
    await machineDown(world);
    await booted(world, [AT_BOOT]);
    expect(ran(world)).toEqual(["a in boot-1", "a in boot-2"]);
  });

  test("a start from the store alone tells it too", async () => {
    const world = new World();
    await booted(world, [AT_BOOT]);
    await machineDown(world);
    await world.boot("as-stored");
    await pass(world, 3);
    expect(ran(world)).toEqual(["a in boot-1", "a in boot-2"]);
  });

  test("a job that a reload adds waits for the next boot", async () => {
    const world = new World();
    await booted(world, [AT_BOOT]);
    await world.supervisor.reload([AT_BOOT, LATE], SETTINGS_DEFAULTS, []);
    await pass(world, 3);
    world.kill();
    await booted(world, [AT_BOOT, LATE]);
    expect(ran(world)).toEqual(["a in boot-1"]);
    expect(world.document("late").Boot).toEqual({ ID: "boot-1" });
    await machineDown(world);
    await booted(world, [AT_BOOT, LATE]);
    expect(ran(world).toSorted()).toEqual(["a in boot-1", "a in boot-2", "late in boot-2"]);
  });

  test("so does one that a later start of the daemon sees first, or that was a cron job before", async () => {
    const world = new World();
    await booted(world, [AT_BOOT, job("late", "0 0 1 1 *")]);
    world.kill();
    await booted(world, [AT_BOOT, LATE, job("later", "@reboot")]);
    expect(ran(world)).toEqual(["a in boot-1"]);
    await machineDown(world);
    await booted(world, [AT_BOOT, LATE, job("later", "@reboot")]);
    expect(ran(world).toSorted()).toEqual(["a in boot-1", "a in boot-2", "late in boot-2", "later in boot-2"]);
  });
});

function fenced(document: StateDocument) {
  const now = Date.parse(SLOT);
  const rules = { upToAt: now, now, reason: "state_recovered", historyLimit: 10, bootId: "boot-1" } as const;
  return fenceDocument(document, compileRule(AT_BOOT), rules);
}

describe("S32: the present boot counts as run where what was known of it is lost", () => {
  test("a document that is due, and one that is gone", () => {
    const due = { ...newDocument("a"), Boot: { ID: "boot-1", Due: { Slot: SLOT, Since: SLOT } } };
    expect(fenced(due).document.Boot).toEqual({ ID: "boot-1" });
    const gone = fenceFor(AT_BOOT, Date.parse(SLOT), { historyLimit: 10, bootId: "boot-1" });
    expect(JSON.parse(gone.text)).toMatchObject({ Identity: "a", Boot: { ID: "boot-1" } });
  });

  test("one that has run already is left as it is", () => {
    expect(fenced({ ...newDocument("a"), Boot: { ID: "boot-1" } }).facts).toEqual([]);
  });
});
