/** A store that is read lists its jobs as a daemon does. */
import { expect, test } from "vitest";
import { ALL_JOBS, BY_NAME } from "../../../src/actors/supervisor/rows/job-query.js";
import { offlineStatuses } from "../../../src/operations/records/offline-status.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { job, START, World } from "../../actors/supervisor/world.js";
import { requireOk } from "../../support/results.js";

test("by the bytes of the names, as a daemon does", async () => {
  const world = new World();
  await world.boot(["b", "\u{1f600}", "\uff21", "a"].map((name) => job(name, "0 0 1 1 *")));
  const query = { filter: ALL_JOBS, order: BY_NAME, from: { after: null }, limit: 9 };
  const told = (await world.supervisor.find(query)).rows.map(({ identity }) => identity);
  world.kill();
  const store = requireOk(openMemoryStore(requireOk(acquireMemoryLock(world.disk)), world.disk));
  const found: string[] = [];
  const unusable = (error: Error) => {
    throw error;
  };
  for await (const rows of offlineStatuses(store, START, unusable)) found.push(...rows.map(({ identity }) => identity));
  expect([told, found]).toEqual([
    ["a", "b", "\uff21", "\u{1f600}"],
    ["a", "b", "\uff21", "\u{1f600}"],
  ]);
});
