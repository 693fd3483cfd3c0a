import { describe, expect, test } from "vitest";
import { type ControlledTask, controlledTask, virtualTime } from "../../../src/scheduler/testing/index.js";

function stage() {
  const time = virtualTime({ startAt: 0 });
  const task = controlledTask(time);
  const ends: string[] = [];
  const run = (): void => {
    const started = new Promise<void>((resolve) => resolve(task.callback()));
    started.then(
      () => ends.push(`succeeded at ${time.clock.now()}`),
      () => ends.push(`failed at ${time.clock.now()}`),
    );
  };
  return { time, task, ends, run };
}

describe("a controlled task", () => {
  const SCRIPTED = [
    { outcome: "succeed", ends: ["succeeded at 0"] },
    { outcome: "fail", ends: ["failed at 0"] },
    { outcome: "throw", ends: ["failed at 0"] },
    { outcome: "hang", ends: [] },
    { outcome: { takesMs: 60, ending: "succeed" }, ends: ["succeeded at 60"] },
    { outcome: { takesMs: 60, ending: "fail" }, ends: ["failed at 60"] },
  ] as const;
  test.each(SCRIPTED)("does what it will: $outcome", async ({ outcome, ends: expected }) => {
    const { time, task, ends, run } = stage();
    task.will(outcome);
    run();
    await time.advance(100);
    expect(ends).toEqual(expected);
    expect(task.runs).toHaveLength(1);
  });

  const BY_HAND = [
    { how: "succeed", act: (task: ControlledTask) => task.succeed(), ends: ["succeeded at 5"] },
    { how: "fail", act: (task: ControlledTask) => task.fail(new Error("no")), ends: ["failed at 5"] },
  ];
  test.each(BY_HAND)("ends when the test says so: $how", async ({ act, ends: expected }) => {
    const { time, task, ends, run } = stage();
    run();
    await time.advance(5);
    expect(task.runs[0]?.isOpen()).toBe(true);
    expect(act(task)).toBe(true);
    expect(act(task)).toBe(false);
    await time.settle();
    expect(ends).toEqual(expected);
    expect(task.runs[0]).toMatchObject({ startedAt: 0, endsByItself: false });
  });

  test("falls back to what it does otherwise", async () => {
    const { time, task, ends, run } = stage();
    task.will("fail");
    task.otherwise("succeed");
    run();
    run();
    await time.settle();
    expect(ends).toEqual(["failed at 0", "succeeded at 0"]);
  });
});
