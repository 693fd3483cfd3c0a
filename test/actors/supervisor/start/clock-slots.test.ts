/** S14, S40: what a clock that ran ahead has claimed silences nothing once the clock is right. */
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { at } from "../../../support/scheduling.js";
import { job, World } from "../world.js";

const NOW = "2026-03-01T12:00:00Z";
const AHEAD_MS = 30 * DAY_MS;

/** The clock runs ahead for a minute and is put right, while the daemon runs or while none does. */
async function ranAhead(world: World, how: "running" | "restarted", deed: () => Promise<unknown> | undefined) {
  const definitions = [job("every", "@every 20s"), job("hinted", "0 0 1 1 *")];
  await world.boot(definitions);
  await world.pass(5 * SECOND_MS);
  world.clock.jump(AHEAD_MS);
  await world.pass(2 * SECOND_MS);
  await deed();
  await world.pass(MINUTE_MS);
  if (how === "restarted") world.kill();
  world.clock.jump(-AHEAD_MS);
  world.begun.length = 0;
  if (how === "restarted") await world.boot(definitions);
  await world.pass(2 * SECOND_MS);
}

describe.each(["running", "restarted"] as const)("a clock that was ahead and was put right, daemon %s", (how) => {
  test("S40: an interval goes on from now", async () => {
    const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000 }) });
    await ranAhead(world, how, () => undefined);
    expect(world.document("every").LastSlot).toBeUndefined();
    await world.pass(3 * MINUTE_MS);
    expect(world.starts("every").length).toBeGreaterThanOrEqual(8);
    expect(world.told("every")).toContain("state_ahead_of_clock");
  });

  test("S41: a hint by interval and one for a single run are followed, and a run by hand is made", async () => {
    const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000 }) });
    const hint = (from: number) => ({
      interval: { kind: "interval", intervalMs: 15_000, expiresAt: from + HOUR_MS, reason: "r" } as const,
      oneshot: { kind: "oneshot", nextRunAt: from + 10_000, expiresAt: from + HOUR_MS, reason: "r" } as const,
    });
    await ranAhead(world, how, async () => {
      const { interval, oneshot } = hint(world.clock.now());
      await world.supervisor.hint("hinted", oneshot);
      await world.supervisor.hint("hinted", interval);
      await world.pass(40 * SECOND_MS);
      await world.supervisor.clearHints("hinted", "all");
      await Promise.all([world.supervisor.runNow("hinted"), world.pass(2 * SECOND_MS)]);
    });
    const { interval, oneshot } = hint(world.clock.now());
    await world.supervisor.hint("hinted", oneshot);
    await world.pass(11 * SECOND_MS);
    expect(world.starts("hinted")).toHaveLength(1);
    await world.supervisor.hint("hinted", interval);
    await world.pass(50 * SECOND_MS);
    expect(world.starts("hinted")).toHaveLength(4);
    const [answer] = await Promise.all([world.supervisor.runNow("hinted"), world.pass(2 * SECOND_MS)]);
    expect(answer).toMatchObject({ ok: true });
  });
});

test("S40: a slot that was claimed ahead of time is not claimed again, and what follows it is next", async () => {
  const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000 }) });
  await world.boot([job("hinted", "0 0 1 1 *"), job("every", "@every 1h")]);
  const nextRunAt = at(NOW) + 3 * HOUR_MS;
  const hint = { kind: "oneshot", nextRunAt, expiresAt: nextRunAt + HOUR_MS, reason: "r" } as const;
  await world.pass(10 * SECOND_MS);
  world.clock.jump(3 * HOUR_MS - 20 * SECOND_MS);
  await world.supervisor.hint("hinted", hint);
  await world.pass(MINUTE_MS);
  expect([world.starts("hinted"), world.starts("every")]).toEqual([["2026-03-01T15:00:00"], ["2026-03-01T14:59:52"]]);
  world.kill();
  world.clock.jump(at(NOW) - world.clock.now());
  world.begun.length = 0;
  await world.boot([job("hinted", "0 0 1 1 *"), job("every", "@every 1h")]);
  expect(await world.supervisor.hint("hinted", hint)).toBe("set");
  await world.pass(4 * HOUR_MS, 10 * SECOND_MS);
  // Those of three o'clock and of one o'clock are on record already.
  expect(world.starts("hinted")).toEqual([]);
  expect(world.starts("every")).toEqual(["14:00:00", "15:00:00", "16:00:00"].map((time) => `2026-03-01T${time}`));
  expect(world.fatal).toBeNull();
});
