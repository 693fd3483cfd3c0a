import { describe, expect, test } from "vitest";
import { createScheduler, memoryStore, type Registration, type SchedulerOptions } from "../../src/scheduler/index.js";
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
const run = async (): Promise<void> => {};
const LIST: readonly Registration[] = [["a", "0 12 * * *", run, 0]];

function outcome(promise: Promise<void>): Promise<string> {
  return promise.then(
    () => "resolved",
    (error: Error) => error.message,
  );
}

describe("the surface", () => {
  test("is exactly initialize and stop", () => {
    expect(Object.keys(createScheduler())).toEqual(["initialize", "stop"]);
  });

  test("nothing that is injected is looked at before it is needed", async () => {
    const touched: string[] = [];
    const options = new Proxy<SchedulerOptions>(
      { store: memoryStore() },
      {
        get: (target, key) => {
          touched.push(String(key));
          return Reflect.get(target, key);
        },
      },
    );
    const scheduler = createScheduler(options);
    await scheduler.stop();
    expect(touched).toEqual([]);
  });
});

describe("validation comes first and touches nothing", () => {
  test("the error arrives as an already rejected promise, before any other promise job", async () => {
    const store = memoryStore();
    const { scheduler } = rig(MONDAY, { store });
    const order: string[] = [];
    const rejected = scheduler.initialize([["a", "bad", run, 0]]).catch(() => order.push("rejected"));
    await Promise.all([Promise.resolve().then(() => order.push("a job queued later")), rejected]);
    expect(order).toEqual(["rejected", "a job queued later"]);
    expect(await recordsOf(store)).toEqual([]);
  });

  test("an invalid list leaves the scheduler uninitialized and tells so; a valid one is then accepted (P21)", async () => {
    const { scheduler, types, of } = rig(MONDAY);
    const message = await outcome(scheduler.initialize(null as unknown as Registration[]));
    expect(message).toBe("Registrations must be an array");
    expect(types()).toEqual(["SchedulerInitializationStarted", "SchedulerInitializationFailed"]);
    expect(of("SchedulerInitializationFailed")[0]?.error).toMatchObject({ name: "RegistrationsNotArrayError" });
    await scheduler.initialize(LIST);
  });

  test("a list that changes after the call changes nothing", async () => {
    const { host, scheduler } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    const list: Registration[] = [["a", "0 0 * * *", task.callback, 0]];
    const initialized = scheduler.initialize(list);
    list.length = 0;
    await initialized;
    await settle();
    expect(task.starts).toEqual([MONDAY]);
  });

  test("a list that throws when it is looked at is refused, not thrown", async () => {
    const { scheduler } = rig(MONDAY);
    const list = new Proxy<Registration[]>([], {
      get: () => {
        throw new Error("do not touch");
      },
    });
    expect(await outcome(scheduler.initialize(list))).toBe("Cannot initialize scheduler: do not touch");
  });
});

test("an identifier that is none is refused before the store is touched", async () => {
  const { scheduler, store } = rig(MONDAY, { newId: () => "" });
  expect(await outcome(scheduler.initialize(LIST))).toBe(
    "Cannot initialize scheduler: newId must return a non-empty string",
  );
  expect(await recordsOf(store)).toEqual([]);
});

describe("calls in every state", () => {
  const initializing = "Cannot initialize scheduler: scheduler is already initializing";
  const running = "Cannot initialize scheduler: scheduler is already running";

  test("of several concurrent calls only the first proceeds", async () => {
    const { scheduler, of } = rig(MONDAY);
    const calls = [scheduler.initialize(LIST), scheduler.initialize(LIST), scheduler.initialize([])];
    expect(await Promise.all(calls.map(outcome))).toEqual(["resolved", initializing, initializing]);
    expect(of("SchedulerInitializationStarted")).toHaveLength(1);
  });

  test("Idempotency: identical lists while running are refused and change nothing", async () => {
    const { host, scheduler, store, types } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    const list: readonly Registration[] = [["a", "* * * * *", task.callback, 0]];
    await scheduler.initialize(list);
    await settle();
    const [before, told] = [await recordsOf(store), types().length];
    expect(await outcome(scheduler.initialize(list))).toBe(running);
    expect(await outcome(scheduler.initialize([]))).toBe(running);
    expect(await outcome(scheduler.initialize(undefined as unknown as Registration[]))).toBe(running);
    expect([await recordsOf(store), types().length]).toEqual([before, told]);
    await host.advance(MINUTE);
    expect(task.starts).toEqual([MONDAY, MONDAY + MINUTE]);
  });

  test("stop before any initialize resolves and tells nothing; stops repeated and concurrent all resolve", async () => {
    const { scheduler, types } = rig(MONDAY);
    await scheduler.stop();
    expect(types()).toEqual([]);
    await scheduler.initialize(LIST);
    await Promise.all([scheduler.stop(), scheduler.stop()]);
    await scheduler.stop();
    expect(types().filter((type) => type === "SchedulerStopped")).toHaveLength(1);
  });

  test("stop during initialize waits for it, and then nothing runs", async () => {
    const { host, scheduler, store } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    const order: string[] = [];
    const initialized = scheduler
      .initialize([["a", "* * * * *", task.callback, 0]])
      .then(() => order.push("initialized"));
    const stopped = scheduler.stop().then(() => order.push("stopped"));
    expect(await outcome(scheduler.initialize(LIST))).toBe(initializing);
    await Promise.all([initialized, stopped]);
    await host.advance(5 * MINUTE);
    expect(order).toEqual(["initialized", "stopped"]);
    expect(task.starts).toEqual([]);
    expect((await recordOf(store, "a")).lastAttemptAt).toBeNull();
  });

  test("stop during a failing initialize resolves", async () => {
    const store = { transact: () => Promise.reject(new Error("disk full")) };
    const { scheduler } = rig(MONDAY, { store });
    const initialized = outcome(scheduler.initialize(LIST));
    await scheduler.stop();
    expect(await initialized).toBe("Task store failed to reconcile: disk full");
  });

  test("stop called by a listener at the last event of initialize counts", async () => {
    const host = new VirtualHost(MONDAY);
    const task = quickTask(host.clock.now);
    const stops: Promise<void>[] = [];
    const { scheduler } = rig(MONDAY, {
      host,
      onEvent: ({ type }) => {
        if (type === "SchedulerInitializationCompleted") stops.push(scheduler.stop());
      },
    });
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await Promise.all(stops);
    await host.advance(MINUTE);
    expect(task.starts).toEqual([]);
  });

  test("P20: a stop that a listener calls while another begins waits as well", async () => {
    const host = new VirtualHost(MONDAY);
    const task = manualTask(host.clock.now);
    const order: string[] = [];
    const { scheduler } = rig(MONDAY, {
      host,
      onEvent: ({ type }) => {
        if (type === "SchedulerStopRequested") void scheduler.stop().then(() => order.push("stopped"));
      },
    });
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    const stopped = scheduler.stop();
    await settle();
    order.push("run ends");
    task.succeed();
    await stopped;
    await settle();
    expect(order).toEqual(["run ends", "stopped"]);
  });

  test("P22: a valid list right after a refused one is accepted", async () => {
    const { scheduler } = rig(MONDAY);
    const calls = [scheduler.initialize([["a", "bad", run, 0]]), scheduler.initialize(LIST)];
    const [refused, accepted] = await Promise.all(calls.map(outcome));
    expect([refused?.slice(0, 23), accepted]).toEqual(["Invalid cron expression", "resolved"]);
  });

  test("a stopped scheduler can be initialized again, under a new identifier", async () => {
    const { host, scheduler, of } = rig(MONDAY);
    const task = quickTask(host.clock.now);
    await scheduler.initialize(LIST);
    await scheduler.stop();
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    expect(task.starts).toEqual([MONDAY]);
    const ids = of("SchedulerInitializationCompleted").map(({ schedulerId }) => schedulerId);
    expect(new Set(ids).size).toBe(2);
  });

  test("P22: initialize during a stop waits for it; an invalid list is refused at once", async () => {
    const { host, scheduler, types } = rig(MONDAY);
    const [old, young] = [manualTask(host.clock.now), quickTask(host.clock.now)];
    await scheduler.initialize([["a", "* * * * *", old.callback, 0]]);
    await settle();
    const stopped = scheduler.stop();
    expect(await outcome(scheduler.initialize([["a", "bad", run, 0]]))).toMatch(/^Invalid cron expression/);
    const again = scheduler.initialize([["a", "* * * * *", young.callback, 0]]);
    expect(await outcome(scheduler.initialize(LIST))).toBe(initializing);
    await host.advance(MINUTE);
    expect(young.starts).toEqual([]);
    old.succeed();
    await Promise.all([stopped, again]);
    await settle();
    expect([old.starts, young.starts]).toEqual([[MONDAY], [MONDAY + MINUTE]]);
    expect(types().filter((type) => type.startsWith("Scheduler"))).toEqual([
      "SchedulerInitializationStarted",
      "SchedulerInitializationCompleted",
      "SchedulerStopRequested",
      "SchedulerStopped",
      "SchedulerInitializationStarted",
      "SchedulerInitializationCompleted",
    ]);
  });

  test("stop while an initialize waits for the stop before: both happen, and nothing runs", async () => {
    const { host, scheduler } = rig(MONDAY);
    const [old, young] = [manualTask(host.clock.now), quickTask(host.clock.now)];
    await scheduler.initialize([["a", "* * * * *", old.callback, 0]]);
    await settle();
    const ended = [scheduler.stop(), scheduler.initialize([["a", "* * * * *", young.callback, 0]]), scheduler.stop()];
    old.succeed();
    expect(await Promise.all(ended.map(outcome))).toEqual(["resolved", "resolved", "resolved"]);
    await host.advance(MINUTE);
    expect(young.starts).toEqual([]);
    expect(await outcome(scheduler.initialize(LIST))).toBe("resolved");
  });
});

describe("stop", () => {
  test("P20: waits for every running callback, and for nothing else", async () => {
    const { host, scheduler, store } = rig(MONDAY);
    const tasks = [manualTask(host.clock.now), manualTask(host.clock.now)];
    await scheduler.initialize(tasks.map((task, i) => [`t${i}`, "* * * * *", task.callback, MINUTE]));
    await settle();
    const order: string[] = [];
    const stopped = scheduler.stop().then(() => order.push("stopped"));
    await host.advance(5 * MINUTE);
    order.push("first ends");
    tasks[0]?.succeed();
    await settle();
    order.push("second ends");
    tasks[1]?.fail();
    await stopped;
    expect(order).toEqual(["first ends", "second ends", "stopped"]);
    expect(await recordOf(store, "t0")).toMatchObject({ lastSuccessAt: MONDAY + 5 * MINUTE });
    expect(await recordOf(store, "t1")).toMatchObject({ lastFailureAt: MONDAY + 5 * MINUTE });
    expect((await recordsOf(store)).map(({ runningBy }) => runningBy)).toEqual([undefined, undefined]);
  });

  test("P4: a callback that stops the scheduler keeps the others of its minute from starting; they stay owed (P18)", async () => {
    const { scheduler, store } = rig(MONDAY);
    const stops: Promise<void>[] = [];
    const started: string[] = [];
    const stopping = (name: string) => async (): Promise<void> => {
      started.push(name);
      stops.push(scheduler.stop());
    };
    const list: readonly Registration[] = ["a", "b", "c"].map((name) => [name, "* * * * *", stopping(name), 0]);
    await scheduler.initialize(list);
    await settle();
    await Promise.all(stops);
    expect(started).toHaveLength(1);
    const unstarted = (await recordsOf(store)).filter(({ name }) => name !== started[0]);
    expect(unstarted.map(({ lastAttemptAt, runningBy }) => [lastAttemptAt, runningBy])).toEqual([
      [null, undefined],
      [null, undefined],
    ]);
    const again = rig(MONDAY + 1000, { store, host: new VirtualHost(MONDAY + 1000) });
    const others = quickTask(again.host.clock.now);
    await again.scheduler.initialize(list.map(([name, cron]) => [name, cron, others.callback, 0]));
    await settle();
    expect(others.starts).toHaveLength(2);
    expect(again.of("Reconciled")[0]?.orphaned).toEqual([]);
  });

  test("P4: a claim that becomes durable only after stop was called is taken back", async () => {
    const inner = plainStore();
    let release = (): void => {};
    let isSlow = false;
    const store = {
      transact: (async (update) => {
        if (isSlow) {
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        }
        return inner.transact(update);
      }) as typeof inner.transact,
    };
    const { host, scheduler } = rig(MONDAY + 1, { store });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "1 0 * * *", task.callback, 0]]);
    await settle();
    isSlow = true;
    await host.advance(MINUTE);
    const stopped = scheduler.stop();
    isSlow = false;
    release();
    await stopped;
    expect(task.starts).toEqual([]);
    const record = await recordOf(inner, "a");
    expect([record.lastAttemptAt, record.runningBy]).toEqual([null, undefined]);
  });

  test("ends a sleep that nobody else would end", async () => {
    const scheduler = createScheduler({
      clock: { now: () => MONDAY, timeZone: () => "UTC" },
      sleeper: { sleep: () => new Promise(() => {}), wake: () => {} },
      store: memoryStore(),
    });
    await scheduler.initialize(LIST);
    await settle();
    await scheduler.stop();
  });
});
