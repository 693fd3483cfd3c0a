import { expect, test } from "vitest";
import { systemClock } from "../../../src/actors/clock.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import {
  LOOP_WATCH_LIMITS,
  type LoopDelayReport,
  type LoopGauge,
  LoopWatch,
  systemLoopGauge,
} from "../../../src/krond/monitor/loop-watch.js";

/** A loop whose delays are what the test says they are. */
function world(): {
  readonly watch: LoopWatch;
  readonly reports: LoopDelayReport[];
  collectGarbage(durationMs: number): void;
  /** The next beat is late by so much. */
  beat(lateMs: number): void;
  pass(ms: number): void;
} {
  const clock = new SimulatedClock({ startAt: 0 });
  const reports: LoopDelayReport[] = [];
  let beat = (_lateMs: number): void => {};
  let collectGarbage = (_durationMs: number): void => {};
  const gauge: LoopGauge = {
    start: (onBeat, onGarbageCollection) => {
      beat = onBeat;
      collectGarbage = onGarbageCollection;
    },
    stop: () => undefined,
  };
  const watch = new LoopWatch({ clock, gauge, onDelay: (report) => void reports.push(report) });
  watch.start();
  const pass = (ms: number): void => clock.advance(ms);
  return { watch, reports, collectGarbage: (ms) => collectGarbage(ms), beat: (ms) => beat(ms), pass };
}

test("a short delay is nobody's business, a long one is told with what ran meanwhile", () => {
  const { watch, reports, collectGarbage, beat } = world();
  const ended = watch.during("a reload");
  beat(99);
  watch.holding("a commit of 500 documents, 900 entries", 140.4);
  watch.holding("a commit of 1 documents, 1 entries", 3);
  collectGarbage(25);
  for (const identity of ["a", "b", "a"]) watch.dealtWith(identity);
  ended();
  beat(150.2);
  expect(reports).toEqual([
    {
      delayMs: 150,
      during: [
        "a commit of 500 documents, 900 entries (140 ms)",
        "garbage collection (25 ms)",
        "a reload",
        "a tick of 2 jobs",
      ],
      untold: 0,
    },
  ]);
});

test("what was over before the last beat is not blamed; what is still under way is", () => {
  const { watch, reports, beat } = world();
  watch.during("the start");
  watch.during("a plan")();
  watch.dealtWith("a");
  beat(0);
  beat(200);
  expect(reports[0]?.during).toEqual(["the start"]);
});

test("nobody can be blamed: unknown", () => {
  const { reports, beat } = world();
  beat(101);
  expect(reports).toEqual([{ delayMs: 101, during: ["unknown"], untold: 0 }]);
});

test("one line in ten seconds, which counts the others", () => {
  const { reports, beat, pass } = world();
  for (let count = 0; count < 21; count += 1) {
    beat(300);
    pass(1_000);
  }
  expect(reports.map(({ untold }) => untold)).toEqual([0, 9, 9]);
});

test("a loop that stood still for long is said to be ill, for a while", () => {
  const { watch, beat, pass } = world();
  beat(LOOP_WATCH_LIMITS.stallMs - 1);
  expect(watch.stalledMs()).toBeNull();
  beat(LOOP_WATCH_LIMITS.stallMs + 5);
  expect(watch.stalledMs()).toBe(LOOP_WATCH_LIMITS.stallMs + 5);
  pass(LOOP_WATCH_LIMITS.rememberStallMs);
  expect(watch.stalledMs()).toBeNull();
});

test("the real gauge sees a loop that is held up", async () => {
  const gauge = systemLoopGauge(systemClock);
  const isLate = new Promise<number>((resolve) => {
    const onBeat = (lateMs: number): void => {
      if (lateMs > 100) resolve(lateMs);
    };
    gauge.start(onBeat, () => undefined);
  });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(await isLate).toBeGreaterThan(100);
  gauge.stop();
});
