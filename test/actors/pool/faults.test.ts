import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import type { DecisionPool, PlanSummary, PoolLimits } from "../../../src/actors/pool/types.js";
import type { StateReader } from "../../../src/persist/store.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { identityOf } from "./support/pages.js";
import { pools } from "./support/pools.js";
import { documentOf, jobAt, NOW, versionOf, writesOf } from "./support/stored-jobs.js";
import { lmdbStores, quietJobs } from "./support/stores.js";
import { builtWorker } from "./support/worker.js";

const worker = builtWorker();
const newPool = pools(worker.entry);
const openStore = lmdbStores();
const newDirectory = temporaryDirectories();

const PATIENT = { timeout: 120_000 };
const JOBS = 600;
const LIMITS: Partial<PoolLimits> = { inlineDocuments: 0, pageRows: 40, batchTimeoutMs: 600_000, idleMs: 100 };
/** For workers that hang: on a slow machine honest batches are cut off too, and tried again until they are through. */
const SOON: Partial<PoolLimits> = { ...LIMITS, batchTimeoutMs: 8_000, attempts: 1_000 };

/** JavaScript that is true `times` times, whichever thread asks. */
function often(times: number): string {
  const directory = newDirectory();
  return `(() => {
    for (let time = 0; time < ${times}; time++) {
      try { fs.mkdirSync(${JSON.stringify(directory)} + "/" + time); return true; } catch {}
    }
    return false;
  })()`;
}

let variants = 0;

/** A worker with something wrong with it: statements for its start, and for each batch. */
function poisoned(start: string, batch: string): string {
  variants += 1;
  return worker.variant(
    `variant-${variants}`,
    `import * as fs from "node:fs";
     import * as real from "./worker.mjs";
     ${start}
     export async function planRange({ task, stop }) { ${batch} return real.planRange({ task, stop }); }`,
  );
}

interface Planned extends PlanSummary {
  readonly identities: readonly string[];
}

async function planned(pool: DecisionPool, store: StateReader): Promise<Planned> {
  const identities: string[] = [];
  const summary = await pool.planAll(store, {
    now: NOW,
    onPage: (page) => {
      for (let index = 0; index < page.count; index++) identities.push(identityOf(page, index));
    },
  });
  return { ...summary, identities };
}

const ALL = Array.from({ length: JOBS }, (_, index) => jobAt(index).identity).sort();
/** Nothing of the thread goes on, and it takes no time from others. */
const STUCK = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
const FOREVER = "await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe("a worker that dies", () => {
  test.each<[string, Partial<PoolLimits>, (times: number) => string, number]>([
    ["in the middle of a batch", LIMITS, (times) => `if (${often(times)}) process.exit(7);`, 3],
    [
      "of an error nobody catches",
      LIMITS,
      (times) => `if (${often(times)}) { setImmediate(() => { throw new Error("x"); }); ${FOREVER} }`,
      2,
    ],
    ["of an error in a batch", LIMITS, (times) => `if (${often(times)}) throw new Error("x");`, 3],
    ["by getting stuck in a batch", SOON, (times) => `if (${often(times)}) ${STUCK}`, 1],
  ])("%s: no job is lost and none is planned twice", async (_, limits, batch, times) => {
    const { store } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, entry: poisoned("", batch(times)), limits });
    const { identities, rows, retries } = await planned(pool, store);
    expect([...identities].sort()).toEqual(ALL);
    expect({ rows, deaths: pool.status().deaths }).toEqual({ rows: JOBS, deaths: retries });
    expect(retries).toBeGreaterThanOrEqual(times);
  });

  test.each<[string, (times: number) => string, Partial<PoolLimits>]>([
    ["and ends", (times) => `if (${often(times)}) process.exit(3);`, LIMITS],
    ["and throws", (times) => `if (${often(times)}) throw new Error("x");`, LIMITS],
    ["and never is ready", (times) => `if (${often(times)}) ${FOREVER}`, SOON],
  ])("while it starts, %s: the batches that wait are not left waiting", async (_, start, limits) => {
    const { store } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, entry: poisoned(start(2), ""), limits });
    const { identities, retries } = await planned(pool, store);
    expect([...identities].sort()).toEqual(ALL);
    expect(retries).toBeGreaterThan(0);
  });

  test.each<[string, string, string]>([
    ["of one batch, each time", "", 'if (task.range.from.startsWith("8")) process.exit(7);'],
    ["of each batch", "", "process.exit(7);"],
    ["at every start", "process.exit(3);", ""],
  ])("%s: after a few attempts that is said, and the store is as it was", async (_, start, batch) => {
    const { store, term } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, entry: poisoned(start, batch), limits: { ...LIMITS, attempts: 3 } });
    await expect(planned(pool, store)).rejects.toMatchObject({
      code: "worker-died",
      message: expect.stringMatching(/^a batch was tried 3 times and its worker ended each time: ./),
    });
    const more = jobAt(5_000);
    await store.commit(term, { documents: [writesOf(documentOf(more))], definitions: [versionOf(more)] });
    expect((await planned(newPool({ threads: 1, limits: LIMITS }), store)).rows).toBe(JOBS + 1);
  });

  test("a program that is not there is said as well", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const entry = path.join(newDirectory(), "missing.mjs");
    const pool = newPool({ threads: 1, entry, limits: { ...LIMITS, attempts: 2 } });
    await expect(planned(pool, store)).rejects.toMatchObject({ code: "worker-died" });
  });

  test("a store that a worker cannot open is no death: what is wrong is said at once", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const missing = JSON.stringify(path.join(newDirectory(), "missing"));
    const batch = `task = { ...task, source: { ...task.source, at: ${missing} } };`;
    const pool = newPool({ threads: 1, entry: poisoned("", batch), limits: LIMITS });
    await expect(planned(pool, store)).rejects.toMatchObject({ code: "state-unreadable" });
    expect(pool.status().deaths).toBe(0);
  });
});

describe("planning that is not wanted any more", () => {
  test.each([0, 2])(
    "ends with the reason of the signal, and nothing is handed over afterwards (threads: %i)",
    async (threads) => {
      const { store, term, directory } = await openStore(quietJobs(JOBS));
      const pool = newPool({ threads, limits: LIMITS });
      const cancel = new AbortController();
      const reason = new Error("reload");
      let pages = 0;
      const onPage = (): void => {
        pages += 1;
        if (pages === 2) cancel.abort(reason);
      };
      await expect(pool.planAll(store, { now: NOW, signal: cancel.signal, onPage })).rejects.toBe(reason);
      expect(pages).toBe(2);
      expect((await planned(pool, store)).rows).toBe(JOBS);
      expect(pages).toBe(2);
      await pool.close();
      await store.close();
      term.release();
      expect(
        (await planned(newPool({ threads: 1, limits: LIMITS }), (await openStore(undefined, directory)).store)).rows,
      ).toBe(JOBS);
    },
  );

  test("batches under way are told, and their threads stay", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const seen = newDirectory();
    const until = (is: string): string => `while (Atomics.load(stop, 0) !== 1) { ${is} }`;
    const note = (name: string): string => `fs.writeFileSync(${JSON.stringify(seen)} + "/${name}", "");`;
    const entry = poisoned("", `${note("begun")} ${until("")} ${note("told")}`);
    const pool = newPool({ threads: 1, entry, limits: { ...LIMITS, idleMs: 600_000 } });
    const cancel = new AbortController();
    const planning = pool.planAll(store, { now: NOW, signal: cancel.signal, onPage: () => {} });
    await expect.poll(() => fs.readdirSync(seen), PATIENT).toEqual(["begun"]);
    cancel.abort(new Error("stop"));
    await expect(planning).rejects.toThrow("stop");
    await expect.poll(() => fs.readdirSync(seen), PATIENT).toEqual(["begun", "told"]);
    expect(pool.status()).toMatchObject({ threads: 1, deaths: 0 });
  });

  test("threads that are stuck are ended as well", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const stuck = newDirectory();
    const batch = `fs.writeFileSync(${JSON.stringify(stuck)} + "/" + task.range.from, ""); for (;;);`;
    const pool = newPool({ threads: 2, entry: poisoned("", batch), limits: LIMITS });
    const cancel = new AbortController();
    const planning = pool.planAll(store, { now: NOW, signal: cancel.signal, onPage: () => {} });
    await expect.poll(() => fs.readdirSync(stuck), PATIENT).toHaveLength(2);
    cancel.abort(new Error("stop"));
    await expect(planning).rejects.toThrow("stop");
    await expect.poll(() => pool.status().threads, PATIENT).toBe(0);
  });

  test("a signal that has come before lets nothing begin", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, limits: LIMITS });
    const onPage = (): void => {
      throw new Error("a page");
    };
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(pool.planAll(store, { now: NOW, signal, onPage })).rejects.toThrow("stop");
  });

  test("closing the pool ends what is under way; the store can be closed and opened again", async () => {
    const { store, term, directory } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, limits: LIMITS });
    const planning = pool.planAll(store, { now: NOW, onPage: () => pool.close() });
    await expect(planning).rejects.toThrow("the decision pool was closed");
    expect(pool.status().threads).toBe(0);
    await store.close();
    term.release();
    const again = await openStore(undefined, directory);
    expect(await again.store.counts()).toEqual({ documents: JOBS, ledger: 0, definitions: JOBS });
  });

  test("threads without work go", async () => {
    const { store } = await openStore(quietJobs(JOBS));
    const pool = newPool({ threads: 2, limits: LIMITS });
    await planned(pool, store);
    await expect.poll(() => pool.status().threads, PATIENT).toBe(0);
    expect((await planned(pool, store)).rows).toBe(JOBS);
  });
});
