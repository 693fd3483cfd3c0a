/** S32, S40: a rewind while something is on record of the time that it takes back. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import type { StateDocument } from "../../../src/core/state/document.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { rewindJob } from "../../../src/krond/state/tools.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { job, World, type WorldOptions } from "../../actors/supervisor/world.js";
import { requireOk } from "../../support/results.js";

/** What the daemon left behind, rewritten by an operator while none runs. */
async function rewound(world: World, definition: JobDefinition): Promise<void> {
  const term = requireOk(acquireMemoryLock(world.disk));
  const store = requireOk(openMemoryStore(term, world.disk));
  requireOk(await rewindJob(store, term, { identity: "a", definition, by: "root", now: world.clock.now() }));
  term.release();
}

async function ahead(definition: JobDefinition, forMs: number, options: WorldOptions): Promise<World> {
  const world = new World(options);
  await world.boot([definition]);
  world.clock.jump(forMs);
  await world.pass(HOUR_MS + MINUTE_MS, MINUTE_MS / 2);
  world.kill();
  world.clock.jump(-forMs);
  world.begun.length = 0;
  return world;
}

test.each<[string, (document: StateDocument) => StateDocument]>([
  ["that Kron has claimed", (document) => document],
  [
    "that another implementation has, which names no attempts",
    (document) => {
      if (document.ActiveExecution === null) throw new Error("nothing runs");
      const { AttemptID: _, ...ActiveExecution } = document.ActiveExecution;
      return { ...document, ActiveExecution };
    },
  ],
])("S32: the end of a run %s does not undo the rewind", async (_name, change) => {
  const hourly = job("a", "0 * * * *", { policy: { concurrency: "allow" } });
  const world = await ahead(hourly, 365 * DAY_MS, { behaviour: () => ({ runMs: 3 * HOUR_MS }) });
  const key = documentKey("a");
  const stored = world.disk.documents.get(key);
  if (stored === undefined) throw new Error("no document");
  world.disk.documents.set(key, { ...stored, text: serialiseDocument(change(world.document("a"))) });
  await rewound(world, hourly);
  expect(world.document("a").LastHandledPeriodID).toBe("2026-03-01T01:00:00Z");
  await world.boot([hourly]);
  await world.pass(4 * HOUR_MS, MINUTE_MS);
  expect(world.begun.map(({ periodId }) => periodId.slice(0, 13))).toEqual([
    "2026-03-01T02",
    "2026-03-01T03",
    "2026-03-01T04",
    "2026-03-01T05",
  ]);
  const history = world.document("a").History.filter(({ Source }) => Source === "rewound");
  expect(history).toMatchObject([{ PeriodID: "2027-03-01T01:00:00Z", Outcome: "executed" }]);
});

test("S32, S43: attempts that were made are made again, at the same seconds", async () => {
  const retry = { limit: 2, backoff: "30s", max_backoff: "30s" };
  const hourly = job("a", "0 * * * *", { policy: { concurrency: "allow" }, retry });
  const world = await ahead(hourly, 3 * HOUR_MS, { behaviour: () => ({ runMs: 1_000, exitCode: 1 }) });
  await rewound(world, hourly);
  expect(world.document("a").LastSlot).toBeUndefined();
  await world.boot([hourly]);
  await world.pass(3 * HOUR_MS + 5 * MINUTE_MS, MINUTE_MS / 2);
  const starts = world.begun.map(({ periodId }) => periodId.slice(11, 13));
  expect(starts).toEqual(["02", "02", "02", "03", "03", "03", "04", "04", "04"]);
});

test("S32, S43: an attempt that was pending is given up", async () => {
  const hourly = job("a", "0 * * * *", { retry: { limit: 2, backoff: "30m", max_backoff: "30m" } });
  const world = await ahead(hourly, 3 * HOUR_MS, { behaviour: () => ({ runMs: 1_000, exitCode: 1 }) });
  expect(world.document("a").Retry).toMatchObject({ PeriodID: "2026-03-01T04:00:00Z" });
  await rewound(world, hourly);
  expect(world.document("a").Retry).toBeUndefined();
});
