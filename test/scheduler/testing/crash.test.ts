import { describe, expect, test } from "vitest";
import { createScheduler } from "../../../src/scheduler/index.js";
import {
  controlledTask,
  crash,
  crashable,
  hasCrashed,
  memoryStore,
  traceRecorder,
  virtualTime,
} from "../../../src/scheduler/testing/index.js";
import type { Registration, Scheduler, TaskRecord, TaskStore } from "../../../src/scheduler/types.js";

function readAll(store: TaskStore): Promise<readonly TaskRecord[]> {
  return store.transact((records) => ({ result: records }));
}

/** A scheduler in the middle of a run at noon. */
async function stage() {
  const time = virtualTime({ startAt: "2026-06-15T11:59:30Z" });
  const store = memoryStore();
  const task = controlledTask(time);
  const events: string[] = [];
  const list: readonly Registration[] = [["x", "0 * * * *", task.callback, 0]];
  const boot = (): Scheduler =>
    crashable(createScheduler, {
      clock: time.clock,
      sleeper: time.newSleeper(),
      store,
      onEvent: (event) => events.push(event.type),
    });
  const scheduler = boot();
  await scheduler.initialize(list);
  await time.advance(60_000);
  return { time, store, task, list, boot, scheduler, events };
}

describe("a crash", () => {
  test("cuts off the store: what ends later leaves no trace there", async () => {
    const { time, store, task, scheduler, events } = await stage();
    crash(scheduler);
    const [before, told] = [await readAll(store), events.length];
    task.succeed();
    await time.advance(7_200_000);
    expect(await readAll(store)).toEqual(before);
    expect(task.runs).toHaveLength(1);
    expect(events).toHaveLength(told);
    expect(hasCrashed(scheduler)).toBe(true);
  });

  test("loses a transaction that was under way", async () => {
    const time = virtualTime({ startAt: 0 });
    const store = memoryStore();
    const scheduler = crashable(createScheduler, { clock: time.clock, sleeper: time.newSleeper(), store });
    void scheduler.initialize([["x", "0 * * * *", async () => {}, 0]]);
    crash(scheduler);
    await time.advance(1_000);
    expect(await readAll(store)).toEqual([]);
  });

  test("of a zombie lets the ends of runs through, and only those", async () => {
    const { time, store, task, scheduler } = await stage();
    crash(scheduler, "zombie");
    await time.advance(7_200_000);
    expect(task.runs).toHaveLength(1);
    task.succeed();
    await time.settle();
    expect((await readAll(store))[0]?.runningBy).toBeUndefined();
  });

  test("P26: a zombie whose task was taken over changes nothing, and would be told of", async () => {
    const { time, store, task, list, boot, scheduler } = await stage();
    const recorder = traceRecorder(time);
    recorder.watch(scheduler);
    crash(scheduler, "zombie");
    await boot().initialize(list);
    await time.advance(1_000);
    const before = await readAll(store);
    task.runs[0]?.succeed();
    await time.settle();
    expect(await readAll(store)).toEqual(before);
    expect(recorder.trace().actions.map((action) => action.kind)).toEqual(["Crash"]);
  });

  test("happens once", async () => {
    const { scheduler } = await stage();
    crash(scheduler);
    crash(scheduler, "zombie");
    expect(hasCrashed(scheduler)).toBe(true);
  });

  test("needs a scheduler that can", () => {
    const scheduler: Scheduler = { initialize: async () => {}, stop: async () => {} };
    expect(() => crash(scheduler)).toThrow("crashable");
    expect(hasCrashed(scheduler)).toBe(false);
  });
});
