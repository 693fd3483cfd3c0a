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

describe("a clock that is set back by less than an hour", () => {
  const WAITED_FOR_MS = 2 * MINUTE_MS;

  /** From the step until the job runs again, at most. */
  async function waitAfter(backMs: number, how: "running" | "restarted"): Promise<{ waitMs: number; slots: string[] }> {
    const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000 }) });
    const definitions = [job("every", "@every 20s")];
    await world.boot(definitions);
    await world.pass(5 * MINUTE_MS);
    if (how === "restarted") world.kill();
    world.clock.jump(-backMs);
    if (how === "restarted") await world.boot(definitions);
    const before = world.begun.length;
    let waitMs = 0;
    for (; waitMs <= HOUR_MS && world.begun.length === before; waitMs += SECOND_MS) await world.pass(SECOND_MS);
    // Until long after the instants that had been before: each slot is run at most once.
    await world.pass(backMs + 5 * MINUTE_MS);
    expect(world.fatal).toBeNull();
    return { waitMs, slots: world.begun.map(({ periodId }) => periodId) };
  }

  test.each<[number, "running" | "restarted"]>([
    [10 * SECOND_MS, "running"],
    [WAITED_FOR_MS - SECOND_MS, "running"],
    [WAITED_FOR_MS + 30 * SECOND_MS, "running"],
    [4 * MINUTE_MS, "running"],
    [4 * MINUTE_MS, "restarted"],
    [59 * MINUTE_MS, "running"],
    [59 * MINUTE_MS, "restarted"],
  ])("S40: by %i ms, daemon %s: an interval goes on, and no slot is run twice", async (backMs, how) => {
    const { waitMs, slots } = await waitAfter(backMs, how);
    const longest = 20 * SECOND_MS + 2 * SECOND_MS + (backMs > WAITED_FOR_MS ? 0 : backMs);
    expect(waitMs).toBeLessThanOrEqual(longest);
    expect(new Set(slots).size).toBe(slots.length);
  });

  test("S43: a retry that was planned comes as long after its failure as it was to", async () => {
    const retry = { limit: 3, backoff: "60s", max_backoff: "60s" };
    const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000, exitCode: 1 }) });
    await world.boot([job("daily", "1 12 * * *", { retry })]);
    await world.pass(MINUTE_MS + 10 * SECOND_MS);
    expect(world.starts("daily")).toEqual(["2026-03-01T12:01:00"]);
    world.clock.jump(-50 * MINUTE_MS);
    await world.pass(70 * SECOND_MS);
    expect(world.starts("daily")).toHaveLength(2);
    await world.pass(HOUR_MS, 10 * SECOND_MS);
    expect(world.starts("daily")).toHaveLength(4);
    expect(world.fatal).toBeNull();
  });

  test("S17: what passed in a pause is not run for it", async () => {
    const world = new World({ startAt: at(NOW), behaviour: () => ({ runMs: 1_000 }) });
    await world.boot([job("often", "* * * * *", { policy: { deadline: "1h" } })]);
    await world.pass(MINUTE_MS);
    await world.supervisor.pause("often", at(NOW) + 30 * MINUTE_MS, "r");
    await world.pass(31 * MINUTE_MS, 10 * SECOND_MS);
    const before = world.begun.length;
    world.clock.jump(-20 * MINUTE_MS);
    await world.pass(10 * MINUTE_MS, 10 * SECOND_MS);
    expect(world.begun.length).toBe(before);
  });
});
