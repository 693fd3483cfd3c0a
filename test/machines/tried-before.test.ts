/** S13, S24: a period that could not be started, and the daemon that tried it is gone. */
import { expect, test } from "vitest";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const ELEVEN = "2026-03-01T11:00:00Z";
const HANDLED = { LastHandledPeriodID: ELEVEN, LastOutcome: "executed", LastNominalTime: ELEVEN } as const;
const MISSED = "persist missed(not_started:command-not-found)";
const FAILING = { Source: "cron", Slot: NOON, Code: "command-not-found", Since: "2026-03-01T12:00:01Z" };

function hourly(document: Scenario["document"] | typeof HANDLED, deadlineMs = 3_000_000): Scenario {
  return new Scenario({ rule: { schedule: "0 * * * *" }, document, policy: { deadlineMs } });
}

/** Its start fails at noon, and then its daemon is killed. */
function tried(deadlineMs?: number): Scenario["document"] {
  const job = hourly(HANDLED, deadlineMs);
  job.wake("2026-03-01T11:30:00Z", true);
  job.wake(NOON);
  const failed = { type: "FAILED", attemptId: "a1", code: "command-not-found" } as const;
  expect(job.tell("2026-03-01T12:00:01Z", failed)).toEqual(["persist start_failed"]);
  return job.document;
}

test("S24: it is on record while it is tried, and nothing else of the document is touched", () => {
  const { StartFailure, ...rest } = tried();
  expect(StartFailure).toEqual(FAILING);
  const before = hourly(HANDLED).document;
  expect(rest).toEqual(before);
});

test("S24: written when starts begin to fail, of another cause again, and over with the claim", () => {
  const job = hourly(tried());
  expect(job.wake("2026-03-01T12:05:00Z", true)).toEqual([`arm a1 period ${NOON}`]);
  const failed = { type: "FAILED", attemptId: "a1", code: "command-not-found" } as const;
  expect(job.tell("2026-03-01T12:05:01Z", failed)).toEqual([]);
  job.wake("2026-03-01T12:05:10Z");
  expect(job.tell("2026-03-01T12:05:11Z", { ...failed, attemptId: "a2", code: "cwd-unusable" })).toEqual([
    "persist start_failed",
  ]);
  expect(job.document.StartFailure).toEqual({ ...FAILING, Code: "cwd-unusable" });
  job.wake("2026-03-01T12:05:20Z");
  job.start("2026-03-01T12:05:21Z", "a3");
  expect(job.document).toMatchObject({ LastHandledPeriodID: NOON, LastOutcome: "executed" });
  expect(job.document).not.toHaveProperty("StartFailure");
});

test("S24: its deadline passes while nobody is there: missed for what stood in its way, not for the downtime", () => {
  const job = hourly(tried());
  expect(job.wake("2026-03-01T12:55:00Z", true)).toEqual([MISSED]);
  expect(job.document).toMatchObject({ LastHandledPeriodID: NOON, LastReason: "not_started:command-not-found" });
  expect(job.document).not.toHaveProperty("StartFailure");
});

test("S13: the next period came while nobody was there: so is it, and only those after it are passed over", () => {
  const job = hourly(tried());
  expect(job.wake("2026-03-01T14:05:00Z", true)).toEqual([
    MISSED,
    "persist periods_not_evaluated",
    "arm a1 period 2026-03-01T14:00:00Z",
  ]);
  expect(job.facts.at(-1)).toMatchObject({ firstAt: at("2026-03-01T13:00:00Z"), count: 1 });
});

test("S13: it is not tried beside the next one, however long it might be late", () => {
  const job = hourly(tried(10 * 3_600_000));
  expect(job.wake("2026-03-01T13:00:30Z", true)).toEqual([MISSED, "arm a1 period 2026-03-01T13:00:00Z"]);
});

test("S12: a clock that is set back closes nothing", () => {
  const job = hourly(tried());
  expect(job.wake("2026-03-01T11:40:00Z", true)).toEqual([]);
  expect([job.live, job.document.StartFailure]).toEqual([`${NOON} planned`, FAILING]);
});

test("S17: a pause in which others were due, and a restart in it: closed when it ends", () => {
  const document = tried();
  const paused = hourly(document);
  paused.wake("2026-03-01T12:05:00Z", true);
  paused.tell("2026-03-01T12:06:00Z", { type: "PAUSE", untilAt: at("2026-03-01T14:30:00Z"), reason: "x" });
  for (const end of [{ type: "WAKE", isReturning: false, nominalAt: null }, { type: "RESUME" }] as const) {
    const again = hourly(paused.document);
    expect(again.wake("2026-03-01T13:05:00Z", true)).toEqual([]);
    const endAt = end.type === "WAKE" ? "2026-03-01T14:30:00Z" : "2026-03-01T14:20:00Z";
    expect(again.tell(endAt, end)).toEqual([MISSED, "persist resumed+periods_not_evaluated"]);
    expect(again.facts.at(-1)).toMatchObject({ firstAt: at("2026-03-01T13:00:00Z"), count: 2, reason: "paused" });
  }
});

test("S41: a hint in which others were due, and a restart in it: closed, and only those others gave way to the hint", () => {
  const job = hourly(tried());
  job.wake("2026-03-01T12:05:00Z", true);
  const hint = { kind: "interval", intervalMs: 7_200_000, expiresAt: at("2026-03-01T14:30:00Z"), reason: "" } as const;
  job.tell("2026-03-01T12:06:00Z", { type: "HINT", hint });
  const again = hourly(job.document);
  const [closed] = again.wake("2026-03-01T13:05:00Z", true);
  expect(closed).toBe(MISSED);
});

test("S17: while the job is suspended nothing is closed", () => {
  const job = new Scenario({ rule: { schedule: "0 * * * *" }, document: tried(), policy: { suspend: true } });
  expect(job.wake("2026-03-01T14:05:00Z", true)).toEqual([]);
  expect(job.document.LastHandledPeriodID).toBe(ELEVEN);
});

test("S16: another definition forgets what stood in the way", () => {
  const job = hourly(tried());
  job.tell("2026-03-01T12:05:00Z", { type: "DEFINE", hash: "other", carriedAt: at(NOON) });
  expect(job.document).not.toHaveProperty("StartFailure");
});

test("S17: a planner that stands back behind a person's pause closes nothing", () => {
  const document = tried();
  const paused = hourly(document);
  paused.wake("2026-03-01T12:05:00Z", true);
  paused.tell("2026-03-01T12:06:00Z", { type: "PAUSE", untilAt: at("2026-03-01T16:30:00Z"), reason: "x" });
  const again = hourly(paused.document);
  again.wake("2026-03-01T14:05:00Z", true);
  expect(again.tell("2026-03-01T14:06:00Z", { type: "RESUME", by: "planner:rules" })).toEqual([]);
  expect(again.document).toMatchObject({ LastHandledPeriodID: ELEVEN, StartFailure: FAILING });
  expect(again.document.Pause).toBeDefined();
});

test("S14, S24: what was tried under the rule before goes with it, whatever the new one would have chosen", () => {
  const job = hourly({ ...tried(), DefinitionHash: "before" });
  const told = job.tell("2026-03-01T13:05:00Z", { type: "DEFINE", hash: "another", carriedAt: null });
  expect(told.join()).not.toContain("missed");
  expect(job.document).not.toHaveProperty("StartFailure");
});

test("S24: the same rule again is told as any other step", () => {
  const job = hourly({ ...tried(), DefinitionHash: "same" });
  expect(job.tell("2026-03-01T13:05:00Z", { type: "DEFINE", hash: "same", carriedAt: null })[0]).toBe(MISSED);
});
