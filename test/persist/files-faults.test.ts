/**
 * R2, R3 for the files backend: power is cut before and after every single operation of a story, and every operation
 * fails once with EIO and once with ENOSPC. After each the store is opened again and must hold a prefix of the story:
 * everything that was acknowledged, and no batch in part.
 */
import { afterAll, describe, expect, test } from "vitest";
import { KronError } from "../../src/core/base/errors/kron-error.js";
import { openFilesStoreOn } from "../../src/persist/files/open.js";
import { documentKey } from "../../src/persist/keys.js";
import { acquireMemoryLock } from "../../src/persist/lock.js";
import type { Batch, StateStore } from "../../src/persist/store.js";
import { must } from "./store-contract.js";
import { type DiskFault, type Keep, SimulatedDisk } from "./support/simulated-disk.js";

const JOBS = ["a", "b", "c"];

/** Batch n writes n into everything it touches, so that a part of it can be told from all of it. */
function batchOf(n: number): Batch {
  const touched = n % 3 === 2 ? ["a"] : JOBS;
  const documents = touched.map((job) => ({ key: documentKey(job), text: `${n}` }));
  // One file of the ledger and nothing else.
  if (n === 4) return { removed: { ledger: [{ identity: "a", at: 3, kind: "period" }] } };
  // STATE's own way: one document and nothing else.
  if (n % 3 === 2) return { documents };
  return {
    documents,
    ledger: touched.map((identity) => ({ identity, at: n, kind: "period", text: `${n}` })),
    definitions: [{ identity: "a", definedAt: n, text: `${n}` }],
    meta: [{ key: "last", text: `${n}` }],
    objects: [{ key: "t/a", text: `${n}` }, n % 2 === 0 ? { key: "t/b", text: null } : { key: "t/b", text: `${n}` }],
    alive: { bootedAt: 1, at: n },
    ...(n > 3 ? { removed: { ledger: [{ identity: "b", at: n - 3, kind: "period" }] } } : {}),
  };
}

/** Everything that a batch touches, as the store tells it. */
async function look(store: StateStore): Promise<unknown> {
  const documents = await Promise.all(JOBS.map(async (job) => (await store.get(job))?.text ?? ""));
  const ledger = await Promise.all(
    JOBS.map(async (job) => (await store.ledgerLatest(job, 99)).map((it) => it.text).join()),
  );
  const definitions = (await store.definitionVersions("a")).map((it) => it.text);
  const objects = await store.objects({ prefix: "t/", limit: 9 });
  const [last, alive] = [await store.meta("last"), await store.aliveSpans(null, 0, 99)];
  return { documents, ledger, definitions, objects, last, alive };
}

async function openOn(disk: SimulatedDisk): Promise<{ store: StateStore; close: () => Promise<void>; commit: Commit }> {
  const term = must(acquireMemoryLock({}, "/state"));
  const store = must(await openFilesStoreOn(disk, term));
  return { store, close: () => store.close(), commit: (n) => store.commit(term, batchOf(n)) };
}
type Commit = (n: number) => Promise<unknown>;

const STORY = 7;

/** What the store must tell after the first n batches, for each n. */
async function tellings(): Promise<unknown[]> {
  const { store, commit } = await openOn(new SimulatedDisk());
  const told = [await look(store)];
  for (let n = 1; n <= STORY + 1; n += 1) {
    await commit(n);
    told.push(await look(store));
  }
  return told;
}

interface Outcome {
  readonly acknowledged: number;
  readonly error: unknown;
}

async function tell(disk: SimulatedDisk): Promise<Outcome> {
  let acknowledged = 0;
  try {
    const { commit } = await openOn(disk);
    for (let n = 1; n <= STORY; n += 1) {
      await commit(n);
      acknowledged = n;
    }
    return { acknowledged, error: null };
  } catch (error) {
    return { acknowledged, error };
  }
}

/** A repeatable coin. */
function coin(seed: number): Keep {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % 4096 < 2048;
  };
}

const survivals: readonly { name: string; keep: (seed: number) => Keep }[] = [
  { name: "nothing that was not synced survives", keep: () => () => false },
  { name: "everything survives", keep: () => () => true },
  { name: "some of it survives", keep: (seed) => coin(seed) },
];

let cases = 0;
afterAll(() => console.info(`files backend: ${cases} crash and fault points, each opened again`));

async function stepsOfStory(): Promise<number> {
  const disk = new SimulatedDisk();
  disk.plan(null);
  await tell(disk);
  return disk.operations.length;
}

async function check(fault: DiskFault, keep: (seed: number) => Keep): Promise<void> {
  const told = await tellings();
  const steps = await stepsOfStory();
  expect(steps).toBeGreaterThan(100);
  for (let step = 1; step <= steps; step += 1) {
    const disk = new SimulatedDisk();
    disk.plan({ step, fault });
    const outcome = await tell(disk);
    const operation = disk.operations.at(-1);
    expect(outcome.error, `${fault} at step ${step}`).toBeInstanceOf(KronError);
    disk.restart(keep(step));
    const again = await openOn(disk);
    const found = await look(again.store);
    const possible = [told[outcome.acknowledged], told[outcome.acknowledged + 1]];
    expect(possible, `${fault} at step ${step}: ${operation}, acknowledged ${outcome.acknowledged}`).toContainEqual(
      found,
    );
    // Life goes on from there.
    await again.commit(STORY + 1);
    expect((await again.store.get("a"))?.text).toBe(`${STORY + 1}`);
    cases += 1;
  }
}

describe("R2: power is cut at every operation", () => {
  for (const fault of ["crash-before", "crash-after"] as const) {
    for (const survival of survivals) {
      test(`${fault}, ${survival.name}`, () => check(fault, survival.keep));
    }
  }
});

describe("R2: power is cut again while the store recovers", () => {
  for (const survival of survivals) {
    test(survival.name, async () => {
      const told = await tellings();
      const steps = await stepsOfStory();
      for (let step = 1; step <= steps; step += 1) {
        const disk = new SimulatedDisk();
        disk.plan({ step, fault: "crash-after" });
        const { acknowledged } = await tell(disk);
        disk.restart(survival.keep(step));
        // Recovery takes up to about twenty operations; each of them is hit by some step of the story.
        disk.plan({ step: 1 + (step % 20), fault: "crash-before" });
        await openOn(disk).catch(() => undefined);
        disk.restart(survival.keep(step + 1));
        const found = await look((await openOn(disk)).store);
        expect([told[acknowledged], told[acknowledged + 1]], `step ${step}`).toContainEqual(found);
        cases += 1;
      }
    });
  }
});

describe("R3: every operation fails once", () => {
  for (const fault of ["EIO", "ENOSPC"] as const) {
    for (const survival of survivals) test(`${fault}, then ${survival.name}`, () => check(fault, survival.keep));
  }

  test("a failed write is a fatal PersistenceError, and the store takes no more writes and tells no halves", async () => {
    const disk = new SimulatedDisk();
    const { store, commit } = await openOn(disk);
    await commit(1);
    disk.plan({ step: 9, fault: "EIO" });
    const errors = await Promise.all([commit(2).catch((it) => it), commit(3).catch((it) => it)]);
    disk.plan(null);
    errors.push(await commit(4).catch((it) => it));
    const expected = { code: "state-write-failed", category: "PersistenceError", isFatal: true };
    expect(errors).toMatchObject([expected, expected, expected]);
    await expect(store.get("a")).rejects.toMatchObject({ code: "state-unreadable" });
  });
});
