/**
 * S11: several periods that have to wait for one that is older. None of them is to be missed because of the others: each
 * one's deadline counts from when nothing older was left in front of it.
 */
import { describe, expect, test } from "vitest";
import type { SchedulingRule } from "../../src/core/decision/rule.js";
import type { Policy } from "../../src/core/job/definition.js";
import { ENGINE } from "../../src/machines/engine.js";
import { createStepper, type Stepper } from "../../src/machines/step.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

/** Hourly periods whose chosen times are as a clock change may put them. */
const T09 = "2026-03-01T09:00:00Z";
const T10 = "2026-03-01T10:00:00Z";
const T11 = "2026-03-01T11:00:00Z";
const T12 = "2026-03-01T12:00:00Z";
const LAST_DUE = "2026-03-01T12:20:00Z";

const HANDLED_9 = {
  LastHandledPeriodID: T09,
  LastOutcome: "executed",
  LastChosenTime: T09,
  LastNominalTime: T09,
} as const;

type ChosenTimes = Readonly<Record<string, string>>;

/** `throwsFor` cannot be decided `failures` times (S18). */
function deciding(chosen: ChosenTimes, throwsFor = "", failures = 0): Stepper {
  let left = failures;
  return createStepper({
    ...ENGINE,
    decide: (compiled, nominalAt) => {
      if (nominalAt === at(throwsFor || T09) && left-- > 0) throw new Error("no entropy");
      const decision = ENGINE.decide(compiled, nominalAt);
      return { ...decision, chosenAt: at(chosen[decision.periodId] ?? decision.periodId) };
    },
  });
}

/** T10 is chosen last; the two that follow were due long before it. */
function waiting(policy: Partial<Policy>, step: Stepper = deciding({ [T10]: LAST_DUE })): Scenario {
  const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 1000, ...policy }, step });
  job.wake(T10, true);
  expect(job.wake(LAST_DUE)).toEqual([`arm a1 period ${T10}`]);
  return job;
}

describe("S11: a chain of periods that wait for an older one", () => {
  test("the second is settled without taking time: the third is judged as on time, not as missed", () => {
    const job = waiting({ concurrency: "forbid" });
    expect(job.ready("2026-03-01T12:20:01Z", "a1")).toEqual([
      "persist executed+run_started",
      "persist skipped(concurrency_forbid)",
      "persist skipped(concurrency_forbid)",
    ]);
  });

  test("the second takes its time: the third counts from when the second was handled", () => {
    const job = waiting({ concurrency: "allow" });
    const claimed = "persist executed+run_started";
    expect(job.ready("2026-03-01T12:20:01Z", "a1", 1)).toEqual([claimed, `arm a2 period ${T11}`]);
    expect(job.ready("2026-03-01T12:20:20Z", "a2", 2)).toEqual([claimed, `arm a3 period ${T12}`]);
  });

  test("the second fails to start and makes room: the third starts", () => {
    const job = waiting({ concurrency: "allow", deadlineMs: 60_000 });
    job.ready("2026-03-01T12:20:01Z", "a1", 1);
    job.tell("2026-03-01T12:21:20Z", { type: "FAILED", attemptId: "a2", code: "command-not-found" });
    expect(job.wake("2026-03-01T12:21:21Z")).toEqual([
      "persist missed(not_started:command-not-found)",
      `arm a3 period ${T12}`,
    ]);
  });

  test("the older one is missed: all that waited for it start", () => {
    const job = waiting({ concurrency: "allow" });
    job.tell("2026-03-01T12:20:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
    expect(job.wake("2026-03-01T12:20:02Z")).toEqual([
      "persist missed(not_started:command-not-found)",
      `arm a2 period ${T11}`,
    ]);
    expect(job.ready("2026-03-01T12:20:03Z", "a2")).toEqual(["persist executed+run_started", `arm a3 period ${T12}`]);
  });

  test("S18: the second cannot be decided at first: it still counts from when the older one was handled", () => {
    const job = waiting({ concurrency: "allow" }, deciding({ [T10]: LAST_DUE }, T11, 1));
    const claimed = "persist executed+run_started";
    expect(job.ready("2026-03-01T12:20:00Z", "a1", 1)).toEqual([claimed, `undecided ${T11} 1`]);
    expect(job.wake("2026-03-01T12:20:01Z")).toEqual([`arm a2 period ${T11}`]);
    expect(job.ready("2026-03-01T12:20:02Z", "a2", 2)).toEqual([claimed, `arm a3 period ${T12}`]);
  });

  test("one that is due only after the wait of those before it did not wait with them: its own deadline counts", () => {
    const step = deciding({ [T10]: LAST_DUE, [T12]: "2026-03-01T12:20:02Z" });
    const job = waiting({ concurrency: "allow", deadlineMs: 0 }, step);
    job.ready("2026-03-01T12:20:00Z", "a1", 1);
    job.wake("2026-03-01T12:20:02Z");
    expect(job.ready("2026-03-01T12:20:04Z", "a2", 2)).toEqual([
      "persist executed+run_started",
      "persist missed(deadline)",
    ]);
  });
});

/** Half an hour is skipped on Lord Howe Island, from 02:00 to 02:30, and three windows of 19 minutes come to overlap. */
const LORD_HOWE: Partial<SchedulingRule> = {
  schedule: "10,31,50 * * * *",
  timezone: "Australia/Lord_Howe",
  dst: { gap: "next", overlap: "both" },
  window: { mode: "after", durationMs: 19 * 60_000 },
  seed: { strategy: "stable", salt: "26" },
};

describe("S11, S3: a chain that a clock change makes", () => {
  test("02:00 becomes 02:30 with `gap: next`: the third of three overlapping windows is not missed", () => {
    const job = new Scenario({ rule: LORD_HOWE, policy: { concurrency: "forbid" } });
    job.wake("2026-10-03T15:20:00Z", true);
    expect([job.live, job.wakeAt]).toEqual(["2026-10-03T15:20:00Z planned", "2026-10-03T15:38:14Z"]);
    job.wake("2026-10-03T15:38:14Z");
    // Chosen at 15:33:21 and at 15:37:47.
    expect(job.ready("2026-10-03T15:38:15Z", "a1")).toEqual([
      "persist executed+run_started",
      "persist skipped(concurrency_forbid)",
      "persist skipped(concurrency_forbid)",
    ]);
  });
});
