/** Starts that follow each other at one distance are counted together, and come to what they come to one by one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Forecaster } from "../../../src/core/forecast/forecaster.js";
import { readHorizon } from "../../../src/core/forecast/horizon.js";
import type { ForecastStanding } from "../../../src/core/forecast/standing.js";
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

const WITHOUT = { interval: null, oneshot: null };

test("property: the same under a hint and behind a pause, of an interval", () => {
  const held = fc.record({
    pausedMs: fc.option(fc.integer({ min: -MINUTE_MS, max: 60 * MINUTE_MS })),
    hint: fc.option(
      fc.record({
        intervalMs: fc.integer({ min: SECOND_MS, max: 5 * MINUTE_MS }),
        endsMs: fc.integer({ min: -MINUTE_MS, max: 120 * MINUTE_MS }),
      }),
    ),
  });
  fc.assert(
    fc.property(
      pace.filter(({ cron }) => cron === null),
      held,
      (wish, { pausedMs, hint }) => {
        const toAt = FROM + 100 * MINUTE_MS;
        const interval = hint === null ? null : { intervalMs: hint.intervalMs, expiresAt: FROM + hint.endsMs };
        const pausedUntilAt = pausedMs === null ? null : FROM + pausedMs;
        const standing = { asOfAt: FROM, pausedUntilAt, hints: { ...WITHOUT, interval } };
        const forecaster = new Forecaster(requireOk(readHorizon(FROM, toAt, 17 * SECOND_MS)), {
          by: "identity",
          hasDurations: false,
        });
        forecaster.add(jobOf(rawOf(wish)), { durationMs: null, lastRunAt: FROM - wish.agoMs, standing });
        const { chosen } = forecaster.result();
        const wanted = new Array<number>(chosen.counts.length).fill(0);
        const endpoint = {
          baselineIntervalMs: wish.everyMs,
          ...{ minIntervalMs: wish.minMs, maxIntervalMs: wish.maxMs },
        };
        const isHeld = pausedUntilAt !== null && pausedUntilAt > FROM;
        const isHinted = interval !== null && interval.expiresAt > FROM;
        const firstAt = isHeld ? pausedUntilAt : isHinted ? FROM : Number.NEGATIVE_INFINITY;
        for (let ranAt = FROM - wish.agoMs; ; ) {
          const now = Math.max(ranAt, firstAt);
          const next = nextRun({
            endpoint,
            hints: isHinted ? { interval } : {},
            lastRunAt: ranAt,
            createdAt: null,
            pausedUntil: null,
            now,
          });
          if (next.at === null || next.at >= toAt) break;
          const bucket = Math.floor((next.at - FROM) / (17 * SECOND_MS));
          if (next.at >= FROM) wanted[bucket] = (wanted[bucket] ?? 0) + 1;
          ranAt = next.at;
        }
        expect([...chosen.counts]).toEqual(wanted);
      },
    ),
    { seed: 20_260_302, numRuns: 300 },
  );
});

test("as much work as there are buckets, however many start in them, and whatever holds or hints them", () => {
  const whole = requireOk(readHorizon(FROM, FROM + 365 * DAY_MS, DAY_MS));
  let steps = 0;
  // Each look for a bucket reads where the horizon begins.
  const horizon = {
    ...whole,
    get fromAt() {
      steps += 1;
      return whole.fromAt;
    },
  };
  const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
  const interval = { intervalMs: SECOND_MS, expiresAt: FROM + 200 * DAY_MS };
  const over = { nextRunAt: FROM - HOUR_MS, expiresAt: FROM - MINUTE_MS };
  const free = { asOfAt: FROM, pausedUntilAt: null, hints: WITHOUT };
  const kinds: readonly (readonly [raw: object, standing: ForecastStanding])[] = [
    [{ every: "1s" }, free],
    [{ every: "1s", min_interval: "1s" }, free],
    [{ schedule: "0 3 * * *", max_interval: "1s" }, free],
    [{ every: "1s" }, { ...free, pausedUntilAt: FROM + DAY_MS }],
    [{ every: "1s" }, { ...free, hints: { interval, oneshot: over } }],
    [
      { every: "1h", max_interval: "1s" },
      { ...free, pausedUntilAt: FROM + HOUR_MS, hints: { interval, oneshot: null } },
    ],
  ];
  const jobs = 246;
  for (let index = 0; index < jobs; index += 1) {
    const [raw, standing] = kinds[index % kinds.length] ?? [{}, free];
    forecaster.add(jobOf({ identity: `j-${index}`, ...raw }), {
      durationMs: null,
      lastRunAt: FROM - SECOND_MS,
      standing,
    });
  }
  expect(forecaster.result().chosen.total).toBeGreaterThan(jobs * 360 * 86_400);
  // Two series, and where one rule gives way to another in the middle of a bucket.
  expect(steps).toBeLessThan(jobs * whole.buckets * 6);
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
