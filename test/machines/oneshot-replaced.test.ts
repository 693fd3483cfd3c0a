/** S41, S42, S46: a one-shot hint that takes the place of another, whose slot is due, being started or failing. */
import { expect, test } from "vitest";
import type { Hint } from "../../src/core/governor/hint.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NEW_YEAR = "2026-01-01T00:00:00Z";
const HANDLED = { LastHandledPeriodID: NEW_YEAR, LastOutcome: "executed", LastNominalTime: NEW_YEAR } as const;
const NOON = "2026-03-01T12:00:00Z";
const FOUR = "2026-03-01T16:00:00Z";

function oneshot(next: string): Hint {
  return { kind: "oneshot", nextRunAt: at(next), expiresAt: at("2026-03-01T18:00:00Z"), reason: "r" };
}

/** The start of the one at noon is under way. */
function startingAtNoon(): Scenario {
  const job = new Scenario({ rule: { schedule: "0 0 1 1 *" }, document: HANDLED });
  job.wake("2026-03-01T11:30:00Z", true);
  job.tell("2026-03-01T11:40:00Z", { type: "HINT", hint: oneshot(NOON) });
  expect(job.wake(NOON)).toEqual([`arm a1 hint-oneshot ${NOON}`]);
  return job;
}

test("S42: the run of the older one, which was being started, does not consume the newer", () => {
  const job = startingAtNoon();
  job.tell("2026-03-01T12:00:00.010Z", { type: "HINT", hint: oneshot(FOUR) });
  expect(job.ready("2026-03-01T12:00:00.020Z", "a1")).toEqual(["persist run_started"]);
  expect(job.document.Hints?.Oneshot?.NextRunAt).toBe(FOUR);
  expect(job.live).toBe(`${FOUR} planned`);
  job.durable("2026-03-01T12:00:00.030Z", "a1");
  job.tell("2026-03-01T12:00:00.040Z", { type: "STARTED", attemptId: "a1" });
  job.exited("2026-03-01T12:00:10Z", "a1");
  expect(job.wake(FOUR)).toEqual([`arm a2 hint-oneshot ${FOUR}`]);
  expect(job.ready(FOUR, "a2")).toEqual(["persist hint_ended+run_started"]);
  expect(job.document.Hints).toBeUndefined();
});

test("S41, S46: one that fails gives way to the newer, with what stood in its way", () => {
  const job = startingAtNoon();
  job.tell("2026-03-01T12:00:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  expect(job.document.StartFailure?.Slot).toBe(NOON);
  job.tell("2026-03-01T12:00:01.500Z", { type: "HINT", hint: oneshot(FOUR) });
  expect(job.document.StartFailure).toBeUndefined();
  expect([job.live, job.wakeAt]).toEqual([`${FOUR} planned`, FOUR]);
});

test("S46: one whose start fails after it was replaced is not tried again, nor told of", () => {
  const job = startingAtNoon();
  job.tell("2026-03-01T12:00:00.500Z", { type: "HINT", hint: oneshot(FOUR) });
  expect(job.tell("2026-03-01T12:00:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" })).toEqual([]);
  expect([job.live, job.document.StartFailure]).toEqual([`${FOUR} planned`, undefined]);
});

test("S46: the same instant again changes nothing for a slot that fails", () => {
  const job = startingAtNoon();
  job.tell("2026-03-01T12:00:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  job.tell("2026-03-01T12:00:01.500Z", { type: "HINT", hint: oneshot(NOON) });
  expect(job.document.StartFailure?.Slot).toBe(NOON);
  expect(job.wake("2026-03-01T12:00:02Z")).toEqual([`arm a2 hint-oneshot ${NOON}`]);
});

test("S46: a definition with the same rule is another command: what stood in the way is forgotten", () => {
  const job = new Scenario({
    rule: { schedule: "@every 10m" },
    document: { DefinitionHash: "x", DefinedAt: NEW_YEAR, LastRunAt: NOON },
  });
  job.wake("2026-03-01T12:05:00Z", true);
  job.wake("2026-03-01T12:10:00Z");
  job.tell("2026-03-01T12:10:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  const told = job.tell("2026-03-01T12:10:02Z", { type: "DEFINE", hash: "x", carriedAt: null });
  expect(told).toEqual(["persist defined", "arm a2 interval 2026-03-01T12:10:00Z"]);
  expect([job.document.StartFailure, job.document.DefinedAt]).toEqual([undefined, NEW_YEAR]);
  job.start("2026-03-01T12:10:03Z", "a2");
  expect(job.tell("2026-03-01T12:10:04Z", { type: "DEFINE", hash: "x", carriedAt: null })).toEqual([]);
});

/** An interval of an hour whose bounds move what a one-shot hint asks for; it ran at noon. */
function paced(pace: { readonly minMs: number | null; readonly maxMs: number | null }): Scenario {
  const job = new Scenario({ rule: { schedule: "@every 1h", pace }, document: { ...HANDLED, LastRunAt: NOON } });
  job.wake("2026-03-01T12:00:30Z", true);
  return job;
}

test("S41, S46: one that its pace has moved is the same one at every look: its start fails, is told once, and is tried ever more rarely", () => {
  const job = paced({ minMs: 1_200_000, maxMs: null });
  job.tell("2026-03-01T12:01:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:02:00Z") });
  const MOVED = "2026-03-01T12:20:00Z";
  expect(job.wakeAt).toBe(MOVED);
  const tried: string[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) {
    const now = job.wakeAt ?? "";
    tried.push(now);
    expect(job.wake(now)).toEqual([`arm a${attempt} hint-oneshot ${MOVED}`]);
    const told = job.tell(now, { type: "FAILED", attemptId: `a${attempt}`, code: "command-not-found" });
    expect(told).toEqual(attempt === 1 ? ["persist start_failed"] : []);
  }
  expect(job.document.StartFailure?.Slot).toBe(MOVED);
  const apart = tried.slice(1).map((now, index) => at(now) - at(tried[index] ?? ""));
  expect(apart.toSorted((one, other) => one - other)).toEqual(apart);
  expect(new Set(apart).size).toBeGreaterThan(2);
});

test("S42: one that its pace has brought forward goes with its run", () => {
  const job = paced({ minMs: null, maxMs: 600_000 });
  job.tell("2026-03-01T12:01:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:45:00Z") });
  const MOVED = "2026-03-01T12:10:00Z";
  expect(job.wakeAt).toBe(MOVED);
  expect(job.wake(MOVED)).toEqual([`arm a1 hint-oneshot ${MOVED}`]);
  expect(job.ready(MOVED, "a1")).toEqual(["persist hint_ended+run_started"]);
  expect([job.document.Hints, job.live]).toEqual([undefined, "2026-03-01T12:20:00Z planned"]);
});

test("S42: nor does the run of one that was brought forward consume a newer one", () => {
  const job = paced({ minMs: null, maxMs: 600_000 });
  job.tell("2026-03-01T12:01:00Z", { type: "HINT", hint: oneshot("2026-03-01T12:45:00Z") });
  const MOVED = "2026-03-01T12:10:00Z";
  job.wake(MOVED);
  job.tell("2026-03-01T12:10:00.010Z", { type: "HINT", hint: oneshot(FOUR) });
  expect(job.ready("2026-03-01T12:10:00.020Z", "a1")).toEqual(["persist run_started"]);
  expect(job.document.Hints?.Oneshot?.NextRunAt).toBe(FOUR);
});
