import { describe, expect, test } from "vitest";
import type { StateDocument } from "../../src/core/state/document.js";
import { activate } from "../../src/machines/activation.js";
import { at } from "../support/scheduling.js";
import { type Plot, Scenario } from "./scenario.js";

/** Hourly, chosen on the hour, unless a scenario says otherwise. */
const HANDLED_9 = {
  LastHandledPeriodID: "2026-03-01T09:00:00Z",
  LastOutcome: "executed",
  LastChosenTime: "2026-03-01T09:00:00Z",
  LastNominalTime: "2026-03-01T09:00:00Z",
} as const;
const T10 = "2026-03-01T10:00:00Z";
const T11 = "2026-03-01T11:00:00Z";

describe("one run", () => {
  test("S22, S23: gate, claim, GO, end, and the next period; then it rests", () => {
    const job = new Scenario({ document: HANDLED_9 });
    expect(job.wake("2026-03-01T09:30:00Z", true)).toEqual([]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T10} planned`, T10, true]);
    expect(job.wake(T10)).toEqual([`arm a1 period ${T10}`]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T10} eligible.starting`, null, false]);
    expect(job.ready("2026-03-01T10:00:00.200Z", "a1")).toEqual(["persist executed+run_started"]);
    expect([job.live, job.document.LastHandledPeriodID]).toEqual([`${T11} planned`, T10]);
    expect(job.durable("2026-03-01T10:00:00.300Z", "a1")).toEqual(["go a1 by 2026-03-01T10:01:00Z"]);
    expect(job.tell(T10, { type: "STARTED", attemptId: "a1" })).toEqual([]);
    expect(job.activation.attempts[0]?.period?.value).toEqual({ terminal: { executed: "running" } });
    expect(job.exited("2026-03-01T10:05:00Z", "a1", 3)).toEqual(["persist run_ended"]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T11} planned`, T11, true]);
    expect(job.document.History.map((entry) => [entry.PeriodID, entry.Outcome, entry.ExitCode])).toEqual([
      [T10, "executed", 3],
    ]);
  });

  test("S6: a timer that fires early arms nothing and waits again", () => {
    const job = new Scenario({ document: HANDLED_9 });
    expect(job.wake("2026-03-01T09:59:59.999Z")).toEqual([]);
    expect(job.wakeAt).toBe(T10);
  });

  test("a job that rested comes back with its period from the timeline, not with an older one", () => {
    const job = new Scenario({ document: { ...HANDLED_9, LastHandledPeriodID: "2026-02-27T00:00:00Z" } });
    expect(job.tell(T10, { type: "WAKE", isReturning: false, nominalAt: at(T10) })).toEqual([`arm a1 period ${T10}`]);
  });

  test("S12: woken for a period that is handled it does nothing and looks for the next", () => {
    const job = new Scenario({ document: HANDLED_9 });
    expect(job.tell(T10, { type: "WAKE", isReturning: false, nominalAt: at("2026-03-01T08:00:00Z") })).toEqual([
      `arm a1 period ${T10}`,
    ]);
  });

  test("a gate that nobody waits for is closed", () => {
    const job = new Scenario({ document: HANDLED_9 });
    expect(job.ready("2026-03-01T09:30:00Z", "stranger")).toEqual(["close stranger"]);
  });
});

describe("a claim that somebody else has (S23)", () => {
  const HANDLED_10 = { ...HANDLED_9, LastHandledPeriodID: T10, LastChosenTime: T10, LastNominalTime: T10 };
  const claiming = (plot: Plot = {}): Scenario => {
    const job = new Scenario({ document: HANDLED_9, ...plot });
    job.wake(T10);
    job.ready(T10, "a1");
    return job;
  };
  const refuse = (job: Scenario, document: StateDocument, attemptId = "a1"): readonly string[] =>
    job.tell("2026-03-01T10:00:00.300Z", { type: "REFUSED", attemptId, document });

  test("the gate is closed, nothing runs, nothing is written, and the job goes on from what is on record", () => {
    const job = claiming();
    const theirs = { ...new Scenario({ document: HANDLED_10 }).document, LastReason: "theirs" };
    expect(refuse(job, theirs)).toEqual(["close a1"]);
    expect([job.document, job.live, job.wakeAt, job.isResting]).toEqual([theirs, `${T11} planned`, T11, true]);
    expect(job.wake(T11)).toEqual([`arm a2 period ${T11}`]);
  });

  test("what is on record does not know of the period: it is not tried again, and no outcome is made up for it", () => {
    const job = claiming();
    const theirs = new Scenario({ document: HANDLED_9 }).document;
    expect(refuse(job, theirs)).toEqual(["close a1"]);
    expect([job.document, job.live, job.wakeAt]).toEqual([theirs, `${T11} planned`, T11]);
  });

  test("it is on record that the job was paused meanwhile: it is", () => {
    const job = claiming();
    const until = "2026-03-01T12:30:00Z";
    const paused = { ...HANDLED_10, Pause: { Until: until, Reason: "elsewhere" } };
    expect(refuse(job, new Scenario({ document: paused }).document)).toEqual(["close a1"]);
    expect([job.live, job.wakeAt]).toEqual([`${T11} planned`, until]);
  });

  test("the gate of the period that follows was being made already: it is made for what is on record, if at all", () => {
    const job = claiming({ document: HANDLED_9, policy: { concurrency: "allow" } });
    expect(job.wake(T11)).toEqual([`arm a2 period ${T11}`]);
    const beyond = { ...HANDLED_9, LastHandledPeriodID: T11, LastChosenTime: T11, LastNominalTime: T11 };
    expect(refuse(job, new Scenario({ document: beyond }).document)).toEqual(["close a1", "close a2"]);
    expect([job.live, job.activation.attempts]).toEqual(["2026-03-01T12:00:00Z planned", []]);
  });

  test("a report that comes too late changes nothing", () => {
    const job = claiming();
    refuse(job, new Scenario({ document: HANDLED_10 }).document);
    expect(job.durable(T10, "a1")).toEqual([]);
  });
});

describe("held back (S17)", () => {
  const UNTIL = "2026-03-01T12:30:00Z";

  test("a suspended job that is due rests: nothing of it is kept, and the clock alone changes nothing", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { suspend: true } });
    expect(job.wake(T10, true)).toEqual([]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T10} planned`, null, true]);
  });

  test("a paused job that is due rests until its pause is over, and then looks at where it is", () => {
    const job = new Scenario({ document: { ...HANDLED_9, Pause: { Until: UNTIL, Reason: "" } } });
    expect(job.wake(T10)).toEqual([]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T10} planned`, UNTIL, true]);
    job.activation = activate(job.document, job.scope);
    expect(job.tell(UNTIL, { type: "WAKE", isReturning: false, nominalAt: at(T10) })).toEqual([
      expect.stringMatching(/^persist resumed/),
    ]);
    expect(job.document.LastHandledPeriodID).toBe(HANDLED_9.LastHandledPeriodID);
  });
});

describe("not created, not executed (S24)", () => {
  const failing = (deadlineMs: number): Scenario => {
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs } });
    job.wake(T10);
    return job;
  };
  const fail = (job: Scenario, now: string, attemptId: string): readonly string[] =>
    job.tell(now, { type: "FAILED", attemptId, code: "command-not-found" });

  test("the period is not handled; retried after 1 s, 2 s, 4 s with the same decision; missed when the deadline has passed", () => {
    const job = failing(10_000);
    expect(fail(job, T10, "a1")).toEqual(["persist start_failed"]);
    expect([job.document.LastHandledPeriodID, job.wakeAt]).toEqual([
      HANDLED_9.LastHandledPeriodID,
      "2026-03-01T10:00:01Z",
    ]);
    expect(job.wake("2026-03-01T10:00:00.999Z")).toEqual([]);
    expect(job.wake("2026-03-01T10:00:01Z")).toEqual([`arm a2 period ${T10}`]);
    expect(fail(job, "2026-03-01T10:00:01Z", "a2")).toEqual([]);
    expect(job.wakeAt).toBe("2026-03-01T10:00:03Z");
    job.wake("2026-03-01T10:00:03Z");
    fail(job, "2026-03-01T10:00:03Z", "a3");
    expect(job.wakeAt).toBe("2026-03-01T10:00:07Z");
    job.wake("2026-03-01T10:00:07Z");
    fail(job, "2026-03-01T10:00:07Z", "a4");
    expect(job.wakeAt).toBe("2026-03-01T10:00:11Z");
    expect(job.wake("2026-03-01T10:00:11Z")).toEqual(["persist missed(not_started:command-not-found)"]);
    expect(job.live).toBe(`${T11} planned`);
  });

  test("deadline 0: missed after the first failure", () => {
    const job = failing(0);
    // It is not tried again: what is put on record is that it is missed.
    expect(fail(job, "2026-03-01T10:00:00.100Z", "a1")).toEqual([]);
    expect(job.wakeAt).toBe("2026-03-01T10:00:01Z");
    expect(job.wake("2026-03-01T10:00:01Z")).toEqual(["persist missed(not_started:command-not-found)"]);
  });

  test("a later success runs the same period", () => {
    const job = failing(60_000);
    fail(job, T10, "a1");
    job.wake("2026-03-01T10:00:01Z");
    expect(job.ready("2026-03-01T10:00:01Z", "a2")).toEqual(["persist executed+run_started"]);
    expect(job.document.LastHandledPeriodID).toBe(T10);
  });

  test("S13: still open when the next becomes eligible: missed, and the next is evaluated in the same step", () => {
    const job = failing(5 * 3_600_000);
    fail(job, "2026-03-01T10:59:59.500Z", "a1");
    expect(job.wakeAt).toBe(T11);
    expect(job.wake(T11)).toEqual(["persist missed(not_started:command-not-found)", `arm a2 period ${T11}`]);
  });

  test("S23: the gate ends while its claim is written: no GO; the claim gets an ending", () => {
    const job = failing(0);
    job.ready(T10, "a1");
    expect(fail(job, T10, "a1")).toEqual([]);
    expect(job.durable(T10, "a1")).toEqual(["persist run_ended"]);
    expect([job.document.LastOutcome, job.document.History[0]?.Reason]).toEqual(["executed", "start_unconfirmed"]);
  });
});

describe("too late (S20)", () => {
  test("beyond the start grace before the claim: missed, late_start, and the gate is closed", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.wake(T10);
    expect(job.ready("2026-03-01T10:01:01Z", "a1")).toEqual(["close a1", "persist missed(late_start)"]);
  });

  test("in the last second of the grace it is claimed", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.wake(T10);
    expect(job.ready("2026-03-01T10:01:00.999Z", "a1")).toEqual(["persist executed+run_started"]);
  });

  test("the gate finds it too late: exit code null, aborted_late", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.wake(T10);
    job.ready(T10, "a1");
    job.durable(T10, "a1");
    expect(job.tell("2026-03-01T10:01:01Z", { type: "NOT_RUN", attemptId: "a1", reason: "late" })).toEqual([
      "persist run_ended",
    ]);
    expect(job.document.History[0]).toMatchObject({ Outcome: "executed", ExitCode: null, Reason: "aborted_late" });
  });
});

describe("concurrency", () => {
  const running = (concurrency: "allow" | "forbid" | "replace", deadlineMs = 0): Scenario => {
    const job = new Scenario({ document: HANDLED_9, policy: { concurrency, deadlineMs } });
    job.wake(T10);
    job.start(T10, "a1", 1);
    return job;
  };

  test("SPEC forbid: skipped, and what runs is not touched", () => {
    const job = running("forbid");
    expect(job.wake(T11)).toEqual(["persist skipped(concurrency_forbid)"]);
    expect([job.document.LastOutcome, job.document.ActiveExecution?.PeriodID]).toEqual(["skipped", T10]);
  });

  test("S26 allow: both run; when the newest ends the older moves up", () => {
    const job = running("allow");
    job.wake(T11);
    job.start(T11, "a2", 2);
    expect(job.document.OtherActive?.map((active) => active.PID)).toEqual([1]);
    job.exited(T11, "a2");
    expect([job.document.ActiveExecution?.PID, job.document.OtherActive]).toEqual([1, undefined]);
  });

  test("S26 max_active: skipped, too_many_active", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { concurrency: "allow", maxActive: 1 } });
    job.wake(T10);
    job.start(T10, "a1");
    expect(job.wake(T11)).toEqual(["persist skipped(too_many_active)"]);
  });

  test("S25 replace: ended, verified gone, then started, with the grace counted anew", () => {
    const job = running("replace");
    expect(job.wake(T11)).toEqual(["terminate a1 replaced"]);
    expect(job.exited("2026-03-01T11:02:00Z", "a1", null)).toEqual(["persist run_ended"]);
    expect(job.live).toBe(`${T11} eligible.clearing`);
    expect(job.tell("2026-03-01T11:02:00Z", { type: "TERMINATED", attemptId: "a1", isGone: true })).toEqual([
      `arm a2 period ${T11}`,
    ]);
    job.ready("2026-03-01T11:02:30Z", "a2");
    expect(job.durable("2026-03-01T11:02:30Z", "a2")).toEqual(["go a2 by 2026-03-01T11:03:00Z"]);
    expect(job.document.History[0]).toMatchObject({ PeriodID: T10, Reason: "replaced" });
  });

  test("S25 replace: not gone: nothing started, unhandled, asked again, missed when the deadline has passed", () => {
    const job = running("replace", 1000);
    job.wake(T11);
    job.exited(T11, "a1", null);
    expect(job.tell(T11, { type: "TERMINATED", attemptId: "a1", isGone: false })).toEqual(["persist start_failed"]);
    expect([job.live, job.document.LastHandledPeriodID]).toEqual([`${T11} eligible.retrying`, T10]);
    expect(job.wake("2026-03-01T11:00:01Z")).toEqual(["terminate a1 replaced"]);
    job.tell("2026-03-01T11:00:01Z", { type: "TERMINATED", attemptId: "a1", isGone: false });
    expect(job.wake("2026-03-01T11:00:02Z")).toEqual(["persist missed(not_started:replace-not-terminated)"]);
  });

  test("S25 replace: the deadline is judged before the victims are told to end", () => {
    expect(running("replace").wake("2026-03-01T11:00:01Z")).toEqual(["persist missed(stalled)"]);
  });

  test("S25 replace: the victims are all that run", () => {
    const job = running("allow");
    job.wake(T11);
    job.start(T11, "a2", 2);
    job.scope = { ...job.scope, policy: { ...job.scope.policy, concurrency: "replace" } };
    expect(job.wake("2026-03-01T12:00:00Z")).toEqual(["terminate a1 replaced", "terminate a2 replaced"]);
    job.exited("2026-03-01T12:00:00Z", "a1");
    job.tell("2026-03-01T12:00:00Z", { type: "TERMINATED", attemptId: "a1", isGone: true });
    expect(job.live).toBe("2026-03-01T12:00:00Z eligible.clearing");
  });

  test("S21: a run that began between trigger and claim is seen: skipped, and the gate is closed", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.wake(T10);
    job.tell(T10, { type: "RUN", source: "manual", slotAt: at(T10) });
    job.ready(T10, "a2", 2);
    expect(job.ready(T10, "a1", 1)).toEqual(["close a1", "persist skipped(concurrency_forbid)"]);
  });
});
