import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { forecastStarts } from "../../../src/core/forecast/starts.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../src/core/time/instant.js";
import { ANY_JOBS, bruteForecast, jobOf } from "../../support/forecast.js";
import { at } from "../../support/schedules.js";

function startsOf(definition: JobDefinition, from: string, to: string) {
  return [...forecastStarts([definition], at(from), at(to))].flatMap(({ starts }) => [...starts]);
}

function texts(definition: JobDefinition, from: string, to: string): string[] {
  return startsOf(definition, from, to).map(({ periodId, startAt }) => `${periodId} ${formatInstant(startAt)}`);
}

const BACKUP = {
  identity: "prod/db-backup",
  schedule: "0 0 * * *",
  window: { mode: "after" as const, duration: "3h" },
  seed: { salt: "backup" },
};

describe("the edges of the horizon cut neither series", () => {
  // The published vector: the period of midnight is chosen at 02:32:20.
  const rows: readonly (readonly [name: string, from: string, to: string, expected: readonly string[]])[] = [
    [
      "the period begins before the horizon, its second lies inside",
      "2026-03-01T01:00:00Z",
      "2026-03-01T03:00:00Z",
      ["2026-03-01T00:00:00Z 2026-03-01T02:32:20Z"],
    ],
    ["the period lies inside, its second after the end", "2026-02-28T23:00:00Z", "2026-03-01T01:00:00Z", []],
    [
      "the first second belongs to the horizon",
      "2026-03-01T02:32:20Z",
      "2026-03-01T02:32:21Z",
      ["2026-03-01T00:00:00Z 2026-03-01T02:32:20Z"],
    ],
    ["the end does not", "2026-03-01T02:00:00Z", "2026-03-01T02:32:20Z", []],
  ];
  test.each(rows)("%s", (_, from, to, expected) => {
    expect(texts(jobOf(BACKUP), from, to)).toEqual(expected);
  });

  test("a window before the nominal time reaches out of the horizon's end", () => {
    const job = jobOf({ schedule: "0 0 * * *", window: { mode: "before", duration: "6h" } });
    const found = texts(job, "2026-03-01T12:00:00Z", "2026-03-02T00:00:00Z");
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^2026-03-02T00:00:00Z 2026-03-01T/);
  });
});

describe("what has no start", () => {
  test("S17: a suspended job", () => {
    expect(texts(jobOf({ policy: { suspend: true } }), "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")).toEqual([]);
  });

  test("S3: a skipped wall time", () => {
    const job = jobOf({ schedule: "30 2 * * *", timezone: "Europe/Berlin" });
    expect(texts(job, "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z")).toEqual([]);
  });

  test("an unschedulable period", () => {
    const job = jobOf({ constraints: { avoid: "between=12:00-12:00" } });
    expect(startsOf(job, "2026-03-01T11:00:00Z", "2026-03-01T14:00:00Z").map(({ periodId }) => periodId)).toEqual([
      "2026-03-01T11:00:00Z",
      "2026-03-01T13:00:00Z",
    ]);
  });
});

test("S11: where a clock change makes windows overlap, the newer period waits for the older", () => {
  // At 01:00 UTC the clocks of Berlin skip an hour: the periods of 01:00 and 03:00 are an hour apart, their windows two long.
  const jobs = Array.from({ length: 200 }, (_, index) =>
    jobOf({
      identity: `job/${index}`,
      schedule: "0 1,3 * * *",
      timezone: "Europe/Berlin",
      window: { mode: "after", duration: "2h" },
    }),
  );
  const waiting = jobs.flatMap((job) =>
    startsOf(job, "2026-03-29T00:00:00Z", "2026-03-29T04:00:00Z").filter(({ chosenAt, startAt }) => startAt > chosenAt),
  );
  expect(waiting.length).toBeGreaterThan(0);
  for (const { identity, starts } of forecastStarts(jobs, at("2026-03-29T00:00:00Z"), at("2026-03-29T04:00:00Z"))) {
    const [older, newer] = [...starts];
    expect({ identity, order: (newer?.startAt ?? 0) >= (older?.startAt ?? 0) }).toEqual({ identity, order: true });
  }
});

const CHANGES = [
  "2026-03-29T01:00:00Z",
  "2026-10-25T01:00:00Z",
  "2026-03-08T07:00:00Z",
  "2026-04-04T15:00:00Z",
  "2026-06-01T00:00:00Z",
];

describe("properties", () => {
  const horizons = fc.record({
    aroundAt: fc.constantFrom(...CHANGES).map(at),
    shiftMs: fc.integer({ min: -5 * 3600, max: 5 * 3600 }).map((seconds) => seconds * 1000),
    lengthMs: fc.integer({ min: 1, max: 12 * 3600 }).map((seconds) => seconds * 1000),
  });

  test("every start is the one a minute-by-minute enumeration with decide finds, and no other", () => {
    fc.assert(
      fc.property(ANY_JOBS, horizons, (jobs, { aroundAt, shiftMs, lengthMs }) => {
        const fromAt = aroundAt + shiftMs;
        const toAt = fromAt + lengthMs;
        const found = [...forecastStarts(jobs, fromAt, toAt)].flatMap(({ identity, starts }) =>
          [...starts].map(({ nominalAt, startAt }) => ({ identity, nominalAt, startAt })),
        );
        expect(found).toEqual(bruteForecast(jobs, fromAt, toAt, DAY_MS + 2 * HOUR_MS).chosen);
      }),
      { numRuns: 120, seed: 4 },
    );
  });

  test("the chosen second is the one of the decision, second by second", () => {
    const job = jobOf({
      schedule: "*/10 * * * *",
      timezone: "Europe/Berlin",
      window: { mode: "around", duration: "9m" },
    });
    const compiled = compileRule(job);
    const [fromAt, toAt] = [at("2026-10-25T00:00:00Z"), at("2026-10-25T01:30:00Z")];
    const bySecond = new Map<number, number>();
    for (const nominalAt of compiled.schedule.between(fromAt - HOUR_MS, toAt + HOUR_MS)) {
      const { chosenAt } = decide(compiled, nominalAt);
      if (chosenAt !== null) bySecond.set(chosenAt, nominalAt);
    }
    const expected: [number, number][] = [];
    for (let second = fromAt; second < toAt; second += 1000) {
      const nominalAt = bySecond.get(second);
      if (nominalAt !== undefined) expected.push([second, nominalAt]);
    }
    const found = startsOf(job, "2026-10-25T00:00:00Z", "2026-10-25T01:30:00Z");
    expect(found.map(({ startAt, nominalAt }) => [startAt, nominalAt])).toEqual(expected);
  });
});
