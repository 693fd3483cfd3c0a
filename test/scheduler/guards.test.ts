/** What a user hands in may be wrong in awkward ways: nothing of it ends, freezes or deceives the process. */
import { PassThrough } from "node:stream";
import { runInNewContext } from "node:vm";
import pino from "pino";
import { afterEach, describe, expect, test } from "vitest";
import {
  createScheduler,
  memoryStore,
  type SchedulerEvent,
  type SchedulerLogger,
  type SchedulerOptions,
} from "../../src/scheduler/index.js";
import { SCHEDULER_LIMITS } from "../../src/scheduler/limits.js";
import { at, MONDAY, quickTask, recordOf, rigs, settle, silentLogger, VirtualHost } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;

describe("P4: stop inside a listener", () => {
  const stops = ["TaskRunStarted", "TaskRetryStarted", "TaskRetryPreempted", "EvaluationLate"] as const;
  test.each(stops)("of %s: the callback does not start, and stays owed", async (type) => {
    const store = memoryStore();
    const host = new VirtualHost(MONDAY);
    const events: SchedulerEvent[] = [];
    const task = quickTask(host.clock.now, true);
    const { scheduler } = rig(MONDAY, {
      host,
      store,
      onEvent: (event) => {
        events.push(event);
        if (event.type === type && task.starts.length > 0) void scheduler.stop();
      },
    });
    // Fails at 00:00; the retry is due at 00:01, the next occurrence at 00:02.
    await scheduler.initialize([["a", "0,2 0 * * *", task.callback, MINUTE]]);
    await settle();
    const jump = { TaskRunStarted: 2, TaskRetryStarted: 1, TaskRetryPreempted: 2, EvaluationLate: 5 }[type];
    await host.jumpTo(MONDAY + jump * MINUTE);
    await settle();
    expect(task.starts).toEqual([MONDAY]);
    expect(events.map((event) => event.type)).toContain("TaskRunWithdrawn");
    expect(events.at(-1)?.type).toBe("SchedulerStopped");
    expect(await recordOf(store, "a")).toMatchObject({ lastAttemptAt: MONDAY, pendingRetryUntil: MONDAY + MINUTE });
    expect(await recordOf(store, "a")).not.toHaveProperty("runningBy");
    const again = rig(MONDAY + 6 * MINUTE, { store });
    const next = quickTask(again.host.clock.now);
    await again.scheduler.initialize([["a", "0,2 0 * * *", next.callback, MINUTE]]);
    await settle();
    expect(next.starts).toHaveLength(1);
  });
});

describe("the zone", () => {
  const clock = { now: () => MONDAY, timeZone: () => "Europe/Berlim" };

  test.each<[string, SchedulerOptions]>([
    ["of an injected clock", { clock }],
    ["of the option", { timeZone: "Europe/Berlim" }],
    ["that is no text", { timeZone: 5 as unknown as string }],
    ["that is empty", { timeZone: "" }],
  ])("an unknown one is refused at initialize: %s", async (_, options) => {
    const { scheduler } = rig(MONDAY, options);
    await expect(scheduler.initialize([])).rejects.toMatchObject({
      name: "SchedulerInitializationError",
      message: expect.stringMatching(/^Cannot initialize scheduler: /),
    });
  });

  test("the option wins over the clock", async () => {
    const { host, scheduler } = rig(at("2026-01-05T00:30:00Z"), { timeZone: "Asia/Tokyo" });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 10 * * *", task.callback, 0]]);
    await host.advance(2 * 60 * MINUTE);
    expect(task.starts).toEqual([at("2026-01-05T01:00:00Z")]);
  });

  test("one that is lost later leaves the last one in force, and is told of", async () => {
    const host = new VirtualHost(at("2026-01-05T00:30:00Z"), "Asia/Tokyo");
    const said: string[] = [];
    const logger = { ...silentLogger, error: (_: object, text: string) => said.push(text) };
    const { scheduler } = rig(host.now, { host, logger });
    const task = quickTask(host.clock.now);
    await scheduler.initialize([["a", "0 10 * * *", task.callback, 0]]);
    host.timeZone = "Asia/Tokio";
    await host.advance(60 * MINUTE);
    expect(task.starts).toEqual([at("2026-01-05T01:00:00Z")]);
    expect(new Set(said)).toEqual(new Set(["the time zone given is unknown"]));
  });
});

describe("the logger", () => {
  test("Pino prints why a run failed, and why a store does", async () => {
    const lines: string[] = [];
    const stream = new PassThrough().on("data", (line) => lines.push(String(line)));
    const { host, scheduler } = rig(MONDAY, { logger: pino({ level: "debug" }, stream) });
    await scheduler.initialize([["a", "* * * * *", quickTask(host.clock.now, true).callback, "PT1H"]]);
    await settle();
    const failed = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "TaskRunFailed");
    expect(failed).toMatchObject({ level: 40, name: "a", err: { type: "Error", message: "no luck" } });
    expect(failed.err.stack).toContain("no luck");
    expect(failed).not.toHaveProperty("error");
  });

  const unhandled: unknown[] = [];
  const note = (error: unknown): number => unhandled.push(error);
  afterEach(() => {
    process.off("unhandledRejection", note);
    unhandled.length = 0;
  });

  test.each<[string, (error: Error) => unknown]>([
    ["promises", (error) => Promise.reject(error)],
    ["promises of another realm", runInNewContext("(error) => Promise.reject(error)")],
  ])("one whose %s reject breaks nothing", async (_, reject) => {
    process.on("unhandledRejection", note);
    const down = new Error("log server down");
    const say = () => reject(down);
    const logger: SchedulerLogger = { debug: say, info: say, warn: say, error: say };
    const { host, scheduler } = rig(MONDAY, { logger });
    const task = quickTask(host.clock.now, true);
    await scheduler.initialize([["a", "* * * * *", task.callback, MINUTE]]);
    await host.advance(MINUTE);
    expect([task.starts.length, unhandled]).toEqual([2, []]);
  });

  test("what the caller is told by a rejection is no louder than information", async () => {
    const loud: string[] = [];
    const say = (_: object, text: string) => loud.push(text);
    const { scheduler } = rig(MONDAY, { logger: { ...silentLogger, warn: say, error: say } });
    await expect(scheduler.initialize([["", "* * * * *", () => {}, 0]])).rejects.toThrow();
    const transact = () => Promise.reject(new Error("disk full"));
    const other = rig(MONDAY, { store: { transact }, logger: { ...silentLogger, warn: say, error: say } });
    await expect(other.scheduler.initialize([])).rejects.toThrow("disk full");
    expect(loud).toEqual([]);
  });
});

describe("a sleeper that does not sleep", () => {
  test.each<[string, () => unknown]>([
    ["an async function", async () => {}],
    ["a function that returns nothing", () => {}],
  ])("%s: timers fire, stop resolves, and it is told of once", async (_, sleep) => {
    const said: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, text: string) => said.push(text) };
    const sleeper = { sleep: sleep as () => Promise<void>, wake: () => {} };
    const clock = { now: () => MONDAY, timeZone: () => "UTC" };
    const scheduler = createScheduler({ store: memoryStore(), clock, sleeper, logger });
    await scheduler.initialize([["a", "0 1 * * *", () => {}, 0]]);
    for (let turn = 0; turn < 2 * SCHEDULER_LIMITS.sleeplessCycles; turn++) await settle(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await scheduler.stop();
    expect(said).toEqual(["the sleeper returns at once"]);
  });
});

test("the portions of a large burst leave the event loop its turn in between, with a store in memory too", async () => {
  const { host, scheduler } = rig(MONDAY + 1);
  const PORTION = SCHEDULER_LIMITS.tasksPerTransaction;
  let turn = 0;
  const startedIn = new Map<number, number>();
  const callback = (): void => void startedIn.set(turn, (startedIn.get(turn) ?? 0) + 1);
  await scheduler.initialize(Array.from({ length: 5 * PORTION }, (_, i) => [`task ${i}`, "1 0 * * *", callback, 0]));
  await settle();
  let isCounting = true;
  const count = (): void => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  count();
  await host.advanceTo(MONDAY + MINUTE);
  isCounting = false;
  expect([...startedIn.values()]).toEqual(Array.from({ length: 5 }, () => PORTION));
});

test.each<[string, () => unknown]>([
  ["a plain function", () => {}],
  ["a function that returns a number", () => 5],
  ["an async function that does", async () => 5],
])("a callback may return anything: %s", async (_, callback) => {
  const { host, scheduler, of } = rig(MONDAY);
  await scheduler.initialize([["a", "* * * * *", callback, 0]]);
  await host.advance(MINUTE);
  expect(of("TaskRunCompleted")).toHaveLength(2);
});

test("an empty directory is refused at initialize, and nothing is written to the working directory", async () => {
  const scheduler = createScheduler({ directory: "", logger: silentLogger });
  await expect(scheduler.initialize([])).rejects.toMatchObject({
    name: "SchedulerInitializationError",
    message: "Cannot initialize scheduler: directory must be a non-empty path",
  });
});

test("options may be undefined: each has its default", async () => {
  const options: SchedulerOptions = { directory: process.env["KRON_NO_SUCH_VARIABLE"], timeZone: undefined };
  const scheduler = createScheduler({ ...options, clock: undefined, store: memoryStore() });
  await scheduler.initialize([]);
  await scheduler.stop();
});
