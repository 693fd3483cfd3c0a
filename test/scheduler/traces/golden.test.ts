import { describe, expect, test } from "vitest";
import { createScheduler } from "../../../src/scheduler/index.js";
import {
  checkTrace,
  controlledTask,
  crash,
  crashable,
  formatTrace,
  memoryStore,
  type Trace,
  traceRecorder,
  virtualTime,
  withEnvironment,
} from "../../../src/scheduler/testing/index.js";
import type { Registration } from "../../../src/scheduler/types.js";

const ignore = (): void => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function stage() {
  const time = virtualTime({ startAt: "2026-06-15T10:30:00", timeZone: "Europe/Berlin" });
  const recorder = traceRecorder(time);
  const store = recorder.store(memoryStore());
  const task = controlledTask(time);
  const list: readonly Registration[] = [["x", "0 * * * *", task.callback, "PT5M"]];
  const boot = () => {
    const { onEvent } = recorder;
    const options = { clock: time.clock, sleeper: time.newSleeper(), store, onEvent, logger: SILENT };
    return recorder.watch(crashable(createScheduler, options));
  };
  return { time, recorder, task, list, boot };
}

function expectGolden(trace: Trace, golden: string): void {
  expect(formatTrace(withEnvironment(trace))).toBe(golden);
  expect(checkTrace(trace)).toEqual([]);
}

describe("golden traces of the Declarative Scheduler", () => {
  test("a run, a failed run, its retry", async () => {
    const { time, recorder, task, list, boot } = stage();
    task.will("succeed", "fail", "succeed");
    await boot().initialize(list);
    await time.advanceTo("2026-06-15T12:30:00");
    expectGolden(recorder.trace(), "IS IEs Due RS REs Due RS REf RetryDue RS REs");
  });

  test("a clean stop, silence, and a second life", async () => {
    const { time, recorder, task, list, boot } = stage();
    task.will("succeed");
    const scheduler = boot();
    await scheduler.initialize(list);
    await scheduler.stop();
    await time.advance(20 * 60_000);
    await scheduler.initialize(list);
    await time.advance(20 * 60_000);
    expectGolden(recorder.trace(), "IS IEs SS SE IS IEs Due RS REs");
  });

  test("a crash during a run; the next occurrence comes before the orphan could be restarted: one start for both", async () => {
    const { time, recorder, task, list, boot } = stage();
    const first = boot();
    task.will("hang", "succeed");
    await first.initialize(list);
    await time.advanceTo("2026-06-15T11:00:00");
    crash(first);
    await time.advanceTo("2026-06-15T11:59:50");
    await boot().initialize(list);
    await time.pauseProcess(20_000);
    await time.advance(20 * 60_000);
    expectGolden(recorder.trace(), "IS IEs Due RS Crash IS IEs Due RS REs");
  });

  test("a crash during a run: the orphan is restarted at once", async () => {
    const { time, recorder, task, list, boot } = stage();
    const first = boot();
    task.will("hang", "succeed");
    await first.initialize(list);
    await time.advanceTo("2026-06-15T11:00:00");
    crash(first);
    await time.advance(60_000);
    await boot().initialize(list);
    await time.advance(20 * 60_000);
    expectGolden(recorder.trace(), "IS IEs Due RS Crash IS IEs RS REs");
  });

  test("the same input gives the same trace, to the millisecond", async () => {
    const traces: Trace[] = [];
    for (let i = 0; i < 2; i++) {
      const { time, recorder, task, list, boot } = stage();
      task.will("succeed", { takesMs: 70_000, ending: "fail" });
      await boot().initialize(list);
      await time.advance(4 * 3_600_000);
      traces.push(recorder.trace());
    }
    expect(traces[1]).toEqual(traces[0]);
  });
});
