import { afterEach, describe, expect, test } from "vitest";
import {
  createKronScheduler,
  createScheduler,
  type KronRegistration,
  type KronScheduler,
  memoryStore,
  type SchedulerEvent,
  type SchedulerOptions,
} from "../../src/scheduler/index.js";
import { at, MONDAY, manualTask, quickTask, recordOf, rigs, settle, silentLogger, VirtualHost } from "./support.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const plain = rigs();
const made: KronScheduler[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((scheduler) => scheduler.stop()));
});

function kron(host: VirtualHost, options: SchedulerOptions = {}) {
  const events: SchedulerEvent[] = [];
  const store = options.store ?? memoryStore();
  const onEvent = (event: SchedulerEvent) => events.push(event);
  const ports = { clock: host.clock, sleeper: host.sleeper, logger: silentLogger, onEvent };
  const scheduler = createKronScheduler({ ...ports, ...options, store });
  made.push(scheduler);
  return { scheduler, events, store };
}

describe("createKronScheduler", () => {
  test("has two methods more; createScheduler has not, and speaks POSIX only", async () => {
    const { scheduler } = kron(new VirtualHost(MONDAY));
    expect(Object.keys(scheduler)).toEqual(["initialize", "stop", "nextRun", "trigger"]);
    expect(Object.isFrozen(scheduler)).toBe(true);
    const posix = createScheduler({ store: memoryStore(), logger: silentLogger });
    expect(Object.keys(posix)).toEqual(["initialize", "stop"]);
    await expect(posix.initialize([["a", "@daily", () => {}, 0]])).rejects.toMatchObject({
      code: "cron-expression-invalid",
    });
    const five = ["a", "0 0 * * *", () => {}, 0, { timeZone: "UTC" }];
    await expect(posix.initialize([five] as never)).rejects.toMatchObject({ code: "registration-shape" });
  });

  test("runs steps, names and macros", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const { scheduler } = kron(host);
    const [steps, names, macro] = [quickTask(host.clock.now), quickTask(host.clock.now), quickTask(host.clock.now)];
    await scheduler.initialize([
      ["steps", "*/20 1 * * *", steps.callback, 0],
      ["names", "30 6 * JAN tue", names.callback, 0],
      ["macro", "@daily", macro.callback, 0],
    ]);
    await host.advance(48 * HOUR);
    const day = 24 * HOUR;
    const expected = [HOUR, HOUR + 20 * MINUTE, HOUR + 40 * MINUTE].map((ms) => MONDAY + ms);
    expect(steps.starts).toEqual([...expected, ...expected.map((ms) => ms + day)]);
    expect(names.starts).toEqual([MONDAY + day + 6.5 * HOUR]);
    expect(macro.starts).toEqual([MONDAY + 1, MONDAY + day, MONDAY + 2 * day]);
  });

  test("every task in its zone, through changes of the clocks, wherever the host travels", async () => {
    const host = new VirtualHost(at("2026-03-28T12:00:01Z"), "UTC");
    const { scheduler } = kron(host);
    const tasks = ["Europe/Berlin", "America/New_York", undefined].map((timeZone) => ({
      timeZone,
      ...quickTask(host.clock.now),
    }));
    await scheduler.initialize(
      tasks.map(({ timeZone, callback }): KronRegistration => [`${timeZone}`, "30 2 * * *", callback, 0, { timeZone }]),
    );
    await host.advanceTo(at("2026-03-29T12:00:00Z"));
    host.timeZone = "Asia/Tokyo";
    await host.advanceTo(at("2026-03-30T12:00:00Z"));
    const iso = tasks.map(({ starts }) => starts.map((ms) => new Date(ms).toISOString().slice(0, 16)));
    expect(iso).toEqual([
      // On the 29th there is no 02:30 in Berlin.
      ["2026-03-30T00:30"],
      ["2026-03-29T06:30", "2026-03-30T06:30"],
      ["2026-03-29T02:30", "2026-03-29T17:30"],
    ]);
  });

  test("a minute that comes twice in the zone of a task runs twice", async () => {
    const host = new VirtualHost(at("2026-10-24T12:00:01Z"), "UTC");
    const { scheduler } = kron(host);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "30 2 * * *", task.callback, 0, { timeZone: "Europe/Berlin" }]]);
    await host.advanceTo(at("2026-10-25T12:00:00Z"));
    expect(task.starts).toEqual([at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z")]);
  });

  test("another zone is another schedule: told of, its past never fires, the history stays", async () => {
    const store = memoryStore();
    const host = new VirtualHost(at("2026-01-05T12:00:00Z"));
    const first = kron(host, { store });
    const task = quickTask(host.clock.now);
    await first.scheduler.initialize([["a", "0 10 * * *", task.callback, 0, { timeZone: "UTC" }]]);
    await first.scheduler.trigger("a");
    await settle();
    await first.scheduler.stop();
    host.now += HOUR;
    // 22:00 in Tokyo: ten o'clock there is long past, and came after the last attempt nowhere.
    const second = kron(host, { store });
    await second.scheduler.initialize([["a", "0 10 * * *", task.callback, 0, { timeZone: "Asia/Tokyo" }]]);
    await host.advance(MINUTE);
    expect(second.events.find((event) => event.type === "Reconciled")).toMatchObject({
      modified: ["a"],
      changes: [
        {
          name: "a",
          before: { cron: "0 10 * * *", timeZone: "UTC", retryDelayMs: 0 },
          after: { cron: "0 10 * * *", timeZone: "Asia/Tokyo", retryDelayMs: 0 },
        },
      ],
    });
    expect(task.starts).toEqual([at("2026-01-05T12:00:00Z")]);
    await second.scheduler.stop();
    const back = plain(host.now, { store });
    await back.scheduler.initialize([["a", "0 10 * * *", task.callback, 0]]);
    expect(back.of("Reconciled")[0]?.changes.map(({ after }) => after)).toEqual([
      { cron: "0 10 * * *", retryDelayMs: 0 },
    ]);
    expect(await recordOf(store, "a")).not.toHaveProperty("timeZone");
    expect(await recordOf(store, "a")).toMatchObject({ lastAttemptAt: at("2026-01-05T12:00:00Z") });
  });
});

describe("nextRun", () => {
  test("names the next start: an occurrence, a retry, or what is owed now", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const { scheduler } = kron(host);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([
      ["a", "0 */6 * * *", task.callback, "PT10M"],
      ["never", "0 0 29 2 MON", () => {}, 0],
    ]);
    await settle();
    task.succeed();
    await settle();
    expect(scheduler.nextRun("a")).toBe(MONDAY + 6 * HOUR);
    await host.advanceTo(MONDAY + 6 * HOUR);
    expect(scheduler.nextRun("a")).toBe(MONDAY + 12 * HOUR);
    task.fail();
    await settle();
    expect(scheduler.nextRun("a")).toBe(MONDAY + 6 * HOUR + 10 * MINUTE);
    host.now = MONDAY + 7 * HOUR;
    expect(scheduler.nextRun("a")).toBe(MONDAY + 7 * HOUR);
  });

  test("of a task and of a scheduler that are not there", async () => {
    const { scheduler } = kron(new VirtualHost(MONDAY));
    const refused = (reason: string) => expect.objectContaining({ code: "task-unavailable", reason });
    expect(() => scheduler.nextRun("a")).toThrow(refused("the scheduler is not running"));
    await expect(scheduler.trigger("a")).rejects.toEqual(refused("the scheduler is not running"));
    await scheduler.initialize([["b", "@daily", () => {}, 0]]);
    expect(() => scheduler.nextRun("a")).toThrow(refused("no task of this name is registered"));
    await expect(scheduler.trigger("a")).rejects.toEqual(refused("no task of this name is registered"));
    await scheduler.stop();
    await expect(scheduler.trigger("b")).rejects.toEqual(refused("the scheduler is not running"));
  });
});

describe("trigger", () => {
  async function scene(fails = false, options: SchedulerOptions = {}) {
    const host = new VirtualHost(MONDAY + 1);
    const rig = kron(host, options);
    const task = quickTask(host.clock.now, fails);
    await rig.scheduler.initialize([["a", "0 12 * * *", task.callback, "PT10M"]]);
    await settle();
    return { host, task, ...rig };
  }

  test("runs the task now, durably, and its occurrences go on", async () => {
    const { host, task, scheduler, events, store } = await scene();
    host.now = MONDAY + HOUR;
    expect(await scheduler.trigger("a")).toBe("started");
    await settle();
    expect(events.find((event) => event.type === "TaskRunStarted")).toMatchObject({
      cause: "trigger",
      dueAt: MONDAY + HOUR,
    });
    expect(await recordOf(store, "a")).toMatchObject({ lastAttemptAt: MONDAY + HOUR, lastSuccessAt: MONDAY + HOUR });
    await host.advanceTo(MONDAY + 13 * HOUR);
    expect(task.starts).toEqual([MONDAY + HOUR, MONDAY + 12 * HOUR]);
  });

  test("at once after initialize, and several at a time, are one start", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const { scheduler } = kron(host);
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "@yearly", task.callback, 0]]);
    expect(await Promise.all([scheduler.trigger("a"), scheduler.trigger("a")])).toEqual(["started", "started"]);
    await settle();
    expect(task.starts).toHaveLength(1);
  });

  test("a task that runs is left alone, and nothing is owed afterwards", async () => {
    const host = new VirtualHost(MONDAY + 1);
    const { scheduler } = kron(host);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "@yearly", task.callback, 0]]);
    await scheduler.trigger("a");
    expect(await scheduler.trigger("a")).toBe("running");
    task.succeed();
    await host.advance(HOUR);
    expect(task.starts).toHaveLength(1);
  });

  test("takes the place of a retry; its own failure is retried", async () => {
    const { host, task, scheduler, events } = await scene(true);
    await scheduler.trigger("a");
    await settle();
    host.now += 5 * MINUTE;
    await scheduler.trigger("a");
    await settle();
    expect(events.map((event) => event.type)).toContain("TaskRetryPreempted");
    await host.advance(11 * MINUTE);
    expect(task.starts.map((ms) => ms - MONDAY - 1)).toEqual([0, 5 * MINUTE, 15 * MINUTE]);
  });

  test("what cannot be written does not start, and is told; later it is not owed", async () => {
    const inner = memoryStore();
    let isBroken = false;
    const store = {
      transact: ((update) =>
        isBroken ? Promise.reject(new Error("disk full")) : inner.transact(update)) as typeof inner.transact,
    };
    const { host, task, scheduler } = await scene(false, { store });
    isBroken = true;
    await expect(scheduler.trigger("a")).rejects.toMatchObject({ code: "task-store-failed", message: /disk full/ });
    isBroken = false;
    await host.advance(HOUR);
    expect(task.starts).toEqual([]);
    expect(await scheduler.trigger("a")).toBe("started");
  });

  test("asked for while a claim is being written, it is not forgotten", async () => {
    const inner = memoryStore();
    let hold: Promise<void> = Promise.resolve();
    const store = {
      transact: (async (update) => {
        const result = await inner.transact(update);
        await hold;
        return result;
      }) as typeof inner.transact,
    };
    const { host, task, scheduler } = await scene(false, { store });
    let release = (): void => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    await host.jumpTo(MONDAY + MINUTE);
    const outcome = scheduler.trigger("a");
    release();
    await host.advance(1);
    expect(await outcome).toBe("started");
    expect(task.starts).toHaveLength(1);
  });

  test("stopped before it could start: refused, and the callback is not called", async () => {
    const { task, scheduler } = await scene();
    const outcome = scheduler.trigger("a");
    const refused = expect(outcome).rejects.toMatchObject({
      reason: "the scheduler was stopped before it could start",
    });
    await scheduler.stop();
    await refused;
    expect(task.starts).toEqual([]);
  });

  test("taken over by another scheduler: refused", async () => {
    const { host, task, scheduler, store } = await scene();
    host.now += MINUTE;
    await store.transact((records) => ({
      records: records.map((record) => ({ ...record, runningBy: "another", lastAttemptAt: host.now })),
      result: 0,
    }));
    await expect(scheduler.trigger("a")).rejects.toMatchObject({
      reason: "another scheduler on the same store has taken it over",
    });
    expect(task.starts).toEqual([]);
  });
});
