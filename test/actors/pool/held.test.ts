/** P3: what a thread has answered is gone when nobody uses it any more, however long the thread lives. */
import { setTimeout as wait } from "node:timers/promises";
import * as v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { pools } from "./support/pools.js";
import { NOW } from "./support/stored-jobs.js";
import { lmdbStores, quietJobs } from "./support/stores.js";
import { builtWorker } from "./support/worker.js";

const worker = builtWorker();
const newPool = pools(worker.entry);
const openStore = lmdbStores();
v8.setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("no page is held on to after it was handed over", async () => {
  const { store } = await openStore(quietJobs(200));
  const pages: WeakRef<object>[] = [];
  const pool = newPool({ threads: 1, limits: { inlineDocuments: 0, pageRows: 40, idleMs: 600_000 } });
  await pool.planAll(store, { now: NOW, onPage: (page) => void pages.push(new WeakRef(page)) });
  expect(pages.length).toBeGreaterThan(3);
  const held = (): number => pages.filter((page) => page.deref() !== undefined).length;
  // One may be left: the last that the thread has said.
  for (let tries = 0; tries < 100 && held() > 1; tries++) {
    // Whoever was asked for is kept until the turn ends.
    await wait(10);
    collect();
  }
  expect(held()).toBeLessThanOrEqual(1);
});
