import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/scheduler/index.js";
import {
  MONDAY,
  manualTask,
  plainStore,
  quickTask,
  recordOf,
  recordsOf,
  rigs,
  settle,
  VirtualHost,
} from "./support.js";

const rig = rigs();
const MINUTE = 60_000;
const STORES: readonly (readonly [string, () => ReturnType<typeof memoryStore>])[] = [
  ["memory store", () => memoryStore()],
  ["plain store", () => plainStore()],
];

/** A scheduler that is never heard of again: its host stands still, and its run is left open. */
async function crashed(store: ReturnType<typeof memoryStore>, cron: string, retryDelayMs = 0) {
  const host = new VirtualHost(MONDAY);
  const { createScheduler } = await import("../../src/scheduler/index.js");
  const task = manualTask(host.clock.now);
  const scheduler = createScheduler({ clock: host.clock, sleeper: host.sleeper, store, logger: quiet });
  await scheduler.initialize([["a", cron, task.callback, retryDelayMs]]);
  await settle();
  return { host, task };
}
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe.each(STORES)("orphans: %s", (_, make) => {
  test("P19: a run cut off by a crash is restarted at once, and once, whatever cron says", async () => {
    const store = make();
    const dead = await crashed(store, "0 0 * * *");
    expect((await recordOf(store, "a")).runningBy).toBeTypeOf("string");
    const { host, scheduler, of } = rig(MONDAY + 10_000, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    expect(of("Reconciled")[0]?.orphaned).toEqual(["a"]);
    await host.advance(60 * MINUTE);
    expect([dead.task.starts, task.starts]).toEqual([[MONDAY], [MONDAY + 10_000]]);
    expect(of("TaskRunStarted")[0]).toMatchObject({ cause: "orphan", dueAt: MONDAY + 10_000 });
  });

  test("P26: a late completion of the dead instance changes nothing, before the restart and after it", async () => {
    const store = make();
    const dead = await crashed(store, "0 0 * * *");
    const { host, scheduler } = rig(MONDAY + 10_000, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    const before = await recordsOf(store);
    dead.task.succeed();
    await Promise.resolve();
    await Promise.resolve();
    expect(await recordsOf(store)).toEqual(before);
    await settle();
    expect(task.starts).toEqual([MONDAY + 10_000]);
    expect((await recordOf(store, "a")).lastSuccessAt).toBeNull();
    task.fail();
    await settle();
    expect((await recordOf(store, "a")).lastFailureAt).toBe(MONDAY + 10_000);
    task.succeed();
  });

  test("P26: also when the new instance already runs the task", async () => {
    const store = make();
    const dead = await crashed(store, "0 0 * * *");
    const { host, scheduler } = rig(MONDAY + 10_000, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    const before = await recordsOf(store);
    dead.task.fail();
    await settle();
    expect(await recordsOf(store)).toEqual(before);
    task.succeed();
  });

  test("P18: an orphan whose restart was itself prevented stays owed", async () => {
    const store = make();
    await crashed(store, "0 0 * * *");
    const stopped = rig(MONDAY + 10_000, { store });
    await stopped.scheduler.initialize([["a", "0 0 * * *", async () => {}, 0]]);
    await stopped.scheduler.stop();
    const { host, scheduler } = rig(MONDAY + 20_000, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await host.advance(MINUTE);
    expect(task.starts).toEqual([MONDAY + 20_000]);
  });

  test("P19: never after a clean stop", async () => {
    const store = make();
    const first = rig(MONDAY, { store });
    const task = quickTask(first.host.clock.now);
    await first.scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await settle();
    await first.scheduler.stop();
    const second = rig(MONDAY + 10_000, { store });
    await second.scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await second.host.advance(MINUTE);
    expect(second.of("Reconciled")[0]?.orphaned).toEqual([]);
    expect(task.starts).toEqual([MONDAY]);
  });

  test("P16: an orphan that is absent from one list is forgotten", async () => {
    const store = make();
    await crashed(store, "0 0 * * *");
    const { host, scheduler } = rig(MONDAY + 2 * MINUTE, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([]);
    await scheduler.stop();
    await scheduler.initialize([["a", "0 0 * * *", task.callback, 0]]);
    await host.advance(MINUTE);
    expect(task.starts).toEqual([]);
  });
});

test("every initialize has its own identifier, by newId when given", async () => {
  const ids = ["one", "two"];
  const { scheduler, of } = rig(MONDAY, { newId: () => ids.shift() ?? "none left" });
  await scheduler.initialize([]);
  await scheduler.stop();
  await scheduler.initialize([]);
  expect(of("SchedulerInitializationCompleted").map(({ schedulerId }) => schedulerId)).toEqual(["one", "two"]);
});
