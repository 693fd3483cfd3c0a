import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkOverlap, Forecaster } from "../../../src/core/forecast/forecaster.js";
import { readHorizon } from "../../../src/core/forecast/horizon.js";
import { JobRuns, RunningLoad } from "../../../src/core/forecast/overlap.js";
import type { Policy } from "../../../src/core/job/definition.js";
import { DAY_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { jobOf } from "../../support/forecast.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/schedules.js";
import { policyOf } from "../../support/scheduling.js";

const HORIZON = requireOk(readHorizon(0, 10_000, 5000));

/** Runs of one job, given as seconds, over ten seconds in two buckets. */
function overlapOf(policy: Partial<Policy>, durationS: number, starts: readonly number[]) {
  const load = new RunningLoad(HORIZON);
  const runs = new JobRuns(load, policyOf(policy), durationS * 1000);
  for (const second of starts) runs.start(second * 1000);
  runs.close();
  const { running, most, peak, skipped } = load.result();
  return { running: [...running], most: [...most], peak: [peak.at / 1000, peak.runs], skipped };
}

describe("runs at once, by policy", () => {
  const rows: readonly (readonly [
    name: string,
    policy: Partial<Policy>,
    durationS: number,
    starts: readonly number[],
    expected: ReturnType<typeof overlapOf>,
  ])[] = [
    ["one run", { concurrency: "allow" }, 3, [1], { running: [0.6, 0], most: [1, 0], peak: [1, 1], skipped: 0 }],
    [
      "allow: they add up",
      { concurrency: "allow" },
      3,
      [1, 2, 3],
      { running: [1.6, 0.2], most: [3, 1], peak: [3, 3], skipped: 0 },
    ],
    [
      "allow with max_active: no more than that",
      { concurrency: "allow", maxActive: 2 },
      3,
      [1, 2, 3],
      { running: [1.2, 0], most: [2, 0], peak: [2, 2], skipped: 1 },
    ],
    [
      "forbid: skipped while one is at work",
      { concurrency: "forbid" },
      3,
      [1, 2, 3, 4],
      { running: [0.8, 0.4], most: [1, 1], peak: [1, 1], skipped: 2 },
    ],
    [
      "replace: the new one ends the old one",
      { concurrency: "replace" },
      3,
      [1, 2],
      { running: [0.8, 0], most: [1, 0], peak: [1, 1], skipped: 0 },
    ],
    [
      "a run that ends when the next begins is not at work any more",
      { concurrency: "forbid" },
      2,
      [1, 3],
      { running: [0.8, 0], most: [1, 0], peak: [1, 1], skipped: 0 },
    ],
    [
      "less than a second counts as one",
      { concurrency: "allow" },
      0.2,
      [0],
      { running: [0.2, 0], most: [1, 0], peak: [0, 1], skipped: 0 },
    ],
    [
      "a run that was at work before counts from the beginning",
      { concurrency: "allow" },
      4,
      [-2],
      { running: [0.4, 0], most: [1, 0], peak: [0, 1], skipped: 0 },
    ],
    [
      "a run that goes on counts to the end",
      { concurrency: "allow" },
      60,
      [8],
      { running: [0, 0.4], most: [0, 1], peak: [8, 1], skipped: 0 },
    ],
  ];
  test.each(rows)("%s", (_, policy, durationS, starts, expected) => {
    expect(overlapOf(policy, durationS, starts)).toEqual(expected);
  });
});

describe("of a configuration", () => {
  function forecastWith(durations: readonly (number | null)[], raw: Parameters<typeof jobOf>[0] = {}) {
    const horizon = requireOk(readHorizon(at("2026-03-01T00:00:00Z"), at("2026-03-01T02:00:00Z"), MINUTE_MS));
    const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: true });
    for (const [index, durationMs] of durations.entries())
      forecaster.add(jobOf({ ...raw, identity: `j${index}` }), { durationMs, lastRunAt: null });
    return forecaster.result().overlap;
  }

  test("jobs without a duration are counted, and left out", () => {
    expect(forecastWith([60_000, null, 60_000])).toMatchObject({
      jobs: 2,
      jobsWithoutDuration: 1,
      chosen: { peak: { runs: 2 } },
    });
  });

  test("a run of the period before the horizon is at work in it", () => {
    const overlap = forecastWith([90 * MINUTE_MS], { policy: { concurrency: "allow" } });
    expect([...(overlap?.chosen.most ?? [])].slice(0, 61)).toEqual([
      2,
      ...new Array<number>(29).fill(2),
      ...new Array<number>(30).fill(1),
      2,
    ]);
  });

  test("a run takes no longer than its timeout", () => {
    expect(forecastWith([DAY_MS], { timeout: "10s" })?.chosen.running[0]).toBeCloseTo(10 / 60);
  });

  test("seconds are bounded", () => {
    const horizon = requireOk(readHorizon(0, 40_000_001_000, DAY_MS));
    expect(checkOverlap(horizon)).toMatchObject({ ok: false, error: { code: "limit-exceeded" } });
  });
});

test("property: with allow, the most at once is what counting every second gives", () => {
  const runs = fc.array(
    fc.record({ start: fc.integer({ min: -5, max: 12 }), length: fc.integer({ min: 1, max: 9 }) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(runs, (all) => {
      const load = new RunningLoad(HORIZON);
      for (const { start, length } of all) load.add(start * 1000, (start + length) * 1000);
      const bySecond = Array.from(
        { length: 10 },
        (_, second) => all.filter(({ start, length }) => start <= second && second < start + length).length,
      );
      expect([...load.result().most]).toEqual([Math.max(...bySecond.slice(0, 5)), Math.max(...bySecond.slice(5))]);
    }),
    { numRuns: 200, seed: 12 },
  );
});
