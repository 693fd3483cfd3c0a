/** S17, S24: a period that was due before a pause is not one of those that pass in it. */
import { expect, test } from "vitest";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const ELEVEN = "2026-03-01T11:00:00Z";

/** Its start fails at noon, and somebody pauses the job ten minutes later. */
function pausedUntil(untilAt: string, deadlineMs = 3_000_000): Scenario {
  const job = new Scenario({
    rule: { schedule: "0 * * * *" },
    document: { LastHandledPeriodID: ELEVEN, LastOutcome: "executed", LastNominalTime: ELEVEN },
    policy: { deadlineMs },
  });
  job.wake("2026-03-01T11:30:00Z", true);
  job.wake(NOON);
  job.tell("2026-03-01T12:09:30Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  job.tell("2026-03-01T12:10:00Z", { type: "PAUSE", untilAt: at(untilAt), reason: "x" });
  expect(job.wake("2026-03-01T12:10:30Z")).toEqual([]);
  return job;
}

test("S24: it is tried again after the pause, until its deadline", () => {
  const job = pausedUntil("2026-03-01T12:20:00Z");
  expect(job.wakeAt).toBe("2026-03-01T12:20:00Z");
  expect(job.wake("2026-03-01T12:20:00Z")).toEqual(["persist resumed", `arm a2 period ${NOON}`]);
});

test("S24: the same when somebody ends the pause, and after a restart in it", () => {
  const resumed = pausedUntil("2026-03-01T12:40:00Z");
  expect(resumed.tell("2026-03-01T12:15:00Z", { type: "RESUME" })).toEqual([
    "persist resumed",
    `arm a2 period ${NOON}`,
  ]);
  const { document } = pausedUntil("2026-03-01T12:20:00Z");
  const again = new Scenario({ rule: { schedule: "0 * * * *" }, document, policy: { deadlineMs: 3_000_000 } });
  expect(again.wake("2026-03-01T12:15:00Z", true)).toEqual([]);
  expect(again.wake("2026-03-01T12:20:00Z")).toEqual(["persist resumed", `arm a1 period ${NOON}`]);
});

test("S24: when its deadline passes in the pause it is missed, with what stood in the way", () => {
  const job = pausedUntil("2026-03-01T12:55:00Z");
  expect(job.wake("2026-03-01T12:55:00Z")).toEqual([
    "persist resumed",
    "persist missed(not_started:command-not-found)",
  ]);
  expect(job.live).toBe("2026-03-01T13:00:00Z planned");
});

test("S13: so it is when others were due in the pause, and only those were passed over", () => {
  const job = pausedUntil("2026-03-01T14:30:00Z");
  expect(job.wake("2026-03-01T14:30:00Z")).toEqual([
    "persist missed(not_started:command-not-found)",
    "persist resumed+periods_not_evaluated",
  ]);
  expect(job.facts.at(-1)).toMatchObject({ firstAt: at("2026-03-01T13:00:00Z"), count: 2, reason: "paused" });
  expect(job.live).toBe("2026-03-01T15:00:00Z planned");
});

test("S17: what is due in the pause is still passed over", () => {
  const job = new Scenario({
    rule: { schedule: "0 * * * *" },
    document: { LastHandledPeriodID: ELEVEN, LastOutcome: "executed", LastNominalTime: ELEVEN },
    policy: { deadlineMs: 3_000_000 },
  });
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:50:00Z", { type: "PAUSE", untilAt: at("2026-03-01T12:20:00Z"), reason: "x" });
  expect(job.wake("2026-03-01T12:20:00Z")).toEqual(["persist resumed+periods_not_evaluated"]);
  expect(job.live).toBe("2026-03-01T13:00:00Z planned");
});

test("S17: once a later period has been handled, nothing of the pause is left on record", () => {
  const job = pausedUntil("2026-03-01T14:30:00Z");
  job.wake("2026-03-01T14:30:00Z");
  expect(job.document.EvaluatesFrom).toBe("2026-03-01T14:30:00Z");
  job.wake("2026-03-01T15:00:00Z");
  job.start("2026-03-01T15:00:00Z", "a2");
  expect(job.document).toMatchObject({ LastHandledPeriodID: "2026-03-01T15:00:00Z" });
  expect(job.document.EvaluatesFrom).toBeUndefined();
});
