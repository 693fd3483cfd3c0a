import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/scheduler/index.js";
import { MONDAY, manualTask, microtasks, plainStore, quickTask, rigs, settle, VirtualHost } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;

describe("evaluate, sleep, evaluate", () => {
  test("Startup semantics: a new task whose expression matches the current minute runs at once, others wait", async () => {
    const { host, scheduler } = rig(MONDAY + 30_000);
    const [now, later] = [quickTask(host.clock.now), quickTask(host.clock.now)];
    await scheduler.initialize([
      ["now", "0 0 * * *", now.callback, 0],
      ["later", "1 0 * * *", later.callback, 0],
    ]);
    await settle();
    expect([now.starts, later.starts]).toEqual([[MONDAY + 30_000], []]);
    await host.advance(MINUTE);
    expect([now.starts, later.starts]).toEqual([[MONDAY + 30_000], [MONDAY + MINUTE]]);
  });

  test("P3: the first evaluation comes a macrotask after initialize has resolved", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await microtasks();
    expect(task.starts).toEqual([]);
    await settle();
    expect(task.starts).toEqual([MONDAY]);
  });

  test.each([
    ["memory store", () => memoryStore()],
    ["plain store", () => plainStore()],
  ])("from the end of a sleep to the callback there are only promise jobs and one transaction: %s", async (_, make) => {
    const inner = make();
    let transactions = 0;
    const store = {
      transact: ((update) => {
        transactions++;
        return inner.transact(update);
      }) as typeof inner.transact,
      ...(inner.byName === undefined
        ? {}
        : {
            byName: {
              revision: inner.byName.revision,
              transact: ((update) => {
                transactions++;
                return inner.byName?.transact(update);
              }) as typeof inner.byName.transact,
            },
          }),
    };
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const tasks = [manualTask(host.clock.now), manualTask(host.clock.now), manualTask(host.clock.now)];
    await scheduler.initialize(tasks.map((task, i) => [`t${i}`, "1 0 * * *", task.callback, 0]));
    await settle();
    transactions = 0;
    await host.wakeAt(MONDAY + MINUTE);
    expect(tasks.map(({ starts }) => starts)).toEqual([[MONDAY + MINUTE], [MONDAY + MINUTE], [MONDAY + MINUTE]]);
    expect(transactions).toBe(1);
    for (const task of tasks) task.succeed();
  });

  test("sleeps exactly once between evaluations, to the minute boundary at most", async () => {
    const { host, scheduler } = rig(MONDAY + 20_000);
    await scheduler.initialize([["a", "30 12 * * *", async () => {}, 0]]);
    await host.advanceTo(MONDAY + 3 * MINUTE);
    expect(host.sleeps).toEqual([40_000, MINUTE, MINUTE, MINUTE]);
  });

  test("an empty list polls nothing and stops", async () => {
    const { host, scheduler, types } = rig(MONDAY);
    await scheduler.initialize([]);
    await host.advance(MINUTE);
    await scheduler.stop();
    expect(host.sleeps).toEqual([]);
    expect(types()).toEqual([
      "SchedulerInitializationStarted",
      "Reconciled",
      "SchedulerInitializationCompleted",
      "SchedulerStopRequested",
      "SchedulerStopped",
    ]);
  });

  test("impossible expressions are accepted and never due", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["never", "0 0 30 2 *", task.callback, 0]]);
    await host.jumpTo(MONDAY + 400 * 86_400_000);
    expect(task.starts).toEqual([]);
  });
});

describe("No make-up execution", () => {
  test("P11: four occurrences missed in an hour of downtime are one run", async () => {
    const store = memoryStore();
    const first = rig(MONDAY + 60_000, { store });
    await first.scheduler.initialize([["q", "0,15,30,45 * * * *", async () => {}, 0]]);
    await first.scheduler.stop();
    const second = rig(MONDAY + 65 * MINUTE, { store });
    const task = quickTask(second.host.clock.now);
    await second.scheduler.initialize([["q", "0,15,30,45 * * * *", task.callback, 0]]);
    await second.host.advance(5 * MINUTE);
    expect(task.starts).toEqual([MONDAY + 65 * MINUTE]);
    expect(second.of("TaskRunStarted").map(({ cause, dueAt }) => [cause, dueAt])).toEqual([
      ["cron", MONDAY + 60 * MINUTE],
    ]);
  });

  test("P12: occurrences during a run are owed once after it ends, whatever its outcome", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["slow", "* * * * *", task.callback, 3_600_000]]);
    await host.advance(3 * MINUTE + 10_000);
    expect(task.starts).toEqual([MONDAY]);
    task.fail();
    await settle();
    expect(task.starts).toEqual([MONDAY, MONDAY + 3 * MINUTE + 10_000]);
    task.succeed();
    await settle();
    expect(task.starts).toHaveLength(2);
  });

  test("a sleeping laptop wakes after an hour and runs each task once", async () => {
    const { host, scheduler } = rig(MONDAY + 1);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["m", "10,20 * * * *", task.callback, 0]]);
    await host.jumpTo(MONDAY + 59 * MINUTE);
    expect(task.starts).toEqual([MONDAY + 59 * MINUTE]);
  });
});

describe("clock jumps", () => {
  test("back: what was attempted is not attempted again, and goes on when its time comes", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["m", "* * * * *", task.callback, 0]]);
    await host.advance(10 * MINUTE);
    expect(task.starts).toHaveLength(11);
    await host.jumpTo(MONDAY + 5 * MINUTE);
    await host.advance(5 * MINUTE);
    expect(task.starts).toHaveLength(11);
    await host.advance(MINUTE);
    expect(task.starts).toHaveLength(12);
  });

  test("forward and back around a start leave the order of attempts intact (P9)", async () => {
    const { host, scheduler, store } = rig(MONDAY);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["m", "0 * * * *", task.callback, 0]]);
    await settle();
    task.succeed();
    await host.jumpTo(MONDAY + 60 * MINUTE);
    expect(task.starts).toHaveLength(2);
    await host.jumpTo(MONDAY + 30 * MINUTE);
    task.fail();
    await host.advance(2);
    expect(task.starts).toHaveLength(3);
    task.succeed();
    await host.advanceTo(MONDAY + 61 * MINUTE);
    expect(task.starts).toHaveLength(3);
    const record = await store.transact((records) => ({ result: records[0] }));
    expect(record?.lastAttemptAt).toBe(MONDAY + 60 * MINUTE);
  });

  test("an early wake-up starts nothing early and goes back to sleep", async () => {
    const { host, scheduler } = rig(MONDAY + 1);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["m", "1 0 * * *", task.callback, 0]]);
    await host.jumpTo(MONDAY + MINUTE - 1);
    expect(task.starts).toEqual([]);
    await host.advance(1);
    expect(task.starts).toEqual([MONDAY + MINUTE]);
  });
});

describe("S3: daylight saving time", () => {
  const BERLIN = "Europe/Berlin";

  test("fall back: a minute that occurs twice runs twice", async () => {
    const startAt = Date.parse("2026-10-25T00:00:00+02:00");
    const { host, scheduler } = rig(startAt, { host: new VirtualHost(startAt, BERLIN) });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["d", "30 2 * * *", task.callback, 0]]);
    await host.advance(6 * 60 * MINUTE);
    expect(task.starts.map((at) => new Date(at).toISOString())).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:30:00.000Z",
    ]);
  });

  test("spring forward: a minute that does not exist is skipped, and the next day runs", async () => {
    const startAt = Date.parse("2026-03-29T00:00:00+01:00");
    const { host, scheduler } = rig(startAt, { host: new VirtualHost(startAt, BERLIN) });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["d", "30 2 * * *", task.callback, 0]]);
    await host.advance(30 * 60 * MINUTE);
    expect(task.starts.map((at) => new Date(at).toISOString())).toEqual(["2026-03-30T00:30:00.000Z"]);
  });
});

describe("a travelling host", () => {
  const stores = [
    ["memory store", () => memoryStore()],
    ["plain store", () => plainStore()],
  ] as const;
  const flights = [
    ["west", "Europe/Berlin", "America/New_York", "2026-01-05T22:00:00Z"],
    ["east", "America/New_York", "Europe/Berlin", "2026-01-05T16:00:00Z"],
  ] as const;
  const rows = stores.flatMap(([store, make]) => flights.map((flight) => [store, ...flight, make] as const));

  test.each(rows)("the zone is read again at every evaluation: %s, %s", async (_, __, from, to, expected, make) => {
    const startAt = Date.parse("2026-01-05T12:00:00Z");
    const host = new VirtualHost(startAt, from);
    const { scheduler } = rig(startAt, { host, store: make() });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["tea", "0 17 * * *", task.callback, 0]]);
    await settle();
    host.timeZone = to;
    await host.advanceTo(Date.parse(expected) - 1);
    expect(task.starts).toEqual([]);
    await host.advance(1);
    expect(task.starts).toEqual([Date.parse(expected)]);
  });

  test("a zone that nobody knows leaves the last one in force", async () => {
    const startAt = Date.parse("2026-01-05T12:00:00Z");
    const host = new VirtualHost(startAt, "Europe/Berlin");
    const { scheduler } = rig(startAt, { host });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["tea", "0 17 * * *", task.callback, 0]]);
    host.timeZone = "Middle/Earth";
    await host.advanceTo(Date.parse("2026-01-05T16:00:00Z"));
    expect(task.starts).toEqual([Date.parse("2026-01-05T16:00:00Z")]);
  });
});
