import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { createScheduler } from "../../../src/scheduler/index.js";
import {
  checkTrace,
  controlledTask,
  describeAction,
  faultyStore,
  formatTrace,
  memoryStore,
  traceRecorder,
  virtualTime,
  withEnvironment,
} from "../../../src/scheduler/testing/index.js";
import type { DurationLike, Registration } from "../../../src/scheduler/types.js";

function stage() {
  const time = virtualTime({ startAt: "2026-06-15T11:59:30Z" });
  const recorder = traceRecorder(time);
  const faults = faultyStore(memoryStore(), time);
  const scheduler = recorder.watch(
    createScheduler({
      clock: time.clock,
      sleeper: time.sleeper,
      store: recorder.store(faults),
      onEvent: recorder.onEvent,
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    }),
  );
  const [x, y] = [controlledTask(time), controlledTask(time)];
  return { time, recorder, faults, scheduler, x, y };
}

describe("the trace recorder", () => {
  test("writes down calls, runs and their ends in order, with both clocks", async () => {
    const { time, recorder, scheduler, x, y } = stage();
    x.will({ takesMs: 2_000, ending: "succeed" });
    y.will("throw");
    await scheduler.initialize([
      ["x", "0 * * * *", x.callback, 0],
      ["y", "0 * * * *", y.callback, "PT1H"],
    ]);
    await time.advance(40_000);
    await scheduler.stop();
    const trace = recorder.trace();
    expect(formatTrace(trace)).toBe("IS IEs RS(x) RS(y) REf(y) REs(x) SS SE");
    expect(formatTrace(withEnvironment(trace))).toBe("IS IEs Due(x) Due(y) RS(x) RS(y) REf(y) REs(x) SS SE");
    expect(trace.actions.find((action) => action.kind === "REs")).toMatchObject({
      at: Date.parse("2026-06-15T12:00:02Z"),
      ranMs: 32_000,
    });
    expect(recorder.events.map((event) => event.type)).toContain("SchedulerStopped");
    expect(checkTrace(trace)).toEqual([]);
  });

  test("writes down what the surroundings do", async () => {
    const { time, recorder, faults, scheduler, x } = stage();
    faults.delayNext(1, 1_000);
    void scheduler.initialize([["x", "0 * * * *", x.callback, 0]]);
    await time.advance(1_000);
    await time.setWallClock("2026-06-15T11:00:00Z");
    await time.setTimeZone("Europe/Berlin");
    await time.pauseProcess(5_000);
    faults.failNext(1);
    await time.advanceTo("2026-06-15T11:30:00Z");
    const kinds = recorder.trace().actions.map((action) => action.kind);
    expect(kinds).toEqual(["IS", "StoreSlow", "IEs", "Clock", "Zone", "Pause", "StoreFailed"]);
  });

  const MALFORMED = [
    { what: "no array", list: "x", malformed: "not an array" },
    { what: "a triple", list: [["x", "* * * * *", async () => {}]], malformed: "entry 0 is no 4-tuple" },
    {
      what: "a name that is a number",
      list: [[1, "* * * * *", async () => {}, 0]],
      malformed: "entry 0 is no 4-tuple",
    },
    { what: "a delay that is no duration", list: [["x", "* * * * *", async () => {}, "soon"]], malformed: "entry 0" },
  ];
  test.each(MALFORMED)("notes a list that is $what, and hands it on as it is", async ({ list, malformed }) => {
    const { recorder, scheduler } = stage();
    await expect(scheduler.initialize(list as unknown as readonly Registration[])).rejects.toThrow();
    const [called, answered] = recorder.trace().actions;
    expect(called).toMatchObject({ kind: "IS", malformed: expect.stringContaining(malformed) });
    expect(answered?.kind).toBe("IEf");
    expect(checkTrace(recorder.trace())).toEqual([]);
  });

  const DELAYS: readonly { readonly delay: DurationLike; readonly ms: number }[] = [
    { delay: 1_500, ms: 1_500 },
    { delay: "PT2M", ms: 120_000 },
    { delay: { toMillis: () => 7 }, ms: 7 },
    { delay: Temporal.Duration.from({ milliseconds: 9 }), ms: 9 },
  ];
  test.each(DELAYS)("reads a delay of $ms ms", async ({ delay, ms }) => {
    const { recorder, scheduler } = stage();
    await scheduler.initialize([["x", "0 * * * *", async () => {}, delay]]);
    expect(recorder.trace().actions[0]).toMatchObject({ tasks: [{ name: "x", retryDelayMs: ms }] });
  });

  test("a run whose end could not be written yet is not saved", async () => {
    const { time, recorder, faults, scheduler, x } = stage();
    x.will("succeed");
    await scheduler.initialize([["x", "0 * * * *", x.callback, 0]]);
    faults.failAt(2);
    await time.advance(30_000);
    expect(
      recorder
        .trace()
        .actions.slice(-3)
        .map((action) => action.kind),
    ).toEqual(["RS", "REs", "StoreFailed"]);
    await time.advance(60_000);
    expect(recorder.trace().actions.at(-1)?.kind).toBe("Saved");
  });

  test("an action can be read", () => {
    const at = Date.parse("2026-06-15T12:00:00Z");
    expect(describeAction({ kind: "RS", task: "x", call: 1, at, ranMs: 5 })).toBe(
      '2026-06-15T12:00:00.000Z +5 RS task="x" call=1',
    );
    expect(describeAction({ kind: "Clock", from: 0, at, ranMs: 5 })).toBe(
      "2026-06-15T12:00:00.000Z +5 Clock from=1970-01-01T00:00:00.000Z",
    );
    expect(describeAction({ kind: "Crash", at, ranMs: 5 })).toBe("2026-06-15T12:00:00.000Z +5 Crash");
  });
});
