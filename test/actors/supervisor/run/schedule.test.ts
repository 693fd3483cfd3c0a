/** How many are looked at in one turn of the loop, and how long before their second processes are made ready for them. */
import { describe, expect, test } from "vitest";
import { SECOND_MS } from "../../../../src/core/time/instant.js";
import { job, World } from "../world.js";

const DUE_AT = Date.parse("2026-03-01T00:01:00Z");

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `j${String(index).padStart(4, "0")}`);
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function booted(count: number, maxArmed: number): Promise<World> {
  const world = new World({ maxArmed });
  await world.boot(
    names(count).map((identity) => job(identity, "1 * * * *")),
    { maxArmed },
  );
  return world;
}

/** Steps of a second, each with time enough for all that it brings. */
async function passTo(world: World, at: number): Promise<void> {
  while (world.clock.now() < at) await world.pass(Math.min(SECOND_MS, at - world.clock.now()));
}

describe("S23: processes are begun to be made ready", () => {
  test.each([
    ["a few jobs five seconds before theirs", 3, 5_000, 5],
    ["a thousand jobs five seconds before theirs", 1_000, 5_000, 5],
    ["two thousand jobs eight seconds before theirs", 2_000, 5_000, 8],
    ["as many as may wait, and no sooner for those that may not", 3_000, 1_500, 6],
  ])("for %s", async (_, count, maxArmed, leadSeconds) => {
    const world = await booted(count, maxArmed);
    await passTo(world, DUE_AT - leadSeconds * SECOND_MS - 1);
    expect(world.requests).toHaveLength(0);
    await world.pass(1);
    expect(world.requests).toHaveLength(Math.min(count, maxArmed));
    world.kill();
  });
});

test("S6: the waker comes again while many are being looked at, and no turn has more of them for it", async () => {
  const world = await booted(400, 1_000);
  await passTo(world, DUE_AT - 5 * SECOND_MS - 1);
  const [inOneTurn, seen] = [[] as number[], () => world.requests.length];
  world.clock.advance(1);
  for (let turns = 0; turns < 200 && seen() < 400; turns++) {
    const before = seen();
    // Timers of no time at all are due in each turn.
    world.clock.advance(0);
    await turn();
    inOneTurn.push(seen() - before);
  }
  expect(seen()).toBe(400);
  expect(Math.max(...inOneTurn)).toBeLessThanOrEqual(32);
  world.kill();
});
