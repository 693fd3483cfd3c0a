import { describe, expect, test } from "vitest";
import { createScheduler, memoryStore } from "../../src/scheduler/index.js";
import {
  MONDAY,
  manualTask,
  microtasks,
  plainStore,
  quickTask,
  recordOf,
  rigs,
  settle,
  silentLogger,
} from "./support.js";

const rig = rigs();
const MINUTE = 60_000;
const STORES: readonly (readonly [string, () => ReturnType<typeof memoryStore>])[] = [
  ["memory store", () => memoryStore()],
  ["plain store", () => plainStore()],
];

describe("retry after a failure", () => {
  test.each(STORES)("P13: at the end of the failed run plus the delay, and no moment earlier: %s", async (_, make) => {
    const { host, scheduler, store } = rig(MONDAY, { store: make() });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 90_000]]);
    await host.advance(10_000);
    task.fail();
    await settle();
    expect(await recordOf(store, "a")).toMatchObject({
      lastAttemptAt: MONDAY,
      lastFailureAt: MONDAY + 10_000,
      lastSuccessAt: null,
      pendingRetryUntil: MONDAY + 100_000,
    });
    await host.advanceTo(MONDAY + 99_999);
    expect(task.starts).toEqual([MONDAY]);
    await host.advance(1);
    expect(task.starts).toEqual([MONDAY, MONDAY + 100_000]);
    task.succeed();
    await settle();
    const record = await recordOf(store, "a");
    expect(record).toMatchObject({ lastSuccessAt: MONDAY + 100_000, pendingRetryUntil: null });
    expect(record).not.toHaveProperty("runningBy");
    await host.advance(60 * MINUTE);
    expect(task.starts).toHaveLength(2);
  });

  test.each(STORES)("P13: nor at an evaluation that happens to come just before: %s", async (_, make) => {
    const { host, scheduler } = rig(MONDAY, { store: make() });
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, MINUTE + 1]]);
    await host.advance(MINUTE);
    await host.jumpTo(MONDAY + MINUTE);
    expect(task.starts).toEqual([MONDAY]);
    await host.advance(1);
    expect(task.starts).toEqual([MONDAY, MONDAY + MINUTE + 1]);
  });

  test("P14, P15: a new occurrence pre-empts the retry and resolves it", async () => {
    const { host, scheduler, of, types } = rig(MONDAY);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0,1 0 * * *", task.callback, "PT10M"]]);
    await settle();
    task.fail();
    await host.advance(MINUTE);
    expect(task.starts).toEqual([MONDAY, MONDAY + MINUTE]);
    expect(of("TaskRetryPreempted")).toEqual([
      { type: "TaskRetryPreempted", at: MONDAY + MINUTE, name: "a", pendingRetryUntil: MONDAY + 10 * MINUTE },
    ]);
    expect(types().slice(-2)).toEqual(["TaskRetryPreempted", "TaskRunStarted"]);
    task.succeed();
    await host.advance(20 * MINUTE);
    expect(task.starts).toHaveLength(2);
  });

  test("P15: an occurrence just before the retry makes the retry void", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0,5 0 * * *", task.callback, 5 * MINUTE + 1000]]);
    await settle();
    task.fail();
    await host.advance(5 * MINUTE);
    task.succeed();
    await host.advance(5 * MINUTE);
    expect(task.starts).toEqual([MONDAY, MONDAY + 5 * MINUTE]);
  });

  test("retries are told as TaskRetryStarted, with the instant from which they were due", async () => {
    const { host, scheduler, events } = rig(MONDAY);
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 1000]]);
    await host.advance(1000);
    expect(events.slice(-4)).toEqual([
      { type: "TaskRunStarted", at: MONDAY, name: "a", cause: "boot", dueAt: MONDAY },
      {
        type: "TaskRunFailed",
        at: MONDAY,
        name: "a",
        startedAt: MONDAY,
        error: new Error("no luck"),
        pendingRetryUntil: MONDAY + 1000,
      },
      { type: "TaskRetryStarted", at: MONDAY + 1000, name: "a", dueAt: MONDAY + 1000 },
      expect.objectContaining({ type: "TaskRunFailed", startedAt: MONDAY + 1000 }),
    ]);
  });

  test("a callback that throws before it returns a promise has failed", async () => {
    const { host, scheduler, of } = rig(MONDAY);
    const callback = (): Promise<void> => {
      throw new Error("at once");
    };
    await scheduler.initialize([["a", "0 0 * * *", callback, MINUTE]]);
    await settle();
    expect(of("TaskRunFailed").map(({ error }) => error)).toEqual([new Error("at once")]);
    await host.advance(MINUTE);
    expect(of("TaskRetryStarted")).toHaveLength(1);
  });
});

describe("a zero retry delay", () => {
  test.each(STORES)("between two attempts the loop sleeps: %s", async (_, make) => {
    const { host, scheduler } = rig(MONDAY, { store: make() });
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    expect(task.starts).toEqual([MONDAY]);
    await host.advance(3);
    expect(task.starts).toEqual([MONDAY, MONDAY + 1, MONDAY + 2, MONDAY + 3]);
  });

  test.each(STORES)("two such tasks do not keep each other from yielding: %s", async (_, make) => {
    const { host, scheduler } = rig(MONDAY, { store: make() });
    const tasks = [quickTask(host.clock.now, true), quickTask(host.clock.now, true)];
    await scheduler.initialize(tasks.map((task, i) => [`t${i}`, "0 0 * * *", task.callback, 0]));
    await settle();
    expect(tasks.map(({ starts }) => starts)).toEqual([[MONDAY], [MONDAY]]);
    await host.advance(1);
    expect(tasks.map(({ starts }) => starts)).toEqual([
      [MONDAY, MONDAY + 1],
      [MONDAY, MONDAY + 1],
    ]);
  });

  test("timers get their turn even if the sleeper never lets time pass", async () => {
    let attempts = 0;
    const scheduler = createScheduler({
      clock: { now: () => MONDAY, timeZone: () => "UTC" },
      sleeper: { sleep: async () => {}, wake: () => {} },
      store: memoryStore(),
      logger: silentLogger,
    });
    const callback = async (): Promise<void> => {
      attempts++;
      throw new Error("no luck");
    };
    await scheduler.initialize([["a", "0 0 * * *", callback, 0]]);
    await new Promise((resolve) => setTimeout(resolve, 0));
    await settle();
    expect(attempts).toBeGreaterThan(1);
    const before = attempts;
    await microtasks();
    expect(attempts - before).toBeLessThanOrEqual(1);
    await scheduler.stop();
  });
});
