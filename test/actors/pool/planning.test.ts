import { describe, expect, test } from "vitest";
import type { DecisionPool, PlannedPage, PlanOptions, PoolLimits } from "../../../src/actors/pool/types.js";
import { STANDINGS } from "../../../src/core/restart/resting.js";
import type { StateDocument } from "../../../src/core/state/document.js";
import { DEFINITION_READER } from "../../../src/persist/definition-reader.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { Batch, StateReader } from "../../../src/persist/store.js";
import { must } from "../../persist/store-contract.js";
import { identityOf } from "./support/pages.js";
import { pools } from "./support/pools.js";
import { documentOf, jobAt, NOW, versionOf, writesOf } from "./support/stored-jobs.js";
import { lmdbStores, quietJobs } from "./support/stores.js";
import { builtWorker } from "./support/worker.js";

const worker = builtWorker();
const newPool = pools(worker.entry);
const openStore = lmdbStores();

const JOBS = 700;
const SMALL: Partial<PoolLimits> = { inlineDocuments: 0, pageRows: 64 };

function handled(id: string): Partial<StateDocument> {
  return { LastHandledPeriodID: id, LastNominalTime: id, LastOutcome: "executed" };
}

/** Jobs of every standing. */
function mixedJobs(): Batch {
  const jobs = Array.from({ length: JOBS }, (_, index) => jobAt(index, { policy: { suspend: index % 11 === 0 } }));
  const running = { PeriodID: "2026-11-18T13:00:00Z", PID: 42, StartedAt: "2026-11-18T13:00:00Z", ChosenTime: "" };
  const documents = jobs.flatMap((job, index) => {
    const document = documentOf(job);
    const broken = { key: documentKey(job.identity), text: "{" };
    const kinds = [
      [],
      [writesOf({ ...document, RemovedAt: "2026-11-18T13:00:00Z" })],
      [writesOf({ ...document, DefinitionHash: "other" })],
      [writesOf({ ...document, ActiveExecution: running })],
      [writesOf({ ...document, ...handled("2026-11-01T00:00:00Z") })],
      [writesOf({ ...document, ...handled("2030-01-01T00:00:00Z") })],
      [writesOf({ ...document, Pause: { Until: "2026-11-18T15:00:00Z", Reason: "work" } })],
      [broken],
    ];
    return kinds[index % 16] ?? [writesOf(document)];
  });
  const definitions = jobs.flatMap((job, index) => {
    const old = versionOf({ ...job, schedule: "99 * * * *" }, NOW - 2_000_000);
    const removed = { identity: job.identity, definedAt: NOW - 500_000, text: null };
    const later = versionOf(job, NOW + 1_000_000);
    const kinds = [[versionOf(job)], [old, versionOf(job), removed], [old, versionOf(job)], [old], [later], []];
    return kinds[index % 9] ?? [versionOf(job)];
  });
  return { documents, definitions };
}

type Row = Readonly<Record<string, unknown>>;

function rowsOf(page: PlannedPage): Row[] {
  return Array.from({ length: page.count }, (_, index) => ({
    identity: identityOf(page, index),
    standing: STANDINGS[page.standing[index] as number],
    content: [page.contentHash[2 * index], page.contentHash[2 * index + 1]],
    liveAt: page.liveAt[index],
    wakeAt: page.wakeAt[index],
    problems: page.problems.filter((problem) => problem.index === index).map(({ index: _, ...rest }) => rest),
  }));
}

function byName(a: Row, b: Row): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** What was planned, in an order that does not depend on who did it. */
async function planned(pool: DecisionPool, store: StateReader, more: Partial<PlanOptions> = {}): Promise<Row[]> {
  const rows: Row[] = [];
  await pool.planAll(store, { now: NOW, onPage: (page) => void rows.push(...rowsOf(page)), ...more });
  return rows.sort(byName);
}

describe("planning every job of a store", () => {
  test("gives the same in threads, on this thread, and from any other store", async () => {
    const batch = mixedJobs();
    const { store } = await openStore(batch);
    const disk = new MemoryDisk("pool");
    const term = must(acquireMemoryLock(disk, disk.storeId));
    const memory = must(openMemoryStore(term, disk));
    await memory.commit(term, batch);
    const pool = newPool({ threads: 2, limits: SMALL });
    const inThreads = await planned(pool, store);
    expect(pool.status()).toMatchObject({ threads: 2, deaths: 0 });
    expect(new Set(inThreads.map(({ standing }) => standing))).toEqual(new Set(STANDINGS));
    const named = inThreads.map(({ identity }) => identity).filter((identity) => identity !== "");
    expect(new Set(named).size).toBe(named.length);
    expect(await planned(newPool({ threads: 0 }), store)).toEqual(inThreads);
    expect(await planned(pool, memory)).toEqual(inThreads);
  });

  test("S16: each job is planned by the version of its definition that was written last", async () => {
    const job = jobAt(1);
    const old = { ...job, schedule: "0 0 1 1 *" };
    const { store, term } = await openStore({
      documents: [writesOf(documentOf(job))],
      definitions: [versionOf(old, NOW - 2_000), versionOf(job, NOW - 1_000)],
    });
    const pool = newPool({ threads: 1, limits: SMALL });
    const standings = async (): Promise<unknown[]> => (await planned(pool, store)).map(({ standing }) => standing);
    expect(await standings()).toEqual(["QUIET"]);
    await store.commit(term, { definitions: [versionOf(old, NOW)] });
    expect(await standings()).toEqual(["DEFINE"]);
    await store.commit(term, { definitions: [{ identity: job.identity, definedAt: NOW + 5_000, text: null }] });
    expect(await standings()).toEqual(["MISSING"]);
  });

  test("a thread that has read the store before sees what was committed since", async () => {
    const { store, term } = await openStore(quietJobs(100));
    const pool = newPool({ threads: 1, limits: SMALL });
    expect(await planned(pool, store)).toHaveLength(100);
    const more = jobAt(1_000);
    await store.commit(term, { documents: [writesOf(documentOf(more))], definitions: [versionOf(more)] });
    expect(await planned(pool, store)).toHaveLength(101);
  });

  test("definitions are read with care once by each version of the program, and then relied on", async () => {
    const { store, term } = await openStore(quietJobs(20));
    const pool = newPool({ threads: 0 });
    const isCurrent = async (): Promise<boolean> => (await pool.planAll(store, { now: NOW, onPage })).isCurrent;
    const onPage = (): void => {};
    expect(await isCurrent()).toBe(false);
    await store.commit(term, { meta: [DEFINITION_READER] });
    expect(await isCurrent()).toBe(true);
    await store.commit(term, { meta: [{ ...DEFINITION_READER, text: "0.0.1" }] });
    expect(await isCurrent()).toBe(false);
  });

  test("pages are handed over one at a time, and no more are made than wait for their turn", async () => {
    const { store } = await openStore(quietJobs(1_000));
    const pool = newPool({ threads: 2, limits: { ...SMALL, pageRows: 50, batchesPerThread: 2 } });
    const progress: number[] = [];
    let [inHand, pages, aheadMost] = [0, 0, 0];
    const summary = await pool.planAll(store, {
      now: NOW,
      onPage: async () => {
        inHand += 1;
        expect(inHand).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        aheadMost = Math.max(aheadMost, pool.status().batches - pages);
        pages += 1;
        inHand -= 1;
      },
      onProgress: ({ done, total }) => void progress.push(done / total),
    });
    expect(summary).toEqual({ rows: 1_000, pages: 20, isPooled: true, retries: 0, isCurrent: false });
    expect(aheadMost).toBeLessThanOrEqual(4);
    expect(progress.at(-1)).toBe(1);
    expect([...progress].sort((a, b) => a - b)).toEqual(progress);
  });

  test("whoever asks is told first how many documents there are", async () => {
    const { store } = await openStore(quietJobs(130));
    for (const threads of [0, 2]) {
      const told: string[] = [];
      await newPool({ threads, limits: SMALL }).planAll(store, {
        now: NOW,
        onCount: (documents) => void told.push(`${documents} documents`),
        onPage: () => void told.push("a page"),
      });
      expect(told.slice(0, 2)).toEqual(["130 documents", "a page"]);
      expect(told.lastIndexOf("130 documents")).toBe(0);
    }
  });

  test("small stores and empty ones take no thread", async () => {
    const pool = newPool({ threads: 2 });
    const { store } = await openStore();
    expect(await planned(pool, store)).toEqual([]);
    const { store: small } = await openStore(quietJobs(300));
    expect(await planned(pool, small)).toHaveLength(300);
    expect(pool.status()).toEqual({ threads: 0, batches: 0, deaths: 0 });
  });

  test("what the reader of a page throws ends the planning", async () => {
    const { store } = await openStore(quietJobs(400));
    const trouble = new Error("no room");
    const onPage = (): void => {
      throw trouble;
    };
    for (const threads of [0, 2]) {
      const pool = newPool({ threads, limits: SMALL });
      await expect(pool.planAll(store, { now: NOW, onPage })).rejects.toBe(trouble);
    }
  });
});
