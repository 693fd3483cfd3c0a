/** Endpoints that are made one after the other stay apart: each has a place of its own within the second (S14, S40). */
import { describe, expect, test } from "vitest";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";
import { job, START, World } from "./world.js";

const JOB_ID = `job_${"a".repeat(16)}`;

function identityOf(name: string): string {
  return `endpoint:acme/${JOB_ID}/ep_${name.padEnd(16, "0")}`;
}

function endpoint(name: string, every: string, more: Record<string, unknown> = {}): JobDefinition {
  const raw = { identity: identityOf(name), every, http: { url: `https://hooks.test/${name}` }, ...more };
  return requireOk(readJobDefinition(raw, undefined, { mayUseReservedPrefix: true }));
}

const NAMES = ["a", "b", "c"];

/** Made 137 ms after each other, the first 137 ms after the start. */
async function made(world: World, every: string): Promise<World> {
  await world.boot([job("configured", "0 0 1 1 *")]);
  for (const name of NAMES) {
    world.clock.advance(137);
    await world.supervisor.define(endpoint(name, every), []);
  }
  return world;
}

/** The slots that have run, as seconds since the start. */
function slots(world: World, name: string): readonly number[] {
  const begun = world.begun.filter(({ identity }) => identity === identityOf(name));
  return begun.map(({ periodId }) => Date.parse(periodId) - START);
}

describe("S40: an interval keeps its place within the second", () => {
  test("from the instant at which the endpoint was made, and is on time there", async () => {
    const world = await made(new World(), "20s");
    await world.pass(MINUTE_MS, 50);
    expect(NAMES.map((name) => slots(world, name))).toEqual([
      [20_137, 40_137, 60_137],
      [20_274, 40_274, 60_274],
      [20_411, 40_411, 60_411],
    ]);
    for (const { at, periodId } of world.begun) expect(at - Date.parse(periodId)).toBeLessThan(100);
  });

  test("however late it runs, and over a restart", async () => {
    const world = await made(new World(), "20s");
    await world.pass(25 * SECOND_MS, 50);
    world.kill();
    world.clock.advance(5 * MINUTE_MS + 777);
    await world.boot([job("configured", "0 0 1 1 *")]);
    await world.pass(30 * SECOND_MS, 50);
    const places = NAMES.map((name) => slots(world, name).map((slot) => slot % SECOND_MS));
    expect(places).toEqual([
      [137, 137, 137],
      [274, 274, 274],
      [411, 411, 411],
    ]);
    // It was late, and the next is as long after it as ever.
    const [, late = 0, next = 0] = slots(world, "a");
    expect(next - late).toBeGreaterThan(5 * MINUTE_MS);
    expect(world.document(identityOf("a")).LastRunAt).toMatch(/\.137Z$/);
  });

  test("a job of a file is dated to the second: its times can be read off its definition", async () => {
    const world = new World();
    world.clock.advance(137);
    await world.boot([requireOk(readJobDefinition({ identity: "beat", every: "20s", command: ["/bin/true"] }))]);
    await world.pass(45 * SECOND_MS);
    const ran = world.begun.map(({ periodId }) => periodId);
    expect(ran).toEqual(["2026-03-01T00:00:21Z", "2026-03-01T00:00:41Z"]);
  });
});

test("S41: of runs that are on time, the least time between them holds to the millisecond", async () => {
  const world = new World({ answer: () => ({ answerMs: 30 }) });
  await world.boot([job("configured", "0 0 1 1 *")]);
  world.clock.advance(900);
  await world.supervisor.define(endpoint("a", "1s", { min_interval: "1s" }), []);
  await world.pass(10 * SECOND_MS, 20);
  const sentAt = world.begun.map(({ at }) => at);
  expect(sentAt.length).toBeGreaterThan(7);
  const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] as number));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(SECOND_MS);
});
