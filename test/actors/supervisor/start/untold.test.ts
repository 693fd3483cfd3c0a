/** S16, S43: what ends before a job has been told where it stands is put on record, and nothing is begun for it. */
import { describe, expect, test } from "vitest";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { HOUR_MS, MINUTE_MS } from "../../../../src/core/time/instant.js";
import { job, World } from "../world.js";

const RETRY = { limit: 3, backoff: "10m", max_backoff: "10m" };
const FAILING = { policy: { concurrency: "allow" }, retry: RETRY };
const OTHER = job("z", "0 0 1 1 *");

/** A daemon that died with another attempt pending and a run by hand under way, of which nothing is left. */
async function interrupted(): Promise<World> {
  let runs = 0;
  const world = new World({ behaviour: () => (++runs === 1 ? { runMs: 1_000, exitCode: 1 } : { runMs: HOUR_MS }) });
  await world.boot([job("a", "0 * * * *", FAILING), OTHER]);
  await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS / 2);
  await Promise.all([world.supervisor.runNow("a"), world.pass(5_000)]);
  world.kill();
  expect(world.document("a")).toMatchObject({ ActiveExecution: { Source: "manual" }, Retry: { Attempt: 2 } });
  world.host.reboot();
  world.clock.advance(20 * MINUTE_MS);
  world.events.length = 0;
  world.begun.length = 0;
  return world;
}

async function bootWith(world: World, definitions: readonly JobDefinition[]): Promise<readonly string[]> {
  await world.boot(definitions);
  await world.pass(5_000);
  return world.told("a");
}

describe("S16, S43: a start that finds a run gone and another attempt pending", () => {
  test("starts nothing of a job that is not configured any more", async () => {
    const world = await interrupted();
    expect(await bootWith(world, [OTHER])).toEqual(["adopted", "completed", "removed"]);
    expect(world.begun).toEqual([]);
    expect(world.document("a").Retry).toBeUndefined();
  });

  test("nor promises an attempt of one whose own run nobody saw end", async () => {
    const world = new World({ behaviour: () => ({ runMs: HOUR_MS }) });
    const retry = { ...RETRY, on: ["unseen"] };
    await world.boot([job("a", "0 * * * *", { retry }), OTHER]);
    await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS / 2);
    world.kill();
    world.host.reboot();
    world.events.length = 0;
    expect(await bootWith(world, [OTHER])).toEqual(["adopted", "completed", "removed"]);
  });

  test("hears first that there are to be no retries", async () => {
    const world = await interrupted();
    const told = await bootWith(world, [job("a", "0 * * * *", { policy: { concurrency: "allow" } }), OTHER]);
    expect(told).toContain("retry_dropped");
    expect(world.begun).toEqual([]);
  });

  test("hears first that the schedule is another one (S14)", async () => {
    const world = await interrupted();
    const told = await bootWith(world, [job("a", "0 0 * * 0", FAILING), OTHER]);
    expect(told).toContain("retry_dropped");
    expect(world.begun).toEqual([]);
  });

  test("makes it up where nothing has changed", async () => {
    const world = await interrupted();
    await bootWith(world, [job("a", "0 * * * *", FAILING), OTHER]);
    expect(world.begun).toMatchObject([{ identity: "a", periodId: "2026-03-01T01:00:00Z" }]);
  });
});
