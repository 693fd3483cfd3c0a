import { describe, expect, test } from "vitest";
import { memoryStore, type TaskStore } from "../../src/scheduler/index.js";
import { MONDAY, manualTask, plainStore, quickTask, recordOf, rigs, settle, VirtualHost } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;

/** A store that rejects while it is told to; through both doors, before the change or after it. */
function fragile(inner: TaskStore) {
  const state = { isBroken: false, survives: false, calls: 0 };
  const guard = async <T>(transact: () => Promise<T>): Promise<T> => {
    state.calls++;
    if (!state.isBroken) return transact();
    if (state.survives) await transact();
    throw new Error("disk full");
  };
  const { byName } = inner;
  const store: TaskStore = {
    transact: (update) => guard(() => inner.transact(update)),
    ...(byName === undefined
      ? {}
      : { byName: { revision: () => byName.revision(), transact: (update) => guard(() => byName.transact(update)) } }),
  };
  return { store, state };
}

const STORES: readonly (readonly [string, () => TaskStore])[] = [
  ["memory store", () => memoryStore()],
  ["plain store", () => plainStore()],
];

describe.each(STORES)("a store that fails: %s", (_, make) => {
  test("during initialize: rejects, changes nothing, tells, and can be tried again (P22)", async () => {
    const inner = make();
    const { store, state } = fragile(inner);
    const { host, scheduler, types, of } = rig(MONDAY, { store });
    const task = quickTask(host.clock.now);
    state.isBroken = true;
    await expect(scheduler.initialize([["a", "* * * * *", task.callback, 0]])).rejects.toMatchObject({
      name: "TaskStoreError",
      message: "Task store failed to reconcile: disk full",
      details: { cause: new Error("disk full") },
    });
    expect(types()).toEqual(["SchedulerInitializationStarted", "StoreFailed", "SchedulerInitializationFailed"]);
    expect(of("StoreFailed")[0]).toMatchObject({ operation: "reconcile", retryInMs: null });
    await host.advance(MINUTE);
    expect([task.starts, await inner.transact((records) => ({ result: records }))]).toEqual([[], []]);
    state.isBroken = false;
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    expect(task.starts).toEqual([MONDAY + MINUTE]);
  });

  test("while polling: told, retried with doubling pauses up to a bound, and the task runs once when it is back", async () => {
    const { store, state } = fragile(make());
    const { host, scheduler, of } = rig(MONDAY + 1, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "1 0 * * *", task.callback, 0]]);
    await settle();
    state.isBroken = true;
    await host.advanceTo(MONDAY + 5 * MINUTE);
    const pauses = of("StoreFailed").map(({ operation, retryInMs }) => [operation, retryInMs]);
    const expected = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((ms) => ["claim", ms]);
    expect(pauses.slice(0, 7)).toEqual(expected);
    expect(task.starts).toEqual([]);
    state.isBroken = false;
    await host.advance(30_000);
    expect(task.starts).toHaveLength(1);
    const failures = of("StoreFailed").length;
    state.isBroken = true;
    await host.advanceTo(MONDAY + 24 * 60 * MINUTE + MINUTE);
    expect(of("StoreFailed")[failures]?.retryInMs).toBe(1000);
    state.isBroken = false;
  });

  test("a completion that cannot be written is tried again; until then the task does not start (P8)", async () => {
    const inner = make();
    const { store, state } = fragile(inner);
    const { host, scheduler, of } = rig(MONDAY, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    state.isBroken = true;
    host.now = MONDAY + 50_000;
    task.succeed();
    await settle();
    expect(of("TaskRunCompleted")).toHaveLength(1);
    expect(of("StoreFailed").map(({ operation }) => operation)).toEqual(["complete"]);
    await host.advanceTo(MONDAY + 4 * MINUTE);
    expect(task.starts).toEqual([MONDAY]);
    state.isBroken = false;
    await host.advance(31_000);
    expect(await recordOf(inner, "a")).toMatchObject({ lastSuccessAt: MONDAY + 50_000 });
    expect(task.starts).toHaveLength(2);
    task.succeed();
  });

  test("stop resolves although nothing can be written; what was cut off is orphaned later, once (P18)", async () => {
    const inner = make();
    const { store, state } = fragile(inner);
    const { host, scheduler, of } = rig(MONDAY, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    state.isBroken = true;
    const stopped = scheduler.stop();
    task.succeed();
    await stopped;
    expect(of("StoreFailed").length).toBeGreaterThan(0);
    expect(of("StoreFailed").every(({ retryInMs }) => retryInMs === null)).toBe(true);
    state.isBroken = false;
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    task.succeed();
    await settle();
    expect(of("Reconciled").at(-1)?.orphaned).toEqual(["a"]);
    await host.advance(60 * MINUTE);
    expect(task.starts).toHaveLength(2);
  });

  test("stop resolves while the store fails at polling", async () => {
    const { store, state } = fragile(make());
    const { host, scheduler } = rig(MONDAY + 1, { store });
    await scheduler.initialize([["a", "1 0 * * *", async () => {}, 0]]);
    await settle();
    state.isBroken = true;
    await host.advance(MINUTE);
    await scheduler.stop();
    expect(host.isAsleep).toBe(false);
  });

  test("a claim that rejects and yet survives is started all the same, once", async () => {
    const { store, state } = fragile(make());
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "1 0 * * *", task.callback, 0]]);
    await settle();
    Object.assign(state, { isBroken: true, survives: true });
    await host.advanceTo(MONDAY + MINUTE + 500);
    expect(task.starts).toEqual([]);
    Object.assign(state, { isBroken: false, survives: false });
    await host.advance(10 * MINUTE);
    expect(task.starts).toHaveLength(1);
  });

  test("a completion that rejects and yet survives is not written twice", async () => {
    const inner = make();
    const { store, state } = fragile(inner);
    const { host, scheduler, of } = rig(MONDAY, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    Object.assign(state, { isBroken: true, survives: true });
    task.succeed();
    await settle();
    Object.assign(state, { isBroken: false, survives: false });
    await host.advance(10 * MINUTE);
    expect([task.starts.length, of("StoreFailed").length]).toEqual([1, 1]);
    expect(await recordOf(inner, "a")).toMatchObject({ lastSuccessAt: MONDAY });
  });
});

describe("a store behind the scheduler's back", () => {
  test.each(STORES)("is read again at every evaluation and never overwritten from memory: %s", async (_, make) => {
    const store = make();
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "30 0 * * *", task.callback, 0]]);
    await settle();
    await store.transact((records) => ({
      records: records.map((record) => ({ ...record, pendingRetryUntil: MONDAY + 90_000, note: "mine" })),
      result: 0,
    }));
    await host.advanceTo(MONDAY + 89_999);
    expect(task.starts).toEqual([]);
    await host.advanceTo(MONDAY + 2 * MINUTE);
    expect(task.starts).toEqual([MONDAY + 90_000]);
    expect(await recordOf(store, "a")).toMatchObject({ note: "mine", lastSuccessAt: MONDAY + 90_000 });
  });

  test.each(STORES)("a record that vanished is made anew and fenced: no run is repeated: %s", async (_, make) => {
    const store = make();
    const { host, scheduler } = rig(MONDAY, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    await store.transact(() => ({ records: [], result: 0 }));
    await host.jumpTo(MONDAY + 30_000);
    expect(task.starts).toEqual([MONDAY]);
    await host.advanceTo(MONDAY + MINUTE);
    expect(task.starts).toEqual([MONDAY, MONDAY + MINUTE]);
  });

  test.each(STORES)("a record damaged while polling is quarantined, and its task goes on: %s", async (_, make) => {
    const store = make();
    const { host, scheduler, of } = rig(MONDAY, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    await store.transact((records) => ({
      records: records.map((record) => ({ ...record, cronSince: "soon" as unknown as number })),
      result: 0,
    }));
    await host.advance(2 * MINUTE);
    expect(of("TaskRecordQuarantined")).toHaveLength(1);
    expect(task.starts).toEqual([MONDAY, MONDAY + 2 * MINUTE]);
  });

  test.each(STORES)("a completion whose record vanished changes nothing: %s", async (_, make) => {
    const store = make();
    const { host, scheduler } = rig(MONDAY, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    await store.transact(() => ({ records: [], result: 0 }));
    task.fail();
    await host.advance(MINUTE);
    expect(await recordOf(store, "a")).toMatchObject({ lastAttemptAt: null, pendingRetryUntil: null });
    expect(task.starts).toHaveLength(1);
  });
});

describe("other things that fail", () => {
  test("a store whose release fails: stop resolves, and tells", async () => {
    const store = { ...memoryStore(), release: () => Promise.reject(new Error("busy")) };
    const { scheduler, types } = rig(MONDAY, { store });
    await scheduler.initialize([]);
    await scheduler.stop();
    expect(types().slice(-2)).toEqual(["StoreFailed", "SchedulerStopped"]);
  });

  test("a sleeper that rejects is logged, and the loop goes on", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const errors: string[] = [];
    let isBroken = true;
    const sleeper = {
      sleep: (ms: number) => (isBroken ? Promise.reject(new Error("insomnia")) : host.sleeper.sleep(ms)),
      wake: () => host.sleeper.wake(),
    };
    const logger = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (_: object, text: string) => errors.push(text),
    };
    const { scheduler } = rig(MONDAY + 1, { host, sleeper, logger });
    await scheduler.initialize([["a", "1 0 * * *", async () => {}, 0]]);
    await settle();
    expect(errors).toEqual(["the sleeper failed"]);
    isBroken = false;
    await scheduler.stop();
  });

  test("a clock that fails for a while ends nothing", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const task = quickTask(host.clock.now);
    let isBroken = false;
    const clock = { now: () => (isBroken ? Number.NaN : host.now), timeZone: () => "UTC" };
    const { scheduler } = rig(MONDAY + 1, { host, clock });
    await scheduler.initialize([["a", "1,2 0 * * *", task.callback, 0]]);
    await settle();
    isBroken = true;
    await host.advanceTo(MONDAY + MINUTE + 500);
    isBroken = false;
    await host.advanceTo(MONDAY + 3 * MINUTE);
    expect(task.starts).toHaveLength(2);
  });

  test("a clock that never worked: initialize rejects with the reason as cause", async () => {
    const { scheduler } = rig(MONDAY, { clock: { now: () => Number.NaN, timeZone: () => "UTC" } });
    await expect(scheduler.initialize([])).rejects.toMatchObject({
      name: "SchedulerInitializationError",
      details: { cause: expect.any(RangeError) },
    });
  });
});
