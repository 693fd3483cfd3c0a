/**
 * R5: every world that three periods, a clock that steps either way and a crash between any two effects can lead to,
 * under each policy, with the machines and transitions that run in production.
 */
import { describe, expect, test } from "vitest";
import type { Hint } from "../../src/core/governor/hint.js";
import type { Concurrency } from "../../src/core/job/definition.js";
import { PRODUCTION } from "./controls.js";
import { explore } from "./explore.js";
import { type Bounds, EPOCH, settingOf, TICK_MS } from "./world.js";

interface Row {
  readonly title: string;
  readonly concurrency: Concurrency;
  readonly bounds: Bounds;
  /** Periods whose command began in at least one world. */
  readonly began: number;
  readonly outcomes: readonly string[];
}

const bounds = (lastTick: number, gateLosses: number, manualRuns: number): Bounds => ({
  lastTick,
  gateLosses,
  manualRuns,
});
const COMMON = ["executed", "missed", "not evaluated"];

const ROWS: readonly Row[] = [
  { title: "forbid", concurrency: "forbid", bounds: bounds(4, 0, 0), began: 3, outcomes: [...COMMON, "skipped"] },
  { title: "replace", concurrency: "replace", bounds: bounds(4, 0, 0), began: 3, outcomes: COMMON },
  { title: "allow", concurrency: "allow", bounds: bounds(4, 0, 0), began: 3, outcomes: COMMON },
  {
    title: "forbid, a gate is lost",
    concurrency: "forbid",
    bounds: bounds(2, 1, 0),
    began: 2,
    outcomes: [...COMMON, "skipped"],
  },
  {
    title: "replace, a gate is lost",
    concurrency: "replace",
    bounds: bounds(2, 1, 0),
    began: 2,
    outcomes: COMMON,
  },
  {
    title: "allow, one manual run is asked for twice (S40)",
    concurrency: "allow",
    bounds: bounds(0, 0, 2),
    began: 2,
    outcomes: ["executed"],
  },
];

const tick = (n: number): number => EPOCH + n * TICK_MS;
const oneshot = (expires: number): Hint => ({
  kind: "oneshot",
  nextRunAt: tick(1),
  expiresAt: tick(expires),
  reason: "r",
});
const interval = (expires: number): Hint => ({
  kind: "interval",
  intervalMs: TICK_MS,
  expiresAt: tick(expires),
  reason: "r",
});

/** S40-S42: the same, where more than the schedule says when the job runs. */
const GOVERNED_ROWS: readonly Row[] = [
  {
    title: "forbid, a one-shot hint (S42)",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), hints: [oneshot(2)] },
    began: 3,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
  {
    title: "forbid, an interval hint (S41)",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), hints: [interval(2)] },
    began: 4,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
  {
    title: "forbid, an interval, a gate is lost (S40)",
    concurrency: "forbid",
    bounds: { ...bounds(2, 1, 0), everyTicks: 1 },
    began: 3,
    outcomes: [],
  },
];

/** R14: the same where the runs are requests, which nobody adopts after a crash and nobody sends again. */
const REQUEST_ROWS: readonly Row[] = [
  {
    title: "requests, forbid",
    concurrency: "forbid",
    bounds: { ...bounds(4, 0, 0), holder: "request" },
    began: 3,
    outcomes: [...COMMON, "skipped"],
  },
  {
    title: "requests, replace, an address is refused",
    concurrency: "replace",
    bounds: { ...bounds(2, 1, 0), holder: "request" },
    began: 2,
    outcomes: COMMON,
  },
  {
    title: "requests, allow, one manual run is asked for twice (S40)",
    concurrency: "allow",
    bounds: { ...bounds(0, 0, 2), holder: "request" },
    began: 2,
    outcomes: ["executed"],
  },
  {
    title: "requests, forbid, a one-shot hint (S42)",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), hints: [oneshot(2)], holder: "request" },
    began: 3,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
  {
    title: "requests, forbid, an interval (S40)",
    concurrency: "forbid",
    bounds: { ...bounds(2, 1, 0), everyTicks: 1, holder: "request" },
    began: 3,
    outcomes: [],
  },
];

/** S43: runs that fail are tried again until the next period is due; nobody knows how those of a dead daemon ended. */
const RETRY_ROWS: readonly Row[] = [
  {
    title: "forbid, one retry",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), retries: 1 },
    began: 4,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
  {
    title: "requests, allow, one retry",
    concurrency: "allow",
    bounds: { ...bounds(2, 0, 0), retries: 1, holder: "request" },
    began: 4,
    outcomes: ["executed", "not evaluated"],
  },
];

/** S44: the machine goes down at any moment, and the clock goes both ways. */
const BOOT_ROWS: readonly Row[] = [
  {
    title: "at boot, allow, a gate is lost",
    concurrency: "allow",
    bounds: { ...bounds(2, 1, 0), reboots: 1 },
    began: 2,
    outcomes: [],
  },
  {
    title: "at boot, forbid, one retry",
    concurrency: "forbid",
    bounds: { ...bounds(1, 0, 0), reboots: 1, retries: 1 },
    began: 3,
    outcomes: [],
  },
];

/** A job that runs once: there is no next period that would make up for anything. */
const ONCE_ROWS: readonly Row[] = [
  {
    title: "once, allow, a gate is lost",
    concurrency: "allow",
    bounds: { ...bounds(4, 1, 0), onceTick: 2 },
    began: 1,
    outcomes: ["executed", "missed"],
  },
  {
    title: "once, forbid, one retry",
    concurrency: "forbid",
    bounds: { ...bounds(4, 0, 0), onceTick: 2, retries: 1 },
    began: 2,
    outcomes: ["executed", "missed"],
  },
];

/** S51: the job stops by itself, whatever crashes in between; that is a pause like any other, and nothing passes in silence. */
const STOP_ROWS: readonly Row[] = [
  {
    title: "forbid, stops after one run",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), stop: { afterFailures: null, afterRuns: 1, at: null } },
    began: 1,
    outcomes: ["executed", "not evaluated"],
  },
  {
    title: "requests, forbid, stops after two runs",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), holder: "request", stop: { afterFailures: null, afterRuns: 2, at: null } },
    began: 2,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
  {
    title: "forbid, ends at the second tick, and stops after a failure",
    concurrency: "forbid",
    bounds: { ...bounds(2, 0, 0), stop: { afterFailures: 1, afterRuns: null, at: tick(2) } },
    began: 1,
    outcomes: ["executed"],
  },
];

/** As large as the time of a long run allows. */
const LONG_GOVERNED_ROWS: readonly Row[] = [
  {
    title: "forbid, a one-shot hint, one tick more",
    concurrency: "forbid",
    bounds: { ...bounds(3, 0, 0), hints: [oneshot(3)] },
    began: 3,
    outcomes: [...COMMON, "skipped"],
  },
];

const LONG_ROWS: readonly Row[] = [
  {
    title: "forbid, one tick more, a gate is lost",
    concurrency: "forbid",
    bounds: bounds(5, 1, 0),
    began: 3,
    outcomes: [...COMMON, "skipped"],
  },
  {
    title: "replace, one tick more, a gate is lost",
    concurrency: "replace",
    bounds: bounds(5, 1, 0),
    began: 3,
    outcomes: COMMON,
  },
  {
    title: "allow, one tick more, a gate is lost",
    concurrency: "allow",
    bounds: bounds(5, 1, 0),
    began: 3,
    outcomes: COMMON,
  },
  {
    title: "forbid, a manual run is asked for twice",
    concurrency: "forbid",
    bounds: bounds(2, 0, 2),
    began: 3,
    outcomes: ["executed", "not evaluated", "skipped"],
  },
];

describe("R5: all reachable worlds: no period begins twice, no run is off the record, nothing passes in silence", () => {
  test.each([
    ...ROWS,
    ...GOVERNED_ROWS,
    ...REQUEST_ROWS,
    ...RETRY_ROWS,
    ...BOOT_ROWS,
    ...ONCE_ROWS,
    ...STOP_ROWS,
    ...(process.env["KRON_TEST_LONG"] === "1" ? [...LONG_ROWS, ...LONG_GOVERNED_ROWS] : []),
  ])("$title", (row) => {
    const seen = explore(settingOf({ concurrency: row.concurrency }, row.bounds, PRODUCTION));
    console.info(`R5 ${row.title}: ${seen.states} states, ${seen.transitions} transitions`);
    expect([seen.violation, seen.trace, seen.began, seen.outcomes]).toEqual([null, [], row.began, row.outcomes]);
  });
});
