import { describe, expect, test } from "vitest";
import {
  type FaultyStore,
  faultyStore,
  InjectedStoreError,
  memoryStore,
  virtualTime,
} from "../../../src/scheduler/testing/index.js";
import type { TaskRecord, TaskStore } from "../../../src/scheduler/types.js";

const RECORD: TaskRecord = {
  name: "x",
  cron: "* * * * *",
  retryDelayMs: 0,
  cronSince: 0,
  lastAttemptAt: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  pendingRetryUntil: null,
};

function names(store: TaskStore): Promise<readonly string[]> {
  return store.transact((records) => ({ result: records.map((record) => record.name) }));
}

/** The two doors of a store, and the same change through each. */
const DOORS = [
  {
    door: "all records",
    add: (store: FaultyStore) => store.transact((records) => ({ records: [...records, RECORD], result: "done" })),
  },
  {
    door: "single records",
    add: (store: FaultyStore) => store.byName?.transact(() => ({ put: [RECORD], result: "done" })),
  },
];

describe.each(DOORS)("a store that fails on command, by $door", ({ add }) => {
  test("passes everything on", async () => {
    const store = faultyStore(memoryStore());
    expect(await add(store)).toBe("done");
    expect(await names(store)).toEqual(["x"]);
    expect(store.transactions()).toBe(2);
  });

  test("fails before the commit: nothing changed", async () => {
    const store = faultyStore(memoryStore());
    store.failNext(1);
    await expect(add(store)).rejects.toThrow(InjectedStoreError);
    expect(await names(store)).toEqual([]);
  });

  test("fails after the commit: the change survives", async () => {
    const store = faultyStore(memoryStore());
    store.failNext(1, "after-commit");
    await expect(add(store)).rejects.toThrow(InjectedStoreError);
    expect(await names(store)).toEqual(["x"]);
  });

  test("fails at a chosen transaction, and not after healing", async () => {
    const store = faultyStore(memoryStore());
    store.failAt(2);
    store.failAt(3);
    await names(store);
    await expect(names(store)).rejects.toThrow(InjectedStoreError);
    store.heal();
    expect(await add(store)).toBe("done");
  });

  test("takes its time, and later transactions wait in line", async () => {
    const time = virtualTime({ startAt: 0 });
    const store = faultyStore(memoryStore(), time);
    const order: string[] = [];
    store.delayNext(1, 500);
    void add(store)?.then(() => order.push(`slow at ${time.clock.now()}`));
    void names(store).then((found) => order.push(`next saw ${found.join()} at ${time.clock.now()}`));
    await time.advance(499);
    expect(order).toEqual([]);
    await time.advance(1);
    expect(order).toEqual(["slow at 500", "next saw x at 500"]);
  });

  test("calls back before anything is computed, and when it is durable", async () => {
    const store = faultyStore(memoryStore());
    const seen: string[] = [];
    store.at(1, "before-commit", () => seen.push("before"));
    store.at(1, "after-commit", () => seen.push("after"));
    await add(store)?.then(() => seen.push("resolved"));
    expect(seen).toEqual(["before", "after", "resolved"]);
  });
});

test("a delay needs virtual time", () => {
  expect(() => faultyStore(memoryStore()).delayNext(1, 10)).toThrow("virtual time");
});

test("a store without access to single records keeps having none", () => {
  const { transact } = memoryStore();
  expect(faultyStore({ transact }).byName).toBeUndefined();
});
