/** S24, S41: a period that was due before a hint is not one of those that pass while the hint stands in for the schedule. */
import { expect, test } from "vitest";
import type { Hint } from "../../src/core/governor/hint.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const ELEVEN = "2026-03-01T11:00:00Z";
const HANDLED = {
  LastHandledPeriodID: ELEVEN,
  LastOutcome: "executed",
  LastNominalTime: ELEVEN,
  LastRunAt: ELEVEN,
} as const;
const DEADLINE_MS = 3_000_000;

const every = (intervalMs: number, expires: string): Hint => {
  return { kind: "interval", intervalMs, expiresAt: at(expires), reason: "" };
};
const once = (next: string, expires: string): Hint => {
  return { kind: "oneshot", nextRunAt: at(next), expiresAt: at(expires), reason: "" };
};

function hourly(document: Scenario["document"] | typeof HANDLED = HANDLED): Scenario {
  return new Scenario({ rule: { schedule: "0 * * * *" }, document, policy: { deadlineMs: DEADLINE_MS } });
}

/** Its start fails at noon, and ten minutes later somebody wants another pace for a while. */
function hintedUntil(expires: string): Scenario {
  const job = hourly();
  job.wake("2026-03-01T11:30:00Z", true);
  job.wake(NOON);
  job.tell("2026-03-01T12:09:30Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: every(7_200_000, expires) });
  return job;
}

test("S24: it is tried on through the hint and after it, until its deadline", () => {
  const job = hintedUntil("2026-03-01T12:20:00Z");
  expect(job.live).toBe(`${NOON} eligible.starting`);
  job.tell("2026-03-01T12:10:31Z", { type: "FAILED", attemptId: "a2", code: "command-not-found" });
  expect(job.wake("2026-03-01T12:20:00Z")).toEqual(["persist hint_ended", `arm a3 period ${NOON}`]);
  expect(job.document.EvaluatesFrom).toBeUndefined();
});

test("S24: the same when somebody ends the hint, and after a restart in it", () => {
  const cleared = hourly(hintedUntil("2026-03-01T12:40:00Z").document);
  expect(cleared.wake("2026-03-01T12:15:00Z", true)).toEqual([]);
  expect(cleared.tell("2026-03-01T12:16:00Z", { type: "UNHINT", kind: "all" })).toEqual([
    "persist hint_ended",
    `arm a1 period ${NOON}`,
  ]);
  const again = hourly(hintedUntil("2026-03-01T12:20:00Z").document);
  expect(again.wake("2026-03-01T12:15:00Z", true)).toEqual([]);
  expect(again.wake("2026-03-01T12:20:00Z")).toEqual(["persist hint_ended", `arm a1 period ${NOON}`]);
});

test("S24: when its deadline passes in the hint while nobody is there it is missed, and not passed over", () => {
  const again = hourly(hintedUntil("2026-03-01T12:55:00Z").document);
  expect(again.wake("2026-03-01T12:56:00Z", true)).toEqual([
    "persist hint_ended",
    "persist missed(not_started:command-not-found)",
  ]);
});

test("S41: what is due while the hint stands in is passed over, and told once, however often it is renewed", () => {
  const job = hourly();
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:50:00Z", { type: "HINT", hint: every(7_200_000, "2026-03-01T12:30:00Z") });
  job.wake(NOON);
  expect(job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: every(7_200_000, "2026-03-01T12:40:00Z") })).toEqual([
    "persist hint_set+periods_not_evaluated",
  ]);
  expect(job.facts.at(-1)).toMatchObject({ firstAt: at(NOON), count: 1, reason: "hinted" });
  expect(job.wake("2026-03-01T12:40:00Z")).toEqual(["persist hint_ended"]);
  expect(job.live).toBe("2026-03-01T13:00:00Z planned");
});

test("S41: nor is it evaluated when a hint of the other kind goes on", () => {
  const job = hourly();
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:50:00Z", { type: "HINT", hint: every(7_200_000, "2026-03-01T12:20:00Z") });
  job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: once("2026-03-01T12:50:00Z", "2026-03-01T12:55:00Z") });
  expect(job.wake("2026-03-01T12:20:00Z")).toEqual(["persist hint_ended"]);
  expect(job.tell("2026-03-01T12:30:00Z", { type: "UNHINT", kind: "all" })).toEqual(["persist hint_ended"]);
  expect(job.live).toBe("2026-03-01T13:00:00Z planned");
});

test("S17: what passed in a pause does not run because a hint that began in it outlasts it", () => {
  const job = hourly();
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:50:00Z", { type: "PAUSE", untilAt: at("2026-03-01T12:20:00Z"), reason: "x" });
  job.tell("2026-03-01T12:10:00Z", { type: "HINT", hint: every(7_200_000, "2026-03-01T12:40:00Z") });
  expect(job.wake("2026-03-01T12:20:00Z")).toEqual(["persist resumed+periods_not_evaluated"]);
  expect(job.facts.at(-1)).toMatchObject({ firstAt: at(NOON), count: 1, reason: "paused" });
  expect(job.wake("2026-03-01T12:40:00Z")).toEqual(["persist hint_ended"]);
  expect(job.live).toBe("2026-03-01T13:00:00Z planned");
});

test("S17: while it is suspended nothing is said of what passes in a hint", () => {
  const policy = { deadlineMs: DEADLINE_MS, suspend: true };
  const job = new Scenario({ rule: { schedule: "0 * * * *" }, document: HANDLED, policy });
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:50:00Z", { type: "HINT", hint: every(7_200_000, "2026-03-01T12:40:00Z") });
  expect(job.wake("2026-03-01T12:40:00Z")).toEqual(["persist hint_ended"]);
});
