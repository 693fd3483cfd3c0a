/**
 * A law of every step: whatever a job at rest hears, and whether or not anything came of that, it knows afterwards what it
 * waits for. A job that does not would never run again, and nobody would be told.
 */
import { describe, expect, test } from "vitest";
import type { Hint } from "../../src/core/governor/hint.js";
import type { StateDocument } from "../../src/core/state/document.js";
import type { ActivationEvent } from "../../src/machines/step.js";
import { at } from "../support/scheduling.js";
import { type Plot, Scenario } from "./scenario.js";

const NOW = "2026-03-01T12:03:00Z";
const LATER = "2026-03-01T18:00:00Z";
const MINE = { SetAt: "2026-03-01T12:00:00Z", ExpiresAt: LATER, Reason: "mine" };
const BY = "planner:rules";

const HANDLED: Partial<StateDocument> = {
  DefinitionHash: "x",
  DefinedAt: "2026-01-01T00:00:00Z",
  LastHandledPeriodID: "2026-03-01T12:00:00Z",
  LastOutcome: "executed",
  LastChosenTime: "2026-03-01T12:00:00Z",
  LastNominalTime: "2026-03-01T12:00:00Z",
  LastRunAt: "2026-03-01T12:00:00Z",
};
const PAUSE = { From: "2026-03-01T12:01:00Z", Until: LATER, Reason: "mine" };

const EVERY = { schedule: "@every 10m" };
const RETRIED = { retry: { limit: 3, backoffMs: 600_000, maxBackoffMs: 600_000, on: ["exit"] } } as const;
const RETRY = { PeriodID: "2026-03-01T12:00:00Z", Attempt: 2, At: "2026-03-01T12:10:00Z" };

const JOBS: readonly (readonly [name: string, plot: Plot])[] = [
  ["of a schedule", { document: HANDLED }],
  ["of a schedule, paused", { document: { ...HANDLED, Pause: PAUSE } }],
  ["of a schedule, suspended", { document: HANDLED, policy: { suspend: true } }],
  ["of a schedule with a pace", { document: HANDLED, rule: { pace: { minMs: 300_000, maxMs: null } } }],
  ["of an interval", { document: HANDLED, rule: EVERY }],
  ["of an interval, paused", { document: { ...HANDLED, Pause: PAUSE }, rule: EVERY }],
  [
    "of an interval, hinted",
    { document: { ...HANDLED, Hints: { Interval: { IntervalMs: 300_000, ...MINE } } }, rule: EVERY },
  ],
  [
    "of a schedule, hinted once",
    { document: { ...HANDLED, Hints: { Oneshot: { NextRunAt: "2026-03-01T12:30:00Z", ...MINE } } } },
  ],
  ["to be tried again", { document: { ...HANDLED, Retry: RETRY }, policy: RETRIED }],
];

const hint = (more: Partial<Hint>): Hint =>
  ({ kind: "interval", intervalMs: 60_000, expiresAt: at(LATER), reason: "r", ...more }) as Hint;
const process = { kind: "process", pid: 7, startTicks: 1, bootId: "b" } as const;
const gone = { kind: "exited", code: 0, signal: null, reason: null } as const;

const HEARD: readonly (readonly [name: string, event: ActivationEvent])[] = [
  ["hints are cleared", { type: "UNHINT", kind: "all" }],
  ["interval hints are cleared", { type: "UNHINT", kind: "interval" }],
  ["one-shots are cleared", { type: "UNHINT", kind: "oneshot" }],
  ["a planner clears hints", { type: "UNHINT", kind: "all", by: BY }],
  ["a hint", { type: "HINT", hint: hint({}) }],
  ["a planner's hint", { type: "HINT", hint: hint({ by: BY }) }],
  ["a pause", { type: "PAUSE", untilAt: at("2026-03-01T13:00:00Z"), reason: "r" }],
  ["a planner's pause", { type: "PAUSE", untilAt: at("2026-03-01T13:00:00Z"), reason: "r", by: BY }],
  ["a resume", { type: "RESUME" }],
  ["a planner's resume", { type: "RESUME", by: BY }],
  ["run now", { type: "RUN", source: "manual", slotAt: at(NOW) }],
  ["the boot that it knows", { type: "BOOT", bootId: "b", isPast: true }],
  ["the definition that it knows", { type: "DEFINE", hash: "x", carriedAt: null }],
  ["a gate that nobody waits for", { type: "READY", attemptId: "stranger", holder: process }],
  ["a start that failed", { type: "FAILED", attemptId: "stranger", code: "command-not-found" }],
  ["a claim that is durable", { type: "DURABLE", attemptId: "stranger" }],
  ["a begin", { type: "STARTED", attemptId: "stranger" }],
  ["a gate that was late", { type: "NOT_RUN", attemptId: "stranger", reason: "late" }],
  ["an end", { type: "EXITED", attemptId: "stranger", ending: gone }],
  ["a loss", { type: "LOST", attemptId: "stranger" }],
  ["victims that are gone", { type: "TERMINATED", attemptId: "stranger", isGone: true }],
  ["an end that is asked for", { type: "END", attemptId: "stranger", reason: "cancelled" }],
];

/** What it waits for, looked at anew from what is on record. */
function anew(plot: Plot, document: StateDocument): readonly unknown[] {
  const job = new Scenario({ ...plot, document });
  job.wake(NOW, true);
  return [job.live, job.wakeAt];
}

describe.each(JOBS)("a job %s", (_name, plot) => {
  test.each(HEARD)("%s: it knows what it waits for", (_what, event) => {
    const job = new Scenario(plot);
    job.tell(NOW, event);
    expect([job.live, job.wakeAt]).toEqual(anew(plot, job.document));
  });

  test("waits for something at all", () => {
    expect(anew(plot, new Scenario(plot).document)[0]).not.toBeNull();
  });
});

test("what was started by hand and was ready too late leaves the job what it waits for", () => {
  const job = new Scenario({ document: HANDLED, rule: EVERY, scope: { startGraceMs: 1_000 } });
  expect(job.tell(NOW, { type: "RUN", source: "manual", slotAt: at(NOW) })).toEqual([`arm a1 manual ${NOW}`]);
  expect(job.ready("2026-03-01T12:03:05Z", "a1")).toEqual(["close a1"]);
  expect([job.live, job.wakeAt]).toEqual(["2026-03-01T12:10:00Z planned", "2026-03-01T12:10:00Z"]);
});
