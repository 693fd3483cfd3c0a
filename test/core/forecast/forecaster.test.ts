import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Forecast, Forecaster } from "../../../src/core/forecast/forecaster.js";
import type { Grouping } from "../../../src/core/forecast/groups.js";
import { bucketStartAt, readHorizon } from "../../../src/core/forecast/horizon.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { ANY_JOBS, type BruteStart, bruteForecast, jobOf } from "../../support/forecast.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/schedules.js";

const FROM = "2026-03-01T00:00:00Z";
const NEXT_DAY = "2026-03-02T00:00:00Z";

function forecastOf(
  jobs: readonly JobDefinition[],
  by: Grouping = "identity",
  from = FROM,
  to = NEXT_DAY,
  bucketMs = MINUTE_MS,
): Forecast {
  const horizon = requireOk(readHorizon(at(from), at(to), bucketMs));
  const forecaster = new Forecaster(horizon, { by, hasDurations: false });
  for (const job of jobs) expect(forecaster.add(job)).toBeNull();
  return forecaster.result();
}

function peakText(forecast: Forecast): string {
  const [peak] = forecast.chosen.peaks(1);
  return `${formatInstant(bucketStartAt(forecast.horizon, peak?.bucket ?? 0))} ${peak?.starts}`;
}

describe("totals", () => {
  test("both series, suspended jobs and unschedulable periods are told apart", () => {
    const forecast = forecastOf([
      jobOf({ identity: "a", schedule: "0 0 * * *" }),
      jobOf({ identity: "b", schedule: "0 0 * * *", policy: { suspend: true } }),
      jobOf({ identity: "c", constraints: { only: "hours=0-5" } }),
    ]);
    const { jobs, suspended, unschedulable, chosen, nominal } = forecast;
    expect({ jobs, suspended, unschedulable, starts: chosen.total, nominal: nominal.total }).toEqual({
      jobs: 2,
      suspended: 1,
      unschedulable: 18,
      starts: 7,
      nominal: 25,
    });
  });

  test("S15: an unschedulable period counts where its window opens", () => {
    const never = jobOf({
      schedule: "0 0 * * *",
      window: { mode: "before", duration: "2h" },
      constraints: { only: "date=2000-01-01" },
    });
    expect(forecastOf([never], "identity", "2026-03-01T21:59:00Z", "2026-03-01T22:01:00Z").unschedulable).toBe(1);
    expect(forecastOf([never], "identity", "2026-03-01T23:59:00Z", "2026-03-02T00:01:00Z").unschedulable).toBe(0);
  });

  test("a hundred thousand starts of one second are one bucket", () => {
    const horizon = requireOk(readHorizon(at(FROM), at("2026-03-01T00:01:00Z"), MINUTE_MS));
    const forecaster = new Forecaster(horizon, { by: "target", hasDurations: false });
    const job = jobOf({ schedule: "* * * * *" });
    for (let index = 0; index < 100_000; index++) forecaster.add(job);
    const { chosen } = forecaster.result();
    expect(chosen.counts).toEqual(new Uint32Array([100_000]));
    expect(chosen.contributorsOf(0)).toEqual({ named: [{ name: "/bin/true", starts: 100_000 }], others: 0 });
  });
});

describe("peaks and who makes them", () => {
  const jobs = ["d", "b", "a", "c", "f", "e", "g"].map((identity) => jobOf({ identity, schedule: "0 12 * * *" }));

  test("equal contributors come in the order of their names, whatever the order of the files", () => {
    const expected = {
      named: ["a", "b", "c", "d", "e"].map((name) => ({ name, starts: 1 })),
      others: 2,
    };
    for (const order of [jobs, [...jobs].reverse()]) {
      const forecast = forecastOf(order);
      expect(peakText(forecast)).toBe("2026-03-01T12:00:00Z 7");
      expect(forecast.chosen.contributorsOf(720)).toEqual(expected);
    }
  });

  test("who contributes more comes first", () => {
    const forecast = forecastOf(
      [jobOf({ identity: "once" }), jobOf({ identity: "often", schedule: "*/5 * * * *" })],
      "identity",
      FROM,
      NEXT_DAY,
      HOUR_MS,
    );
    expect(forecast.chosen.contributorsOf(3)).toEqual({
      named: [
        { name: "often", starts: 12 },
        { name: "once", starts: 1 },
      ],
      others: 0,
    });
  });

  test("of equal peaks the earlier comes first; empty buckets are no peaks", () => {
    const forecast = forecastOf([jobOf({ schedule: "0 3,9,15 * * *" })]);
    expect(forecast.chosen.peaks(5).map(({ bucket }) => bucket)).toEqual([180, 540, 900]);
  });
});

describe("groups", () => {
  const jobs = [
    jobOf({ identity: "a", tags: ["db", "prod"], user: "backup", command: ["/usr/bin/dump", "x"] }),
    jobOf({ identity: "b", tags: ["prod"], command: "/usr/bin/dump | gzip", shell: true }),
    jobOf({ identity: "c", http: { url: "https://example.org/hook?x=1" }, command: undefined }),
  ];
  const rows: readonly (readonly [by: Grouping, expected: readonly string[]])[] = [
    ["tag", ["prod 2 48", "(no tag) 1 24", "db 1 24"]],
    ["user", ["(http) 1 24", "(no user) 1 24", "backup 1 24"]],
    ["target", ["/usr/bin/dump 2 48", "https://example.org 1 24"]],
    ["identity", ["a 1 24", "b 1 24", "c 1 24"]],
  ];
  test.each(rows)("by %s", (by, expected) => {
    const groups = forecastOf(jobs, by).topGroups(10);
    expect(groups.map(({ name, jobs: count, starts }) => `${name} ${count} ${starts}`)).toEqual(expected);
  });

  test("more groups than can be counted apart are refused, with what to do", () => {
    const horizon = requireOk(readHorizon(at(FROM), at(FROM) + 1_000_000_000, 1000));
    const forecaster = new Forecaster(horizon, { by: "tag", hasDurations: false });
    const problems = Array.from({ length: 30 }, (_, index) =>
      forecaster.add(jobOf({ schedule: "0 0 1 1 *", tags: [`t${index}`] })),
    );
    expect(problems.find((problem) => problem !== null)).toMatchObject({
      code: "limit-exceeded",
      message: "too many groups by tag for 1000000 buckets",
      hint: "take larger buckets or a shorter horizon",
    });
  });
});

describe("horizons", () => {
  const rows: readonly (readonly [name: string, fromAt: number, toAt: number, bucketMs: number, expected: string])[] = [
    ["two minutes", 0, 120_000, 60_000, "2"],
    ["a last bucket that is shorter", 0, 121_000, 60_000, "3"],
    ["the most buckets", 0, 1_000_000_000, 1000, "1000000"],
    ["one more", 0, 1_000_001_000, 1000, "1000001 buckets of 1s, more than the limit of 1000000"],
    ["no time at all", 0, 0, 60_000, "a forecast ends after it begins"],
    ["an end before the beginning", 60_000, 0, 60_000, "a forecast ends after it begins"],
    ["a bucket of no seconds", 0, 60_000, 0, "a bucket is a whole number of seconds, at least one"],
    ["a bucket of a second and a half", 0, 60_000, 1500, "a bucket is a whole number of seconds, at least one"],
    ["a beginning within a second", 1, 60_000, 1000, "a forecast is from and to a whole second"],
    [
      "before schedules are known",
      -1000,
      60_000,
      1000,
      "schedules are known from 1970-01-01T00:00:00Z to 2200-01-01T00:00:00Z",
    ],
  ];
  test.each(rows)("%s", (_, fromAt, toAt, bucketMs, expected) => {
    const horizon = readHorizon(fromAt, toAt, bucketMs);
    expect(horizon.ok ? String(horizon.value.buckets) : horizon.error.message).toBe(expected);
  });
});

describe("properties", () => {
  const grouping = fc.constantFrom<Grouping>("identity", "tag", "user", "target");
  const horizons = fc.record({
    fromAt: fc
      .constantFrom("2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-04-04T15:00:00Z", "2026-03-08T07:00:00Z")
      .chain((text) => fc.integer({ min: -18_000, max: 18_000 }).map((seconds) => at(text) + seconds * 1000)),
    lengthMs: fc.integer({ min: 1, max: 30_000 }).map((seconds) => seconds * 1000),
    bucketMs: fc.constantFrom(1000, 60_000, 7 * 60_000, HOUR_MS),
  });

  function counted(starts: readonly BruteStart[], fromAt: number, bucketMs: number, buckets: number): number[] {
    const counts = new Array<number>(buckets).fill(0);
    for (const { startAt } of starts) {
      const bucket = Math.floor((startAt - fromAt) / bucketMs);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    return counts;
  }

  test("both series are what brute force counts, bucket by bucket, however they are grouped", () => {
    fc.assert(
      fc.property(ANY_JOBS, horizons, grouping, (jobs, { fromAt, lengthMs, bucketMs }, by) => {
        const horizon = requireOk(readHorizon(fromAt, fromAt + lengthMs, bucketMs));
        const forecaster = new Forecaster(horizon, { by, hasDurations: false });
        for (const job of jobs) forecaster.add(job);
        const forecast = forecaster.result();
        const brute = bruteForecast(jobs, fromAt, fromAt + lengthMs, DAY_MS + 2 * HOUR_MS);
        expect([...forecast.chosen.counts]).toEqual(counted(brute.chosen, fromAt, bucketMs, horizon.buckets));
        expect([...forecast.nominal.counts]).toEqual(counted(brute.nominal, fromAt, bucketMs, horizon.buckets));
        expect(forecast.unschedulable).toBe(brute.unschedulable);
      }),
      { numRuns: 120, seed: 10 },
    );
  });

  test("with one group for each job the contributors of a bucket add up to it", () => {
    fc.assert(
      fc.property(ANY_JOBS, horizons, (jobs, { fromAt, lengthMs, bucketMs }) => {
        const horizon = requireOk(readHorizon(fromAt, fromAt + lengthMs, bucketMs));
        const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
        for (const job of jobs) forecaster.add(job);
        const { chosen } = forecaster.result();
        const sums = Array.from(chosen.counts, (_, bucket) =>
          chosen.contributorsOf(bucket).named.reduce((sum, { starts }) => sum + starts, 0),
        );
        expect(sums).toEqual([...chosen.counts]);
      }),
      { numRuns: 40, seed: 11 },
    );
  });
});
