/** S43: failed runs that are tried again, taken through the production step. */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../src/core/decision/compile.js";
import type { RetryRule } from "../../src/core/job/definition.js";
import type { Ending } from "../../src/core/state/ending.js";
import { at, ruleOf } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const HOURLY = {
  LastHandledPeriodID: "2026-03-01T11:00:00Z",
  LastOutcome: "executed",
  LastNominalTime: "2026-03-01T11:00:00Z",
} as const;
const THREE: RetryRule = { limit: 3, backoffMs: 30_000, maxBackoffMs: 60_000, on: ["exit", "timeout"] };
const exit = (code: number, reason: string | null = null): Ending => ({ kind: "exited", code, signal: null, reason });

function hourly(retry: RetryRule = THREE): Scenario {
  const job = new Scenario({
    rule: { schedule: "0 * * * *" },
    document: HOURLY,
    policy: { deadlineMs: 60_000, concurrency: "allow", retry },
  });
  job.wake("2026-03-01T11:30:00Z", true);
  job.wake(NOON);
  job.start(NOON, "a1");
  return job;
}

const ends = (job: Scenario, now: string, attemptId: string, ending: Ending): readonly string[] =>
  job.tell(now, { type: "EXITED", attemptId, ending });

describe("S43", () => {
  test("every attempt is a slot of its own, later each time, and after the last there is none", () => {
    const job = hourly();
    expect(ends(job, "2026-03-01T12:00:10Z", "a1", exit(1))).toEqual(["persist run_ended+retry_planned"]);
    expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:00:40Z planned", "2026-03-01T12:00:40Z"]);
    expect(job.wake("2026-03-01T12:00:40Z")).toEqual(["arm a2 retry 2026-03-01T12:00:40Z"]);
    job.start("2026-03-01T12:00:40Z", "a2");
    expect(job.document).toMatchObject({
      LastHandledPeriodID: NOON,
      LastOutcome: "executed",
      ActiveExecution: { Source: "retry", RetryOf: NOON, Attempt: 2 },
      LastSlot: { retry: "2026-03-01T12:00:40Z" },
    });
    expect(job.document.Retry).toBeUndefined();
    ends(job, "2026-03-01T12:01:00Z", "a2", exit(1));
    expect(job.wakeAt).toBe("2026-03-01T12:02:00Z");
    job.wake("2026-03-01T12:02:00Z");
    job.start("2026-03-01T12:02:00Z", "a3");
    ends(job, "2026-03-01T12:02:01Z", "a3", exit(1));
    expect(job.wakeAt).toBe("2026-03-01T12:03:01Z");
    job.wake("2026-03-01T12:03:01Z");
    job.start("2026-03-01T12:03:01Z", "a4");
    expect(ends(job, "2026-03-01T12:03:02Z", "a4", exit(1))).toEqual(["persist run_ended"]);
    job.wake("2026-03-01T12:03:02Z");
    expect(job.live).toBe("2026-03-01T13:00:00Z planned");
  });

  test.each<[string, RetryRule["on"], Ending, boolean]>([
    ["success", ["exit"], exit(0), false],
    ["an exit code that is not named", [75], exit(1), false],
    ["an exit code that is", [75], exit(75), true],
    ["a time limit is no exit", ["exit"], exit(143, "timeout"), false],
    ["a time limit", ["timeout"], exit(143, "timeout"), true],
    ["what was cancelled", ["exit"], exit(143, "cancelled"), false],
    ["what was replaced", ["exit"], exit(143, "replaced"), false],
    ["what nobody saw end", ["exit"], { kind: "unseen", reason: "exit_unseen" }, false],
    ["what nobody saw end, where that is named", ["unseen"], { kind: "unseen", reason: "exit_unseen" }, true],
    ["what never began", ["exit", "unseen"], { kind: "not-run", reason: "aborted_late" }, false],
  ])("after %s", (_name, on, ending, isRetried) => {
    const job = hourly({ ...THREE, on });
    ends(job, "2026-03-01T12:00:10Z", "a1", ending);
    expect(job.document.Retry !== undefined).toBe(isRetried);
  });

  test("a retry that would come when the next period is due does not come", () => {
    const job = hourly({ ...THREE, backoffMs: 3_600_000, maxBackoffMs: 3_600_000 });
    // Nothing is promised that will not come.
    expect(ends(job, "2026-03-01T12:00:10Z", "a1", exit(1))).toEqual(["persist run_ended"]);
    expect(job.document.Retry).toBeUndefined();
    expect(job.live).toBe("2026-03-01T13:00:00Z planned");
    job.wake("2026-03-01T13:00:00Z");
    job.start("2026-03-01T13:00:00Z", "a2");
    expect(job.document.Retry).toBeUndefined();
  });

  test("nor does one whose gate was ready only when the next period was due", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:59:10Z", "a1", exit(1));
    expect(job.wake("2026-03-01T12:59:59Z")).toEqual(["arm a2 retry 2026-03-01T12:59:40Z"]);
    const said = job.ready("2026-03-01T13:00:00Z", "a2");
    expect(said).toEqual(["close a2", "persist retry_dropped", "arm a3 period 2026-03-01T13:00:00Z"]);
  });

  test("S17: paused, it waits; when the pause ends after the next period was due it is given up", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    job.tell("2026-03-01T12:00:20Z", { type: "PAUSE", untilAt: at("2026-03-01T12:10:00Z"), reason: "x" });
    expect(job.wake("2026-03-01T12:00:40Z")).toEqual([]);
    expect(job.wake("2026-03-01T12:10:00Z")).toEqual(["persist resumed", "arm a2 retry 2026-03-01T12:00:40Z"]);
    const other = hourly();
    ends(other, "2026-03-01T12:00:10Z", "a1", exit(1));
    other.tell("2026-03-01T12:00:20Z", { type: "PAUSE", untilAt: at("2026-03-01T13:30:00Z"), reason: "x" });
    expect(other.wake("2026-03-01T13:30:00Z").filter((said) => said.includes("retry"))).toEqual([
      "persist retry_dropped",
    ]);
    expect(other.document.Retry).toBeUndefined();
  });

  test("S41: while a hint holds there is none, and none afterwards when the next period was due meanwhile", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    const expiresAt = at("2026-03-01T15:00:00Z");
    const hint = { kind: "oneshot", nextRunAt: at("2026-03-01T14:50:00Z"), expiresAt, reason: "r" } as const;
    job.tell("2026-03-01T12:00:20Z", { type: "HINT", hint });
    expect(job.wake("2026-03-01T12:00:40Z")).toEqual([]);
    job.tell("2026-03-01T14:10:00Z", { type: "UNHINT", kind: "all" });
    expect(job.live).toBe("2026-03-01T15:00:00Z planned");
  });

  test("S16: a job that is removed is not tried again, nor when it is there again", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    job.tell("2026-03-01T12:00:20Z", { type: "REMOVE" });
    expect(job.document.Retry).toBeUndefined();
  });

  test("the job's pace holds (S40), and a run by hand does not count as an attempt", () => {
    const job = hourly();
    job.tell(NOON, { type: "RUN", source: "manual", slotAt: at(NOON) });
    job.start(NOON, "a2");
    expect(ends(job, "2026-03-01T12:00:05Z", "a2", exit(1))).toEqual(["persist run_ended"]);
    expect(ends(job, "2026-03-01T12:00:10Z", "a1", exit(1))).toEqual(["persist run_ended+retry_planned"]);
  });

  test("a restart finds it: what is pending is part of the document", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    const again = new Scenario({
      rule: { schedule: "0 * * * *" },
      document: job.document,
      policy: { deadlineMs: 60_000, retry: THREE },
    });
    expect(again.wake("2026-03-01T12:00:20Z", true)).toEqual([]);
    expect([again.live, again.isResting]).toEqual(["2026-03-01T12:00:40Z planned", true]);
    expect(again.wake("2026-03-01T12:30:00Z", true)).toEqual(["arm a1 retry 2026-03-01T12:00:40Z"]);
  });
});

describe("S24, S43: a further attempt that cannot be started", () => {
  test("is given up in the second in which the next period is due, which is taken in it", () => {
    const job = new Scenario({
      rule: { schedule: "0 * * * *" },
      document: HOURLY,
      policy: { deadlineMs: 0, concurrency: "allow", retry: THREE },
    });
    job.wake("2026-03-01T11:30:00Z", true);
    job.wake(NOON);
    job.start(NOON, "a1");
    ends(job, "2026-03-01T12:59:10Z", "a1", exit(1));
    job.wake("2026-03-01T12:59:40Z");
    const wakes: string[] = [];
    for (let at = "2026-03-01T12:59:40Z"; at < "2026-03-01T13:00:00Z"; at = job.wakeAt ?? "never") {
      if (at !== "2026-03-01T12:59:40Z") job.wake(at);
      const attemptId = job.activation.attempts.at(-1)?.execution.context.attempt.attemptId ?? "";
      job.tell(at, { type: "FAILED", attemptId, code: "command-not-found" });
      wakes.push(job.wakeAt ?? "never");
    }
    expect(wakes.map((at) => at.slice(14, 19))).toEqual(["59:41", "59:43", "59:47", "59:55", "00:00"]);
    expect(job.wake("2026-03-01T13:00:00Z")).toEqual(["persist retry_dropped", "arm a7 period 2026-03-01T13:00:00Z"]);
    expect(job.live).toBe("2026-03-01T13:00:00Z eligible.starting");
  });
});

describe("S14, S43: an edit revives no attempt", () => {
  const weekly = compileRule(ruleOf({ schedule: "0 0 * * 0" }));
  const edit = (job: Scenario, now: string): readonly string[] => {
    job.scope = { ...job.scope, compiled: weekly };
    return job.tell(now, { type: "DEFINE", hash: "other", carriedAt: null });
  };

  test("that was given up when the next period was due", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    job.tell("2026-03-01T12:00:20Z", { type: "PAUSE", untilAt: at("2026-03-01T12:59:50Z"), reason: "x" });
    job.scope = { ...job.scope, policy: { ...job.scope.policy, suspend: true } };
    job.tell("2026-03-01T12:00:30Z", { type: "DEFINE", hash: "h", carriedAt: null });
    expect(job.document.Retry).toBeDefined();
    expect(job.wake("2026-03-01T13:00:00Z")).toContain("persist resumed");
    expect(job.wake("2026-03-01T13:00:01Z")).toEqual([]);
    expect([job.document.Retry, job.facts.at(-1)?.kind]).toEqual([undefined, "retry_dropped"]);
    job.scope = { ...job.scope, policy: { ...job.scope.policy, suspend: false } };
    expect(edit(job, "2026-03-01T13:00:02Z").filter((said) => said.startsWith("arm"))).toEqual([]);
  });

  test("that was due while nobody was there", () => {
    const Retry = { PeriodID: "2026-03-01T11:00:00Z", Attempt: 2, At: "2026-03-01T11:00:40Z" };
    const job = new Scenario({
      rule: { schedule: "0 0 * * 0" },
      document: { ...HOURLY, DefinitionHash: "hourly", Retry },
      policy: { concurrency: "allow", retry: THREE },
    });
    expect(edit(job, "2026-03-03T09:00:00Z")).toEqual(["persist defined", "persist retry_dropped"]);
    expect(job.document.Retry).toBeUndefined();
  });

  test("one that is still to come comes", () => {
    const job = hourly();
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    expect(edit(job, "2026-03-01T12:00:20Z")).toEqual(["persist defined"]);
    expect(job.live).toBe("2026-03-01T12:00:40Z planned");
  });

  test("S43: a start finds that there are to be no retries any more", () => {
    const Retry = { PeriodID: "2026-03-01T11:00:00Z", Attempt: 2, At: "2026-03-01T11:00:40Z" };
    const job = new Scenario({ rule: { schedule: "0 * * * *" }, document: { ...HOURLY, Retry } });
    expect(job.wake("2026-03-01T11:00:50Z", true)).toEqual(["persist retry_dropped"]);
  });
});

describe("S12, S43: a clock that was ahead", () => {
  test("takes no attempt from the periods that follow", () => {
    const job = new Scenario({
      rule: { schedule: "0 * * * *" },
      document: { ...HOURLY, LastSlot: { retry: "2026-03-02T12:00:00Z" } },
      policy: { deadlineMs: 60_000, concurrency: "allow", retry: THREE },
    });
    job.wake("2026-03-01T11:30:00Z", true);
    job.wake(NOON);
    job.start(NOON, "a1");
    ends(job, "2026-03-01T12:00:10Z", "a1", exit(1));
    expect(job.live).toBe("2026-03-01T12:00:40Z planned");
  });
});
