/** S40-S42: intervals, bounds of a job's pace and hints, taken through the production step. */
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/core/base/errors/registry.js";
import type { Hint } from "../../src/core/governor/hint.js";
import type { StateDocument } from "../../src/core/state/document.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const EVERY_5M = { rule: { schedule: "@every 5m" } };
const RAN_1158 = { LastRunAt: "2026-03-01T11:58:00Z", DefinedAt: "2026-03-01T11:00:00Z" };
const HOURLY = {
  LastHandledPeriodID: "2026-03-01T11:00:00Z",
  LastOutcome: "executed",
  LastNominalTime: "2026-03-01T11:00:00Z",
} as const;

const interval = (intervalMs: number, expires = "2026-03-01T13:00:00Z"): Hint => ({
  kind: "interval",
  intervalMs,
  expiresAt: at(expires),
  reason: "r",
});
const oneshot = (next: string, expires = "2026-03-01T13:00:00Z"): Hint => ({
  kind: "oneshot",
  nextRunAt: at(next),
  expiresAt: at(expires),
  reason: "r",
});

describe("a job with an interval", () => {
  test("S40: first from its definition on, then from the start of each run", () => {
    const job = new Scenario({ ...EVERY_5M, document: { DefinedAt: "2026-03-01T11:57:00Z" } });
    expect(job.wake(NOON, true)).toEqual([]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([
      "2026-03-01T12:02:00Z planned",
      "2026-03-01T12:02:00Z",
      true,
    ]);
    expect(job.wake("2026-03-01T12:02:00Z")).toEqual(["arm a1 interval 2026-03-01T12:02:00Z"]);
    expect(job.ready("2026-03-01T12:02:01Z", "a1")).toEqual(["persist run_started"]);
    expect(job.document).toMatchObject({
      LastRunAt: "2026-03-01T12:02:01Z",
      LastSlot: { interval: "2026-03-01T12:02:00Z" },
      LastHandledPeriodID: "",
    });
    expect(job.durable("2026-03-01T12:02:01Z", "a1")).toEqual(["go a1 by 2026-03-01T12:03:00Z"]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:07:01Z planned", "2026-03-01T12:07:01Z"]);
  });

  test("S40, S41: after hours of nobody being there it runs once, under the slot that was promised", () => {
    const job = new Scenario({ ...EVERY_5M, document: { ...RAN_1158, LastRunAt: "2026-03-01T08:00:00Z" } });
    expect(job.wake(NOON, true)).toEqual(["arm a1 interval 2026-03-01T08:05:00Z"]);
    job.ready(NOON, "a1");
    expect([job.live, job.document.LastSlot]).toEqual([
      "2026-03-01T12:05:00Z planned",
      { interval: "2026-03-01T08:05:00Z" },
    ]);
  });

  test("a run that goes on: the slot waits for its end and is not skipped (S40)", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158, policy: { concurrency: "forbid" } });
    job.wake("2026-03-01T12:03:00Z");
    job.start("2026-03-01T12:03:00Z", "a1");
    expect(job.wake("2026-03-01T12:08:00Z")).toEqual([]);
    expect([job.live, job.document.LastOutcome]).toEqual(["2026-03-01T12:08:00Z eligible.judging", ""]);
    // Until then the clock changes nothing, so that nobody is woken over and over.
    expect(job.wakeAt).toBeNull();
    expect(job.exited("2026-03-01T12:09:30Z", "a1")).toEqual([
      "persist run_ended",
      "arm a2 interval 2026-03-01T12:08:00Z",
    ]);
  });

  test("S24: what could not be started stays due, and is tried again", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    job.wake("2026-03-01T12:03:00Z");
    job.tell("2026-03-01T12:03:00Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:03:00Z eligible.retrying", "2026-03-01T12:03:01Z"]);
    expect(job.wake("2026-03-01T12:03:01Z")).toEqual(["arm a2 interval 2026-03-01T12:03:00Z"]);
  });

  test("S46: what stands in its way is on record once, and again when it is something else, until it is started", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    const failed = (second: number, attemptId: string, code: ErrorCode): readonly string[] =>
      job.tell(`2026-03-01T12:03:0${second}Z`, { type: "FAILED", attemptId, code });
    job.wake("2026-03-01T12:03:00Z");
    expect(failed(0, "a1", "command-not-found")).toEqual(["persist start_failed"]);
    expect(job.document.StartFailure).toEqual({
      Source: "interval",
      Slot: "2026-03-01T12:03:00Z",
      Code: "command-not-found",
      Since: "2026-03-01T12:03:00Z",
    });
    job.wake("2026-03-01T12:03:01Z");
    expect(failed(1, "a2", "command-not-found")).toEqual([]);
    job.wake("2026-03-01T12:03:03Z");
    expect(failed(3, "a3", "user-unknown")).toEqual(["persist start_failed"]);
    expect(job.document.StartFailure).toMatchObject({ Code: "user-unknown", Since: "2026-03-01T12:03:00Z" });
    job.wake("2026-03-01T12:03:07Z");
    expect(job.ready("2026-03-01T12:03:07Z", "a4")).toEqual(["persist run_started"]);
    expect(job.document).not.toHaveProperty("StartFailure");
  });

  test("S46: a restart knows of it, and says nothing anew", () => {
    const StartFailure = {
      Source: "interval",
      Slot: "2026-03-01T12:03:00Z",
      Code: "command-not-found",
      Since: "2026-03-01T12:03:00Z",
    };
    const job = new Scenario({ ...EVERY_5M, document: { ...RAN_1158, StartFailure } });
    job.wake("2026-03-01T12:30:00Z", true);
    expect(job.tell("2026-03-01T12:30:00Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" })).toEqual(
      [],
    );
    expect(job.document.StartFailure).toEqual(StartFailure);
  });

  test("S20: a gate that is ready long after its bound is closed, and the slot is still due", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    job.wake("2026-03-01T12:03:00Z");
    expect(job.ready("2026-03-01T12:30:00Z", "a1")).toEqual(["close a1"]);
    expect(job.wake("2026-03-01T12:30:01Z")).toEqual(["arm a2 interval 2026-03-01T12:03:00Z"]);
  });

  test("S17: suspended it plans, and does nothing", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158, policy: { suspend: true } });
    expect(job.wake("2026-03-01T12:10:00Z", true)).toEqual([]);
    expect([job.wakeAt, job.isResting]).toEqual([null, true]);
  });

  test("S17: paused while it rests, it wakes when the pause ends, and runs what came due in it once", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    const pause = { type: "PAUSE", untilAt: at("2026-03-01T12:05:00Z"), reason: "x" } as const;
    expect(job.tell("2026-03-01T11:59:00Z", pause)).toEqual(["persist paused"]);
    expect([job.wakeAt, job.isResting]).toEqual(["2026-03-01T12:05:00Z", true]);
    expect(job.wake("2026-03-01T12:05:00Z")).toEqual(["persist resumed", "arm a1 interval 2026-03-01T12:03:00Z"]);
  });

  test("S41: a run that somebody asked for moves the next slot", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    job.wake(NOON, true);
    job.tell(NOON, { type: "RUN", source: "manual", slotAt: at(NOON) });
    job.start(NOON, "a1");
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:05:00Z planned", "2026-03-01T12:05:00Z"]);
  });
});

describe("bounds of a job's pace", () => {
  test("a cron job that ran and must run again before its next period gets a slot of its own", () => {
    const rule = { schedule: "0 * * * *", pace: { minMs: null, maxMs: 600_000 } };
    const job = new Scenario({
      rule,
      document: { ...HOURLY, LastRunAt: "2026-03-01T12:05:00Z", LastHandledPeriodID: NOON, LastNominalTime: NOON },
    });
    expect(job.wake("2026-03-01T12:05:00Z", true)).toEqual([]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:15:00Z planned", "2026-03-01T12:15:00Z"]);
    expect(job.wake("2026-03-01T12:15:00Z")).toEqual(["arm a1 interval 2026-03-01T12:15:00Z"]);
  });

  test("a period that comes too soon after the last run is held, and its deadline counts from then (S11)", () => {
    const rule = { schedule: "0 * * * *", pace: { minMs: 600_000, maxMs: null } };
    const job = new Scenario({ rule, document: { ...HOURLY, LastRunAt: "2026-03-01T11:55:00Z" } });
    expect(job.wake(NOON, true)).toEqual([]);
    expect([job.live, job.wakeAt]).toEqual([`${NOON} planned`, "2026-03-01T12:05:00Z"]);
    expect(job.wake("2026-03-01T12:05:00Z")).toEqual([`arm a1 period ${NOON}`]);
    expect(job.ready("2026-03-01T12:05:00Z", "a1")).toEqual(["persist executed+run_started"]);
  });
});

describe("hints", () => {
  const cron = (document: Partial<StateDocument> = {}) =>
    new Scenario({
      rule: { schedule: "0 * * * *" },
      document: { ...HOURLY, LastRunAt: "2026-03-01T11:59:30Z", ...document },
    });

  test("S41: an interval stands in for the schedule until its TTL; what passes meanwhile is told once, and why", () => {
    const job = cron();
    job.wake("2026-03-01T11:59:30Z", true);
    expect(job.tell("2026-03-01T11:59:40Z", { type: "HINT", hint: interval(90_000, "2026-03-01T12:02:00Z") })).toEqual([
      "persist hint_set",
    ]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:01:00Z planned", "2026-03-01T12:01:00Z"]);
    expect(job.wake("2026-03-01T12:01:00Z")).toEqual(["arm a1 hint-interval 2026-03-01T12:01:00Z"]);
    job.start("2026-03-01T12:01:00Z", "a1");
    job.exited("2026-03-01T12:01:02Z", "a1");
    // The next one would come when the hint is over.
    expect(job.wakeAt).toBe("2026-03-01T12:02:00Z");
    expect(job.wake("2026-03-01T12:02:00Z")).toEqual(["persist hint_ended+periods_not_evaluated"]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T13:00:00Z planned", "2026-03-01T13:00:00Z"]);
    expect([job.document.Hints, job.document.EvaluatesFrom]).toEqual([undefined, "2026-03-01T12:02:00Z"]);
  });

  test("S41: what passed in a hint is not evaluated after a restart either, whatever the deadline", () => {
    const job = new Scenario({
      rule: { schedule: "0 * * * *" },
      policy: { deadlineMs: 3_600_000 },
      document: { ...HOURLY, EvaluatesFrom: "2026-03-01T12:02:00Z" },
    });
    expect(job.wake("2026-03-01T12:03:00Z", true)).toEqual([]);
    expect(job.live).toBe("2026-03-01T13:00:00Z planned");
  });

  test("S42: a one-shot is consumed by the run that it causes, in the transaction that claims it", () => {
    const job = cron();
    job.wake("2026-03-01T12:10:00Z", true);
    job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:30:00Z") });
    expect(job.live).toBe("2026-03-01T12:30:00Z planned");
    expect(job.wake("2026-03-01T12:30:00Z")).toEqual(["arm a1 hint-oneshot 2026-03-01T12:30:00Z"]);
    expect(job.ready("2026-03-01T12:30:00Z", "a1")).toEqual(["persist hint_ended+run_started"]);
    expect([job.document.Hints, job.document.LastSlot]).toEqual([
      undefined,
      { "hint-oneshot": "2026-03-01T12:30:00Z" },
    ]);
    expect(job.live).toBe("2026-03-01T13:00:00Z planned");
  });

  test("S41: a one-shot of the past runs now; the same instant again is none (S40)", () => {
    const job = cron({ LastHandledPeriodID: NOON, LastNominalTime: NOON });
    job.wake("2026-03-01T12:10:00Z", true);
    expect(job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:05:00Z") })).toEqual([
      "persist hint_set",
      "arm a1 hint-oneshot 2026-03-01T12:05:00Z",
    ]);
    job.start("2026-03-01T12:10:00Z", "a1");
    job.exited("2026-03-01T12:10:01Z", "a1");
    expect(job.tell("2026-03-01T12:11:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:05:00Z") })).toEqual([]);
  });

  test("a one-shot whose TTL passes while it waits for a run is over, and is told so", () => {
    const job = new Scenario({ ...EVERY_5M, document: RAN_1158 });
    job.wake("2026-03-01T12:03:00Z");
    job.start("2026-03-01T12:03:00Z", "a1");
    job.tell("2026-03-01T12:04:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:04:00Z", "2026-03-01T12:05:00Z") });
    expect(job.live).toBe("2026-03-01T12:04:00Z eligible.judging");
    expect(job.wake("2026-03-01T12:05:00Z")).toEqual(["persist hint_ended"]);
    expect(job.exited("2026-03-01T12:06:00Z", "a1")).toEqual(["persist run_ended"]);
    expect(job.live).toBe("2026-03-01T12:08:00Z planned");
  });

  test("S41: a hint never drops what is due; a period that is being started goes on", () => {
    const job = cron();
    job.wake(NOON);
    expect(job.tell(NOON, { type: "HINT", hint: interval(90_000) })).toEqual(["persist hint_set"]);
    expect(job.live).toBe(`${NOON} eligible.starting`);
    expect(job.ready(NOON, "a1")).toEqual(["persist executed+run_started"]);
    expect(job.live).toBe("2026-03-01T12:01:30Z planned");
  });

  test("cleared: the schedule is in force again, and what passed is told", () => {
    const job = cron();
    job.wake("2026-03-01T11:59:30Z", true);
    job.tell("2026-03-01T11:59:40Z", { type: "HINT", hint: interval(1_800_000) });
    expect(job.tell("2026-03-01T12:20:00Z", { type: "UNHINT", kind: "all" })).toEqual([
      "persist hint_ended+periods_not_evaluated",
    ]);
    expect(job.live).toBe("2026-03-01T13:00:00Z planned");
    expect(job.tell("2026-03-01T12:21:00Z", { type: "UNHINT", kind: "all" })).toEqual([]);
  });

  test("S46: with the hint goes what kept its slot from being started", () => {
    const job = new Scenario({ document: { ...HOURLY } });
    job.tell(NOON, { type: "HINT", hint: oneshot("2026-03-01T11:59:00Z", "2026-03-01T12:10:00Z") });
    job.tell(NOON, { type: "FAILED", attemptId: "a1", code: "cwd-unusable" });
    expect(job.document.StartFailure).toMatchObject({ Source: "hint-oneshot", Code: "cwd-unusable" });
    job.tell("2026-03-01T12:01:00Z", { type: "UNHINT", kind: "all" });
    expect(job.document).not.toHaveProperty("StartFailure");
  });

  test("S17: a paused job keeps its hint, and runs nothing", () => {
    const job = cron();
    job.wake("2026-03-01T11:59:30Z", true);
    job.tell("2026-03-01T11:59:40Z", { type: "PAUSE", untilAt: at("2026-03-01T12:30:00Z"), reason: "x" });
    job.tell("2026-03-01T11:59:50Z", { type: "HINT", hint: interval(90_000) });
    expect(job.wakeAt).toBe("2026-03-01T12:30:00Z");
    expect(job.wake("2026-03-01T12:30:00Z")).toEqual([
      "persist resumed+periods_not_evaluated",
      "arm a1 hint-interval 2026-03-01T12:01:00Z",
    ]);
    expect(job.facts.at(-1)).toMatchObject({ firstAt: at(NOON), count: 1, reason: "paused" });
  });

  test("S16: a job that is removed and comes back repeats no slot", () => {
    const job = new Scenario({
      ...EVERY_5M,
      document: { ...RAN_1158, LastSlot: { interval: "2026-03-01T11:58:00Z" } },
    });
    job.tell(NOON, { type: "REMOVE" });
    job.tell("2026-03-01T12:01:00Z", { type: "DEFINE", hash: "h2", carriedAt: null });
    expect(job.live).toBe("2026-03-01T12:03:00Z planned");
  });
});
