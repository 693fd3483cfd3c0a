/** Starts that follow each other at one distance are counted together, and come to what they come to one by one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Forecaster } from "../../../src/core/forecast/forecaster.js";
import { readHorizon } from "../../../src/core/forecast/horizon.js";
import { nextRun } from "../../../src/core/governor/next-run.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/schedules.js";

const FROM = at("2026-03-01T00:00:00Z");

function jobOf(raw: object) {
  return requireOk(readJobDefinition({ identity: "a", command: ["x"], ...raw }));
}

interface Pace {
  readonly cron: string | null;
  readonly everyMs: number;
  readonly minMs: number | null;
  readonly maxMs: number | null;
  /** Of the run before the horizon. */
  readonly agoMs: number;
}

function rawOf({ cron, everyMs, minMs, maxMs }: Pace): object {
  return {
    ...(cron === null ? { every: `${everyMs}ms` } : { schedule: cron }),
    ...(minMs === null ? {} : { min_interval: `${minMs}ms` }),
    ...(maxMs === null ? {} : { max_interval: `${maxMs}ms` }),
  };
}

/** As the governor says it, one after the other. */
function oneByOne({ cron, everyMs, minMs, maxMs, agoMs }: Pace, toAt: number): number[] {
  const endpoint = {
    ...(cron === null ? { baselineIntervalMs: everyMs } : { baselineCron: cron }),
    ...{ minIntervalMs: minMs, maxIntervalMs: maxMs },
  };
  const found: number[] = [];
  for (let ranAt = FROM - agoMs; ; ) {
    const next = nextRun({ endpoint, hints: {}, lastRunAt: ranAt, createdAt: null, pausedUntil: null, now: ranAt });
    if (next.at === null || next.at >= toAt) return found;
    if (next.at >= FROM) found.push(next.at);
    ranAt = next.at;
  }
}

const pace = fc
  .record({
    cron: fc.constantFrom(null, "*/7 * * * *", "3 */2 * * *", "* * * * *"),
    everyMs: fc.integer({ min: SECOND_MS, max: 20 * MINUTE_MS }),
    minMs: fc.option(fc.integer({ min: SECOND_MS, max: 5 * MINUTE_MS })),
    maxMs: fc.option(fc.integer({ min: SECOND_MS, max: 10 * MINUTE_MS })),
    agoMs: fc.integer({ min: 1, max: 30 * MINUTE_MS }),
  })
  .filter(({ minMs, maxMs }) => minMs === null || maxMs === null || minMs <= maxMs);

test("property: in each bucket as many as the governor says one by one", () => {
  fc.assert(
    fc.property(pace, fc.constantFrom(SECOND_MS, 17 * SECOND_MS, MINUTE_MS, HOUR_MS), (wish, bucketMs) => {
      const toAt = FROM + 100 * MINUTE_MS;
      const forecaster = new Forecaster(requireOk(readHorizon(FROM, toAt, bucketMs)), {
        by: "identity",
        hasDurations: false,
      });
      forecaster.add(jobOf(rawOf(wish)), { durationMs: null, lastRunAt: FROM - wish.agoMs });
      const { chosen } = forecaster.result();
      const wanted = new Array<number>(chosen.counts.length).fill(0);
      for (const start of oneByOne(wish, toAt)) {
        const bucket = Math.floor((start - FROM) / bucketMs);
        wanted[bucket] = (wanted[bucket] ?? 0) + 1;
      }
      expect([...chosen.counts]).toEqual(wanted);
      expect(chosen.loadOf(0).starts).toBe(chosen.total);
    }),
    { seed: 20_260_301, numRuns: 300 },
  );
});

test("hundreds of jobs of a second are counted over a year as quickly as any", () => {
  const horizon = requireOk(readHorizon(FROM, FROM + 365 * DAY_MS, DAY_MS));
  const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
  const jobs = 300;
  const oneADay = "0 3 * * *";
  for (let index = 0; index < jobs; index += 1) {
    const often = index % 2 === 0 ? { every: "1s" } : { schedule: oneADay, max_interval: "1s" };
    forecaster.add(jobOf({ identity: `j-${index}`, ...often }), { durationMs: null, lastRunAt: FROM - SECOND_MS });
  }
  expect(forecaster.result().chosen.total).toBe(jobs * 365 * 86_400);
});
