import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../../src/core/decision/compile.js";
import { Forecaster } from "../../../../src/core/forecast/forecaster.js";
import { type Horizon, readHorizon } from "../../../../src/core/forecast/horizon.js";
import { windowLimitMs } from "../../../../src/core/forecast/tune/limits.js";
import { type TuneOptions, type TunePlan, tune } from "../../../../src/core/forecast/tune/tune.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import type { RawJob } from "../../../../src/core/job/schema.js";
import { formatDuration } from "../../../../src/core/time/duration.js";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/core/time/instant.js";
import { ANY_JOBS, jobOf } from "../../../support/forecast.js";
import { requireOk } from "../../../support/results.js";
import { at } from "../../../support/schedules.js";

const FROM_AT = at("2026-03-01T00:00:00Z");
const DAY = requireOk(readHorizon(FROM_AT, FROM_AT + DAY_MS, MINUTE_MS));
const OPTIONS: TuneOptions = { targetPeak: null, maxWindowMs: HOUR_MS };

function midnightJobs(count: number, raw: Partial<RawJob> = {}): JobDefinition[] {
  return Array.from({ length: count }, (_, index) => jobOf({ schedule: "0 0 * * *", ...raw, identity: `j${index}` }));
}

function tuned(
  jobs: readonly JobDefinition[],
  options: Partial<TuneOptions> = {},
  horizon = DAY,
  mayChangeSalt = false,
) {
  const subjects = jobs.map((definition) => ({ definition, mayChangeWindow: true, mayChangeSalt }));
  return tune(subjects, horizon, { ...OPTIONS, ...options });
}

/** The peak of the jobs as they would be, by the forecast itself. */
function peakOf(jobs: readonly JobDefinition[], { changes }: Pick<TunePlan, "changes">, horizon: Horizon): number {
  const rules = new Map(changes.map(({ definition, rule }) => [definition.identity, rule]));
  const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
  for (const job of jobs) forecaster.add({ ...job, ...rules.get(job.identity) });
  return forecaster.result().chosen.peaks(1)[0]?.starts ?? 0;
}

describe("flattening", () => {
  test("fifty jobs of midnight come down to the target, and no further", () => {
    const jobs = midnightJobs(50);
    const plan = tuned(jobs, { targetPeak: 10 });
    expect(plan).toMatchObject({ peakBefore: 50, peakAfter: 10, targetPeak: 10 });
    expect(peakOf(jobs, plan, DAY)).toBe(10);
    expect(plan.changes).toHaveLength(40);
  });

  test("nothing is touched when the load is flat enough", () => {
    expect(tuned(midnightJobs(5), { targetPeak: 5 }).changes).toEqual([]);
  });

  test("windows are after the nominal time: nobody asked for earlier", () => {
    expect(new Set(tuned(midnightJobs(9)).changes.map(({ rule }) => rule.window.mode))).toEqual(new Set(["after"]));
  });

  test("a window that is there keeps its mode when it becomes wider", () => {
    const plan = tuned(midnightJobs(60, { window: { mode: "around", duration: "2m" } }), { targetPeak: 4 });
    expect(plan.peakAfter).toBeLessThan(plan.peakBefore);
    expect(new Set(plan.changes.map(({ rule }) => rule.window.mode))).toEqual(new Set(["around"]));
  });

  test("without a target it goes no lower than what may not change", () => {
    const fixed = midnightJobs(7).map((definition) => ({
      definition: { ...definition, identity: `fixed/${definition.identity}` },
      mayChangeWindow: false,
      mayChangeSalt: false,
    }));
    const free = midnightJobs(20).map((definition) => ({ definition, mayChangeWindow: true, mayChangeSalt: false }));
    expect(tune([...fixed, ...free], DAY, OPTIONS)).toMatchObject({
      peakOfFixed: 7,
      targetPeak: 7,
      peakBefore: 27,
      peakAfter: 7,
    });
  });

  test("another salt moves a job inside the window it has, only when that is allowed", () => {
    const jobs = midnightJobs(30, { window: { mode: "after", duration: "1h" } });
    expect(tuned(jobs, { targetPeak: 1 }).changes).toEqual([]);
    const plan = tuned(jobs, { targetPeak: 1 }, DAY, true);
    expect(plan.peakAfter).toBeLessThan(plan.peakBefore);
    expect(new Set(plan.changes.map(({ rule }) => formatDuration(rule.window.durationMs)))).toEqual(new Set(["1h"]));
  });

  test("S17: suspended jobs make no load and are not touched", () => {
    expect(tuned(midnightJobs(9, { policy: { suspend: true } }))).toMatchObject({ peakBefore: 0, changes: [] });
  });
});

describe("how wide a window may become", () => {
  const rows: readonly (readonly [name: string, raw: Partial<RawJob>, maxWindow: number, expected: string])[] = [
    ["half the smallest gap", { schedule: "0 * * * *" }, DAY_MS, "30m"],
    ["half the smallest gap, in a length that people write", { schedule: "*/5 * * * *" }, DAY_MS, "2m"],
    ["half a minute", { schedule: "* * * * *" }, DAY_MS, "30s"],
    ["the smallest of uneven gaps counts", { schedule: "0 1,3,20 * * *" }, DAY_MS, "1h"],
    ["what the user allows", { schedule: "0 0 * * *" }, 25 * MINUTE_MS, "25m"],
    ["the deadline, when there is one", { schedule: "0 0 * * *", policy: { deadline: "12m" } }, DAY_MS, "10m"],
    ["no room", { schedule: "0 0 * * *", policy: { deadline: "5s" } }, DAY_MS, "0s"],
  ];
  test.each(rows)("%s", (_, raw, maxWindowMs, expected) => {
    const job = jobOf(raw);
    expect(formatDuration(windowLimitMs(job, compileRule(job), maxWindowMs))).toBe(expected);
  });

  test("constraints are never left with less than they had", () => {
    const jobs = midnightJobs(40, { constraints: { only: "between=00:00-00:01" } });
    const plan = tuned(jobs, { targetPeak: 2, maxWindowMs: 12 * HOUR_MS });
    const horizon = requireOk(readHorizon(FROM_AT, FROM_AT + 30 * DAY_MS, HOUR_MS));
    const rules = new Map(plan.changes.map(({ definition, rule }) => [definition.identity, rule]));
    const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
    for (const job of jobs) forecaster.add({ ...job, ...rules.get(job.identity) });
    expect(plan.changes.length).toBeGreaterThan(0);
    expect(forecaster.result().unschedulable).toBe(0);
  });
});

test("property: the peak never rises, limits hold, and the plan says what the forecast finds", () => {
  const crowds = fc.tuple(
    ANY_JOBS,
    fc.integer({ min: 0, max: 30 }),
    fc.constantFrom("0 1 * * *", "*/30 * * * *", "0 2 * * *"),
  );
  const options = fc.record({
    targetPeak: fc.option(fc.integer({ min: 1, max: 5 })),
    maxWindowMs: fc.constantFrom(10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS),
  });
  fc.assert(
    fc.property(crowds, options, fc.boolean(), ([some, count, schedule], chosen, mayChangeSalt) => {
      const jobs = [...some, ...midnightJobs(count, { schedule, timezone: "Europe/Berlin" })];
      const fromAt = at("2026-03-28T18:00:00Z");
      const horizon = requireOk(readHorizon(fromAt, fromAt + 12 * HOUR_MS, MINUTE_MS));
      const plan = tuned(jobs, chosen, horizon, mayChangeSalt);
      expect(peakOf(jobs, { changes: [] }, horizon)).toBe(plan.peakBefore);
      expect(peakOf(jobs, plan, horizon)).toBe(plan.peakAfter);
      expect(plan.peakAfter).toBeLessThanOrEqual(plan.peakBefore);
      for (const { definition, rule } of plan.changes) {
        const limitMs = Math.max(
          definition.window.durationMs,
          windowLimitMs(definition, compileRule(definition), chosen.maxWindowMs),
        );
        expect(rule.window.durationMs).toBeLessThanOrEqual(limitMs);
        expect(rule.window.durationMs).toBeGreaterThan(0);
      }
    }),
    { numRuns: 60, seed: 31 },
  );
});
