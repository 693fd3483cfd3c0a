/**
 * The forecast is exact: what it says about the future of a configuration is what the program does when that future
 * comes, second by second. The one enumerates decisions, the other is the whole daemon on a virtual clock.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { forecastStarts } from "../../src/core/forecast/starts.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { DAY_MS, type EpochMs, formatInstant, HOUR_MS, SECOND_MS } from "../../src/core/time/instant.js";
import type { Start } from "../../src/simulation/chronicle.js";
import { simulate } from "../../src/simulation/simulation.js";

const RUNS = process.env["KRON_TEST_LONG"] === "1" ? 2_000 : 40;
const SEED = 20_261_118;

/** Schedules whose smallest gap is known, so that most windows fit. */
const SCHEDULES: readonly (readonly [expression: string, longestWindowSeconds: number])[] = [
  ["*/2 * * * *", 120],
  ["*/5 * * * *", 300],
  ["7-59/13 * * * *", 420],
  ["30 * * * *", 3_600],
  ["0 */3 * * *", 10_800],
  ["30 1,2 * * *", 3_600],
  ["0 3 * * *", 86_400],
  ["15 2 * * SUN", 86_400],
  ["0 0 1,15 * *", 86_400],
];

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Apia",
] as const;

/** Around changes of clocks in those zones, and quiet days. */
const BEGINNINGS = [
  "2026-03-28T20:00:00Z",
  "2026-10-24T21:30:00Z",
  "2026-03-07T22:00:00Z",
  "2026-10-31T23:59:30Z",
  "2026-04-04T12:00:00Z",
  "2026-10-03T13:00:07Z",
  "2026-06-15T00:00:00Z",
  "2011-12-29T06:00:00Z",
] as const;

const CONSTRAINTS = [
  undefined,
  { only: "dow=MON-FRI" },
  { avoid: "between=02:00-02:45" },
  { only: "hours=0-5,20-23", avoid: "dom=1" },
  { only: "dates=2001-01-01..2001-12-31" },
] as const;

const DISTRIBUTIONS = [
  { name: "uniform" },
  { name: "skewEarly", shape: 3 },
  { name: "skewLate", shape: 2.5 },
  { name: "normal" },
  { name: "exponential", lambda: 3, dir: "late" },
] as const;

const jobs: fc.Arbitrary<readonly JobDefinition[]> = fc
  .array(
    fc.record({
      schedule: fc.constantFrom(...SCHEDULES),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      mode: fc.constantFrom("after", "around", "before"),
      timezone: fc.constantFrom(...ZONES),
      distribution: fc.constantFrom(...DISTRIBUTIONS),
      seed: fc.record({ strategy: fc.constantFrom("stable", "daily", "weekly"), salt: fc.constantFrom("", "a", "b") }),
      constraints: fc.constantFrom(...CONSTRAINTS),
      deadline: fc.constantFrom("0s", "1s", "30s", "10m"),
      dst: fc.record({ gap: fc.constantFrom("skip", "next"), overlap: fc.constantFrom("both", "first", "last") }),
      suspend: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((raws) =>
    raws.flatMap((raw, index) => {
      const { schedule, share, mode, constraints, deadline, suspend, ...rest } = raw;
      const duration = `${Math.floor(share * schedule[1])}s`;
      const read = readJobDefinition({
        ...rest,
        identity: `job-${index}`,
        schedule: schedule[0],
        window: { mode, duration },
        ...(constraints === undefined ? {} : { constraints }),
        policy: { concurrency: "allow", deadline, suspend: suspend && index % 3 === 0 },
        command: ["/bin/true"],
      });
      return read.ok ? [read.value] : [];
    }),
  );

/** How often something starts in each second: `identity second period`. */
function simulatedStarts(definitions: readonly JobDefinition[], fromAt: EpochMs, toAt: EpochMs): Promise<string[]> {
  const found: string[] = [];
  const note = ({ identity, periodId, startedAt }: Start): void => {
    const second = formatInstant(Math.floor(startedAt / SECOND_MS) * SECOND_MS);
    found.push(`${second} ${identity}@${periodId}`);
  };
  const input = {
    loaded: { definitions, settings: SETTINGS_DEFAULTS },
    fromAt,
    toAt,
    seed: "0",
    rules: [{ match: "*", duration: { kind: "fixed", ms: 1_500 } }],
    acts: [],
    versions: { tzVersion: "test", engineVersion: "test" },
  } as const;
  return simulate(input, { onStart: note }).then(({ figures }) => {
    expect(figures).toMatchObject({ violations: 0, missed: 0, skipped: 0, started: found.length });
    return found.sort();
  });
}

function forecast(definitions: readonly JobDefinition[], fromAt: EpochMs, toAt: EpochMs): string[] {
  const found: string[] = [];
  for (const { identity, starts } of forecastStarts(definitions, fromAt, toAt)) {
    for (const { periodId, startAt } of starts) found.push(`${formatInstant(startAt)} ${identity}@${periodId}`);
  }
  return found.sort();
}

describe("P10: the forecast equals the simulation, second by second", () => {
  let starts = 0;
  test("for any configuration without faults, whatever its windows, zones, constraints and clock changes", async () => {
    const cases = fc.asyncProperty(
      jobs,
      fc.constantFrom(...BEGINNINGS),
      fc.integer({ min: 1, max: 30 }),
      async (definitions, beginning, hours) => {
        const fromAt = Date.parse(beginning);
        const toAt = fromAt + hours * HOUR_MS;
        const simulated = await simulatedStarts(definitions, fromAt, toAt);
        expect(simulated).toEqual(forecast(definitions, fromAt, toAt));
        starts += simulated.length;
      },
    );
    await fc.assert(cases, { seed: SEED, numRuns: RUNS });
    expect(starts).toBeGreaterThan(1_000);
  });

  test("over two weeks with a change of clocks in them", async () => {
    const read = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"].map((timezone, index) =>
      readJobDefinition({
        identity: `nightly-${index}`,
        schedule: "30 1,2 * * *",
        timezone,
        window: { mode: "around", duration: "1h" },
        policy: { concurrency: "allow", deadline: "5m" },
        command: ["/bin/true"],
      }),
    );
    const definitions = read.flatMap((job) => (job.ok ? [job.value] : []));
    const fromAt = Date.parse("2026-10-25T00:00:00Z") - 2 * DAY_MS;
    const simulated = await simulatedStarts(definitions, fromAt, fromAt + 14 * DAY_MS);
    expect(simulated).toEqual(forecast(definitions, fromAt, fromAt + 14 * DAY_MS));
    expect(simulated.length).toBeGreaterThan(80);
  });

  afterAll(() => {
    process.stdout.write(`P10: ${RUNS} configurations, ${starts} starts, no difference\n`);
  });
});
