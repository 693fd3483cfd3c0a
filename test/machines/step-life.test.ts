import { describe, expect, test } from "vitest";
import { decide } from "../../src/core/decision/decide.js";
import { formatInstant } from "../../src/core/time/instant.js";
import { ENGINE } from "../../src/machines/engine.js";
import { createStepper } from "../../src/machines/step.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

/** Hourly, chosen on the hour, unless a scenario says otherwise. */
const HANDLED_9 = {
  LastHandledPeriodID: "2026-03-01T09:00:00Z",
  LastOutcome: "executed",
  LastChosenTime: "2026-03-01T09:00:00Z",
  LastNominalTime: "2026-03-01T09:00:00Z",
} as const;
const T10 = "2026-03-01T10:00:00Z";
const T11 = "2026-03-01T11:00:00Z";

describe("suspend, pause, removal", () => {
  test("S17: paused: no trigger and nothing handled; ends by itself, and what passed in it never runs", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 3_600_000 } });
    expect(
      job.tell("2026-03-01T09:30:00Z", { type: "PAUSE", untilAt: at("2026-03-01T12:30:00Z"), reason: "x" }),
    ).toEqual(["persist paused"]);
    expect(job.wake(T10)).toEqual([]);
    expect([job.document.LastHandledPeriodID, job.wakeAt]).toEqual([
      HANDLED_9.LastHandledPeriodID,
      "2026-03-01T12:30:00Z",
    ]);
    expect(job.wake("2026-03-01T12:30:00Z")).toEqual(["persist resumed+periods_not_evaluated"]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T13:00:00Z planned", "2026-03-01T13:00:00Z"]);
    expect(job.document.EvaluatesFrom).toBe("2026-03-01T12:30:00Z");
    expect(job.wake("2026-03-01T13:00:00Z")).toEqual(["arm a1 period 2026-03-01T13:00:00Z"]);
  });

  test("S17: resumed before its end: likewise, and what is still to come runs", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 3_600_000 } });
    job.tell("2026-03-01T09:30:00Z", { type: "PAUSE", untilAt: at("2026-03-01T12:30:00Z"), reason: "x" });
    job.wake(T10);
    expect(job.tell("2026-03-01T10:20:00Z", { type: "RESUME" })).toEqual(["persist resumed+periods_not_evaluated"]);
    expect(job.wake(T11)).toEqual([`arm a1 period ${T11}`]);
  });

  test("S17: one that catches up: the current period runs, and those before it are told as paused", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 3_600_000 } });
    const pause = { type: "PAUSE", untilAt: at("2026-03-01T12:30:00Z"), reason: "x", catchesUp: true } as const;
    job.tell("2026-03-01T09:30:00Z", pause);
    expect(job.wake("2026-03-01T12:30:00Z")).toEqual([
      "persist resumed",
      "persist periods_not_evaluated",
      "arm a1 period 2026-03-01T12:00:00Z",
    ]);
  });

  test("S17, S20: one that catches up too late: the period is missed for the pause", () => {
    const job = new Scenario({ document: HANDLED_9 });
    const pause = { type: "PAUSE", untilAt: at("2026-03-01T10:30:00Z"), reason: "x", catchesUp: true } as const;
    job.tell("2026-03-01T09:30:00Z", pause);
    expect(job.wake("2026-03-01T10:30:00Z")).toEqual(["persist resumed", "persist missed(paused)"]);
  });

  test("S17: what a pause has found told already is not told again", () => {
    const job = new Scenario({ document: HANDLED_9, rule: { window: { mode: "after", durationMs: 3_000_000 } } });
    expect(job.wake("2026-03-01T14:00:01Z", true)).toEqual(["persist periods_not_evaluated"]);
    job.tell("2026-03-01T14:00:02Z", { type: "PAUSE", untilAt: at("2026-03-01T14:59:00Z"), reason: "x" });
    const step = job.tell("2026-03-01T14:59:00Z", { type: "WAKE", isReturning: false, nominalAt: null });
    expect(step).toEqual(["persist resumed+periods_not_evaluated"]);
    expect(job.facts.at(-1)).toMatchObject({ firstAt: at("2026-03-01T14:00:00Z"), count: 1, reason: "paused" });
  });

  test("S17: suspended: no trigger; no timer", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { suspend: true } });
    expect(job.wake(T10)).toEqual([]);
    expect([job.live, job.wakeAt, job.isResting]).toEqual([`${T10} planned`, null, true]);
  });

  test("S17: suspended: what passes is not evaluated, and that is no gap to be told", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { suspend: true } });
    expect(job.wake("2026-03-01T14:10:00Z", true)).toEqual([]);
    expect([job.wakeAt, job.isResting]).toEqual([null, true]);
  });

  test("S17: paused between trigger and claim: the gate is closed, nothing is handled", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.wake(T10);
    job.tell(T10, { type: "PAUSE", untilAt: at(T11), reason: "x" });
    expect(job.ready(T10, "a1")).toEqual(["close a1"]);
    expect(job.document.LastHandledPeriodID).toBe(HANDLED_9.LastHandledPeriodID);
  });

  test("S16: removed: the gate is closed, what runs is watched to its end, nothing new is planned", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { concurrency: "allow" } });
    job.wake(T10);
    job.start(T10, "a1");
    job.wake(T11);
    expect(job.tell(T11, { type: "REMOVE" })).toEqual(["close a2", "persist removed"]);
    expect(job.exited(T11, "a1")).toEqual(["persist run_ended"]);
    expect(job.wake("2026-03-01T12:00:00Z", true)).toEqual([]);
    expect([job.live, job.isResting, job.document.LastHandledPeriodID]).toEqual([null, true, T10]);
  });
});

describe("first sight and edits", () => {
  const wide = { window: { mode: "after", durationMs: 1_800_000 } } as const;

  test("S14: a chosen time before the definition is never triggered; the ledger says so; the next one is planned", () => {
    const job = new Scenario({ document: {}, policy: { deadlineMs: 600_000 } });
    const event = { type: "DEFINE", hash: "h1", carriedAt: null } as const;
    expect(job.tell("2026-03-01T10:00:01Z", event)).toEqual(["persist defined", "persist before_definition"]);
    expect([job.live, job.document.LastHandledPeriodID]).toEqual([`${T11} planned`, ""]);
  });

  test("S14: that is said once: a later return passes the period over again, and writes nothing", () => {
    const job = new Scenario({ document: { DefinedAt: "2026-03-01T10:00:01Z" }, policy: { deadlineMs: 600_000 } });
    expect(job.wake("2026-03-01T10:00:02Z", true)).toEqual([]);
    expect([job.live, job.document.LastHandledPeriodID]).toEqual([`${T11} planned`, ""]);
  });

  test("S14: an edit keeps the period that was live", () => {
    const job = new Scenario({ document: { ...HANDLED_9, DefinitionHash: "h1" }, policy: { deadlineMs: 3_600_000 } });
    job.wake("2026-03-01T09:30:00Z", true);
    const effects = job.tell("2026-03-01T10:20:00Z", { type: "DEFINE", hash: "h2", carriedAt: at(T10) });
    expect(effects).toEqual(["persist defined", `arm a1 period ${T10}`]);
  });

  test("S16: a gate made for the old definition is closed and the period decided anew", () => {
    const job = new Scenario({ document: HANDLED_9, rule: wide, policy: { deadlineMs: 3_600_000 } });
    const chosenAt = decide(job.scope.compiled, at(T10)).chosenAt ?? 0;
    job.tell(T10, { type: "WAKE", isReturning: true, nominalAt: null });
    const now = formatInstant(chosenAt);
    job.wake(now);
    expect(job.tell(now, { type: "DEFINE", hash: "h2", carriedAt: at(T10) })).toEqual([
      "close a1",
      "persist defined",
      `arm a2 period ${T10}`,
    ]);
  });

  test("S17, S16: suspended by an edit: the gate is closed and nothing is handled", () => {
    const job = new Scenario({ document: { ...HANDLED_9, DefinitionHash: "h1" } });
    job.wake(T10);
    job.scope = { ...job.scope, policy: { ...job.scope.policy, suspend: true } };
    expect(job.tell(T10, { type: "DEFINE", hash: "h1", carriedAt: at(T10) })).toEqual(["close a1"]);
    expect([job.document.LastHandledPeriodID, job.wakeAt]).toEqual([HANDLED_9.LastHandledPeriodID, null]);
  });
});

describe("gaps and order (S13)", () => {
  test("returning: only the current period; one note for the gap, and only when it grows", () => {
    const job = new Scenario({ document: HANDLED_9, rule: { window: { mode: "after", durationMs: 3_000_000 } } });
    expect(job.wake("2026-03-01T14:00:01Z", true)).toEqual(["persist periods_not_evaluated"]);
    expect(job.wake("2026-03-01T14:00:02Z", true)).toEqual([]);
    expect(job.wake("2026-03-01T15:00:01Z", true)).toEqual(["persist periods_not_evaluated"]);
    expect(job.live).toBe("2026-03-01T15:00:00Z planned");
  });

  test("running: periods that are eligible in one tick are evaluated in nominal order", () => {
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 5_400_000, concurrency: "allow" } });
    job.wake("2026-03-01T09:30:00Z", true);
    expect(job.wake("2026-03-01T12:30:00Z")).toEqual(["persist missed(stalled)", `arm a1 period ${T11}`]);
    expect(job.ready("2026-03-01T12:30:00Z", "a1")).toEqual([
      "persist executed+run_started",
      "arm a2 period 2026-03-01T12:00:00Z",
    ]);
  });

  test.each<[title: string, settle: (job: Scenario) => readonly string[], effects: readonly string[]]>([
    [
      "its gate came too late",
      (job) => job.ready("2026-03-04T10:30:00Z", "a1"),
      ["close a1", "persist missed(late_start)"],
    ],
    [
      "its gate failed",
      (job) => [
        ...job.tell("2026-03-04T10:30:00Z", { type: "FAILED", attemptId: "a1", code: "fork-failed" }),
        ...job.wake("2026-03-04T10:30:00Z"),
      ],
      ["persist missed(not_started:fork-failed)"],
    ],
  ])(
    "time lost while a period was being started (%s): the ones in between are a gap all the same",
    (_title, settle, effects) => {
      const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 1_800_000 } });
      job.wake(T10);
      expect(job.wake("2026-03-04T10:30:00Z", true)).toEqual([]);
      expect(settle(job)).toEqual([...effects, "persist periods_not_evaluated", "arm a2 period 2026-03-04T10:00:00Z"]);
    },
  );

  test("S32: state ahead of the clock: said, and nothing runs", () => {
    const job = new Scenario({ document: { ...HANDLED_9, LastHandledPeriodID: "2026-03-02T00:00:00Z" } });
    expect(job.wake(T10, true)).toEqual(["stateAhead 2026-03-02T00:00:00Z"]);
    expect(job.live).toBe("2026-03-02T01:00:00Z planned");
  });

  test("S15: unschedulable is recorded when the window opens", () => {
    const never = { kind: "hours", ranges: [{ from: 23, to: 23 }] } as const;
    const rule = {
      window: { mode: "before", durationMs: 600_000 },
      constraints: { only: [never], avoid: [] },
    } as const;
    const job = new Scenario({ document: HANDLED_9, rule });
    job.wake("2026-03-01T09:30:00Z", true);
    expect(job.wakeAt).toBe("2026-03-01T09:50:00Z");
    expect(job.wake("2026-03-01T09:50:00Z")).toEqual([
      "persist unschedulable(no candidate accepted within 64 attempts)",
    ]);
    expect(job.document).toMatchObject({ LastOutcome: "unschedulable", LastChosenTime: "", LastNominalTime: T10 });
  });

  test("S11: a period due before the older one waits for it, and its deadline counts from then", () => {
    /** As at a zone transition: the windows overlap, and the older period is due later. */
    const swapped = createStepper({
      ...ENGINE,
      decide: (compiled, nominalAt) => {
        const isOlder = nominalAt === at(T10);
        return { ...decide(compiled, nominalAt), chosenAt: isOlder ? at("2026-03-01T11:20:00Z") : nominalAt };
      },
    });
    const job = new Scenario({
      document: HANDLED_9,
      policy: { concurrency: "allow", deadlineMs: 1000 },
      step: swapped,
    });
    job.wake(T10, true);
    expect(job.wake(T11)).toEqual([]);
    expect(job.wake("2026-03-01T11:20:00Z")).toEqual([`arm a1 period ${T10}`]);
    expect(job.ready("2026-03-01T11:20:01Z", "a1")).toEqual(["persist executed+run_started", `arm a2 period ${T11}`]);
  });

  test("S18: a decision that cannot be computed: not handled, retried with growing delays, then decided", () => {
    let failures = 2;
    const shaky = createStepper({
      ...ENGINE,
      decide: (compiled, nominalAt) => {
        if (failures-- > 0) {
          throw new Error("no entropy");
        }
        return decide(compiled, nominalAt);
      },
    });
    const job = new Scenario({ document: HANDLED_9, policy: { deadlineMs: 60_000 }, step: shaky });
    expect(job.wake(T10, true)).toEqual([`undecided ${T10} 1`]);
    expect(job.wakeAt).toBe("2026-03-01T10:00:01Z");
    expect(job.wake("2026-03-01T10:00:01Z")).toEqual([`undecided ${T10} 2`]);
    expect([job.wakeAt, job.document.LastHandledPeriodID]).toEqual([
      "2026-03-01T10:00:03Z",
      HANDLED_9.LastHandledPeriodID,
    ]);
    expect(job.wake("2026-03-01T10:00:03Z")).toEqual([`arm a1 period ${T10}`]);
  });
});

describe("other slots (S40)", () => {
  const MANUAL = { type: "RUN", source: "manual", slotAt: at("2026-03-01T09:30:00Z") } as const;

  test("a manual run handles nothing, counts as active, and runs once", () => {
    const job = new Scenario({ document: HANDLED_9 });
    expect(job.tell("2026-03-01T09:30:00Z", MANUAL)).toEqual(["arm a1 manual 2026-03-01T09:30:00Z"]);
    expect(job.tell("2026-03-01T09:30:00Z", MANUAL)).toEqual([]);
    expect(job.ready("2026-03-01T09:30:00Z", "a1")).toEqual(["persist run_started"]);
    expect(job.durable("2026-03-01T09:30:00Z", "a1")).toEqual(["go a1 by 2026-03-01T09:31:00Z"]);
    expect(job.document).toMatchObject({ ...HANDLED_9, LastSlot: { manual: "2026-03-01T09:30:00Z" } });
    expect(job.wake(T10)).toEqual(["persist skipped(concurrency_forbid)"]);
    job.exited(T10, "a1");
    expect(job.tell(T11, MANUAL)).toEqual([]);
    expect(job.document.History.map((entry) => entry.Source)).toEqual([undefined, "manual"]);
  });

  test("a gate that is ready too late is closed", () => {
    const job = new Scenario({ document: HANDLED_9 });
    job.tell("2026-03-01T09:30:00Z", MANUAL);
    expect(job.ready("2026-03-01T09:31:01Z", "a1")).toEqual(["close a1"]);
  });
});

describe("after a restart", () => {
  const ACTIVE = { PeriodID: T10, PID: 7, StartedAt: T10, ChosenTime: T10, AttemptID: "old" };
  const document = { ...HANDLED_9, LastHandledPeriodID: T10, ActiveExecution: ACTIVE };

  test("S29: a run that lives is watched to its end", () => {
    const job = new Scenario({ document });
    job.tell(T10, { type: "STARTED", attemptId: "old" });
    expect(job.wake("2026-03-01T10:30:00Z", true)).toEqual([]);
    expect(job.isResting).toBe(false);
    expect(job.exited("2026-03-01T10:40:00Z", "old", null)).toEqual(["persist run_ended"]);
    expect([job.document.ActiveExecution, job.isResting]).toEqual([null, true]);
  });

  test.each([
    ["S23: never seen to begin", ACTIVE, "start_unconfirmed"],
    ["S29: seen to begin", { ...ACTIVE, Confirmed: true }, "exit_unseen"],
  ])("STATE crash recovery: gone: completed with unknown exit code: %s", (_title, ActiveExecution, reason) => {
    const job = new Scenario({ document: { ...document, ActiveExecution } });
    expect(job.tell(T10, { type: "LOST", attemptId: "old" })).toEqual(["persist run_ended"]);
    expect(job.document.History[0]).toMatchObject({ ExitCode: null, Reason: reason });
    expect(job.document.ActiveExecution).toBeNull();
  });

  test("a document that names no attempt is adopted by period and process", () => {
    const { AttemptID: _, ...nameless } = ACTIVE;
    const job = new Scenario({ document: { ...document, ActiveExecution: nameless } });
    expect(job.activation.attempts.map(({ execution }) => execution.context.attempt.attemptId)).toEqual([
      `period:${T10}:7`,
    ]);
  });

  test("the time limit counts from the recorded start, and no timer is lost", () => {
    const job = new Scenario({ document, scope: { timeoutMs: 600_000 } });
    expect(job.wakeAt).toBe("2026-03-01T10:10:00Z");
    expect(job.wake("2026-03-01T10:09:59Z", true)).toEqual([]);
    expect(job.wake("2026-03-01T10:10:00Z")).toEqual(["terminate old timeout"]);
    expect(job.exited("2026-03-01T10:10:01Z", "old", null)).toEqual(["persist run_ended"]);
    expect(job.document.History[0]?.Reason).toBe("timeout");
  });

  test("cancelled", () => {
    const job = new Scenario({ document });
    expect(job.tell(T10, { type: "END", attemptId: "old", reason: "cancelled" })).toEqual(["terminate old cancelled"]);
  });
});
