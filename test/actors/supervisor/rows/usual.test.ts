/** What a status tells of how long runs take: of those that succeed, and of no fewer than three. */
import { describe, expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { job, World } from "../world.js";

describe("how long runs take that succeed", () => {
  test("is told from the third on: the middle of them and the longest, and nothing of those that fail", async () => {
    const lengths = [3, 9, 600, 5].map((seconds) => seconds * SECOND_MS);
    const codes = [0, 0, 1, 0];
    let run = 0;
    const world = new World({
      behaviour: () => {
        const at = run++;
        return { runMs: lengths[at] ?? 0, exitCode: codes[at] ?? 0 };
      },
    });
    await world.boot([job("a", "0 0 1 1 *")]);
    const told: unknown[] = [];
    for (const ms of lengths) {
      await world.supervisor.runNow("a");
      await world.pass(ms + 2 * SECOND_MS);
      const [status] = await world.supervisor.list();
      told.push(status?.usual);
      expect(status?.lastRun).toMatchObject({ durationMs: ms, lateMs: 0 });
    }
    expect(told).toEqual([null, null, null, { medianMs: 5 * SECOND_MS, longestMs: 9 * SECOND_MS, runs: 3 }]);
  });

  test("S13: a run that was late says by how much, also after a restart", async () => {
    const world = new World({ behaviour: () => ({ runMs: 4_000 }) });
    await world.boot([job("a", "*/5 * * * *", { policy: { deadline: "10m" } })]);
    world.kill();
    world.clock.advance(6 * MINUTE_MS);
    await world.boot("as-stored");
    await world.pass(MINUTE_MS);
    const [before] = await world.supervisor.list();
    expect(before?.lastRun?.lateMs).toBeGreaterThanOrEqual(MINUTE_MS);
    world.kill();
    await world.boot("as-stored");
    const order = { sort: "lateness", isReversed: false } as const;
    const filter = { identities: [], standings: [], tags: [] };
    const { rows } = await world.supervisor.find({ filter, order, from: { offset: 0 }, limit: 1 });
    expect(rows[0]?.lastRun).toEqual(before?.lastRun);
  });
});
