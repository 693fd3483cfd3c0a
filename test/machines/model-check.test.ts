/**
 * R5: every world that three periods, a clock that steps either way and a crash between any two effects can lead to,
 * under each policy, with the machines and transitions that run in production.
 */
import { describe, expect, it } from "vitest";
import type { Concurrency } from "../../src/core/job/definition.js";
import { PRODUCTION } from "./controls.js";
import { explore } from "./explore.js";
import { type Bounds, settingOf } from "./world.js";

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
  it.each([...ROWS, ...(process.env["KRON_TEST_LONG"] === "1" ? LONG_ROWS : [])])("$title", (row) => {
    const seen = explore(settingOf({ concurrency: row.concurrency }, row.bounds, PRODUCTION));
    console.info(`R5 ${row.title}: ${seen.states} states, ${seen.transitions} transitions`);
    expect([seen.violation, seen.trace, seen.began, seen.outcomes]).toEqual([null, [], row.began, row.outcomes]);
  });
});
