import { describe, expect, test } from "vitest";
import { memoryStore, type SchedulerEvent } from "../../src/scheduler/index.js";
import { MONDAY, manualTask, quickTask, rigs, settle, VirtualHost } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;

describe("events, by the names of the specification", () => {
  test("from initialize to stop", async () => {
    const { host, scheduler, types, events } = rig(MONDAY);
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await settle();
    task.succeed();
    await settle();
    await scheduler.stop();
    expect(types()).toEqual([
      "SchedulerInitializationStarted",
      "Reconciled",
      "PollingStarted",
      "SchedulerInitializationCompleted",
      "TaskRunStarted",
      "TaskRunCompleted",
      "SchedulerStopRequested",
      "PollingStopRequested",
      "PollingStopped",
      "SchedulerStopped",
    ]);
    expect(events.every(({ at }) => at === MONDAY)).toBe(true);
    expect(events[1]).toEqual({
      type: "Reconciled",
      changes: [],
      at: MONDAY,
      added: ["a"],
      removed: [],
      modified: [],
      orphaned: [],
    });
    expect(events[5]).toEqual({ type: "TaskRunCompleted", at: MONDAY, name: "a", startedAt: MONDAY });
  });

  test.each([
    ["throws", () => () => void raise()],
    ["rejects", () => async () => raise()],
  ])("a listener that %s breaks nothing and is logged", async (_, make) => {
    const logged: string[] = [];
    const logger = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (_: object, text: string) => logged.push(text),
    };
    const host = new VirtualHost(MONDAY);
    const task = quickTask(host.clock.now);
    const { scheduler } = rig(MONDAY, { host, onEvent: make() as (event: SchedulerEvent) => void, logger });
    await scheduler.initialize([["a", "* * * * *", task.callback, 0]]);
    await host.advance(MINUTE);
    await scheduler.stop();
    expect(task.starts).toEqual([MONDAY, MONDAY + MINUTE]);
    expect(new Set(logged).size).toBe(1);
    expect(logged[0]).toMatch(/^an event listener/);
  });

  test("a logger that throws breaks nothing", async () => {
    const host = new VirtualHost(MONDAY);
    const task = quickTask(host.clock.now, true);
    const logger = { debug: raise, info: raise, warn: raise, error: raise };
    const { scheduler } = rig(MONDAY, { host, logger });
    await scheduler.initialize([["a", "* * * * *", task.callback, MINUTE]]);
    await host.advance(MINUTE);
    expect(task.starts).toHaveLength(2);
  });
});

function raise(): never {
  throw new Error("a listener's mistake");
}

describe("EvaluationLate (R1, R2)", () => {
  test("a start later than the target says by how much", async () => {
    const { host, scheduler, of } = rig(MONDAY + 1);
    await scheduler.initialize([["a", "1 * * * *", async () => {}, 0]]);
    await host.jumpTo(MONDAY + 11 * MINUTE);
    expect(of("EvaluationLate")).toEqual([
      { type: "EvaluationLate", at: MONDAY + 11 * MINUTE, name: "a", dueAt: MONDAY + MINUTE, lateByMs: 10 * MINUTE },
    ]);
  });

  test("counts from the first of several missed minutes", async () => {
    const { host, scheduler, of } = rig(MONDAY);
    await scheduler.initialize([["a", "* * * * *", async () => {}, 0]]);
    await host.jumpTo(MONDAY + 5 * MINUTE);
    expect(of("EvaluationLate").map(({ dueAt, lateByMs }) => [dueAt, lateByMs])).toEqual([
      [MONDAY + MINUTE, 4 * MINUTE],
    ]);
    expect(of("TaskRunStarted").map(({ dueAt }) => dueAt)).toEqual([MONDAY, MONDAY + 5 * MINUTE]);
  });

  test.each([
    ["on time", 10_000],
    ["at the target", MINUTE],
  ])("is silent: %s", async (_, lateByMs) => {
    const { host, scheduler, of } = rig(MONDAY + 1);
    await scheduler.initialize([["a", "1 * * * *", async () => {}, 0]]);
    await host.jumpTo(MONDAY + MINUTE + lateByMs);
    expect(of("TaskRunStarted")).toHaveLength(1);
    expect(of("EvaluationLate")).toEqual([]);
  });

  test("is silent after downtime and after a long run: neither is the scheduler's lateness", async () => {
    const store = memoryStore();
    const first = rig(MONDAY + 1, { store });
    await first.scheduler.initialize([["a", "1 * * * *", async () => {}, 0]]);
    await first.scheduler.stop();
    const { host, scheduler, of } = rig(MONDAY + 30 * MINUTE, { store });
    const task = manualTask(host.clock.now);
    await scheduler.initialize([["a", "1 * * * *", task.callback, 0]]);
    await host.advance(3 * 60 * MINUTE);
    task.succeed();
    await settle();
    expect(task.starts).toEqual([MONDAY + 30 * MINUTE, MONDAY + 210 * MINUTE]);
    expect(of("EvaluationLate")).toEqual([]);
    task.succeed();
  });
});
