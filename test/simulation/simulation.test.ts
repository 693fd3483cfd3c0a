import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { type Act, CRASH_STEPS, type TimedAct } from "../../src/simulation/scenario.js";
import { simulate } from "../../src/simulation/simulation.js";
import { FROM, job, play, type Script } from "./support.js";

const IS_LONG = process.env["KRON_TEST_LONG"] === "1";

const MIXED: Script = {
  jobs: [
    job({ identity: "a", window: { duration: "40s" }, policy: { concurrency: "replace", deadline: "1m" } }),
    job({ identity: "b", schedule: "*/2 * * * *", policy: { concurrency: "allow", deadline: "0s" } }),
    job({ identity: "c", schedule: "*/3 * * * *", policy: { concurrency: "forbid", deadline: "30s" } }),
  ],
  run: {
    duration: { kind: "lognormal", medianMs: 40_000, sigma: 1 },
    failChance: 0.3,
    refusal: "fork-failed",
    refuseChance: 0.1,
    ignoresTerm: true,
  },
  acts: { 130: { do: "crash", forMs: 5_000, step: "after-claim" }, 400: { do: "jump", byMs: -90_000 } },
  minutes: 30,
};

describe("a simulation depends on its input and its seed alone", () => {
  test("the same seed: the same events and findings", async () => {
    const [one, other] = [await play(MIXED), await play(MIXED)];
    expect(other).toEqual(one);
    expect(one.timeline.length).toBeGreaterThan(100);
  });

  test("another seed: other draws, and the same promises", async () => {
    const [one, other] = [await play(MIXED), await play({ ...MIXED, seed: "1" })];
    expect(other.findings.exits).not.toEqual(one.findings.exits);
    expect(other.findings.figures.violations).toBe(0);
  });

  test("the draws of one job do not depend on the other jobs", async () => {
    const script = { run: { duration: { kind: "uniform", fromMs: 1_000, toMs: 50_000 }, failChance: 0.5 } } as const;
    const alone = await play({ ...script, jobs: [job({ identity: "a" })] });
    const among = await play({
      ...script,
      jobs: [job({ identity: "0" }), job({ identity: "a" }), job({ identity: "z" })],
    });
    const ends = ({ timeline }: typeof alone) =>
      timeline
        .filter(({ event, identity }) => event === "completed" && identity === "a")
        .map(({ at, fields }) => [at, fields["exit_code"]]);
    expect(ends(among)).toEqual(ends(alone));
    expect(ends(alone)).toHaveLength(10);
  });
});

describe("rules of runs", () => {
  test("the last rule that matches and says it wins, field by field", async () => {
    const rules = [
      { match: "*", duration: { kind: "fixed", ms: 1_000 }, exitCode: 3 },
      { match: "prod/*", exitCode: 4 },
      { match: "prod/??", failChance: 0 },
    ] as const;
    const jobs = ["dev/x", "prod/long", "prod/ab"].map((identity) => job({ identity, schedule: "*/10 * * * *" }));
    const { findings } = await play({ jobs, rules, minutes: 11 });
    expect(findings.jobs.map(({ identity, exits }) => [identity, exits])).toEqual([
      ["dev/x", { "3": 1 }],
      ["prod/ab", { "0": 1 }],
      ["prod/long", { "4": 1 }],
    ]);
  });
});

describe("the figures", () => {
  // Beside a run that is going no process is made ahead: the second start waits for all of its four seconds.
  test("peaks, overlaps and lateness", async () => {
    const jobs = ["a", "b", "c"].map((identity) =>
      job({ identity, schedule: "*/5 * * * *", policy: { concurrency: "allow", deadline: "1m" } }),
    );
    const { findings } = await play({ jobs, run: { duration: { kind: "fixed", ms: 310_000 }, armMs: 6_000 } });
    expect(findings).toMatchObject({
      peak: { count: 6, at: "2026-03-01T00:10:06Z" },
      starts_per_second: { count: 3, at: "2026-03-01T00:05:01Z" },
      lateness: { p50_ms: 1_000, max_ms: 6_000, latest: "a@2026-03-01T00:10:00Z" },
      figures: { overlaps: 3, still_running: 3 },
    });
  });

  test("an interrupted simulation tells what was so far", async () => {
    let looks = 0;
    const findings = await simulate(
      {
        loaded: { definitions: [job()], settings: SETTINGS_DEFAULTS },
        fromAt: FROM,
        toAt: FROM + 10_000 * MINUTE_MS,
        seed: "0",
        rules: [],
        acts: [],
        versions: { tzVersion: "test", engineVersion: "test" },
      },
      { isInterrupted: () => ++looks > 3 },
    );
    expect(findings.interrupted).toBe(true);
    expect(findings.simulated_ms).toBeLessThan(60 * MINUTE_MS);
    expect(findings.figures).toMatchObject({ violations: 0, unaccounted: 0 });
    expect(findings.figures.executed).toBeGreaterThan(3);
  });
});

const seconds = fc.integer({ min: 0, max: 40 * 60 });
const forMs = fc.integer({ min: 1, max: 400 }).map((value) => value * SECOND_MS);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant("crash" as const), forMs, step: fc.constantFrom(null, ...CRASH_STEPS) }),
  fc.record({ do: fc.constantFrom("down" as const, "reboot" as const, "freeze" as const), forMs }),
  fc.record({ do: fc.constant("lose-launcher" as const) }),
  fc.record({ do: fc.constant("jump" as const), byMs: fc.integer({ min: -2_000_000, max: 4_000_000 }) }),
  fc.record({
    do: fc.constant("store-failure" as const),
    errno: fc.constantFrom("EIO" as const, "ENOSPC" as const),
    isDurable: fc.boolean(),
    forMs,
  }),
  fc.record({ do: fc.constant("pause" as const), job: fc.constantFrom("*", "a"), forMs, reason: fc.constant("x") }),
  fc.record({
    do: fc.constantFrom("resume" as const, "run" as const, "cancel" as const),
    job: fc.constantFrom("*", "b"),
  }),
);

function anyJob(identity: string): fc.Arbitrary<JobDefinition> {
  return fc
    .record({
      schedule: fc.constantFrom("* * * * *", "*/2 * * * *", "1-59/4 * * * *"),
      window: fc.constantFrom({ duration: "0s" }, { duration: "40s" }, { duration: "50s", mode: "around" }),
      policy: fc.record({
        concurrency: fc.constantFrom("allow", "forbid", "replace"),
        deadline: fc.constantFrom("0s", "5s", "40s", "3m"),
      }),
    })
    .map((more) => job({ identity, ...more }));
}

describe("R4: a random life in a random scenario", () => {
  const figures = { runs: 0, periods: 0, starts: 0 };
  test("nothing runs twice, every period is accounted for", async () => {
    const property = fc.asyncProperty(
      fc.tuple(anyJob("a"), anyJob("b"), anyJob("c")),
      fc.array(fc.tuple(seconds, act), { maxLength: 8 }),
      fc.nat(),
      async (definitions, acts, seed) => {
        const findings = await simulate({
          loaded: { definitions, settings: SETTINGS_DEFAULTS },
          fromAt: FROM,
          toAt: FROM + 40 * MINUTE_MS,
          seed: String(seed),
          rules: [
            {
              match: "*",
              duration: { kind: "lognormal", medianMs: 20_000, sigma: 1.5 },
              failChance: 0.2,
              refusal: "fork-failed",
              refuseChance: 0.1,
              lostStartChance: 0.02,
              ignoresTerm: seed % 2 === 0,
            },
          ],
          acts: acts.map(([second, what]): TimedAct => ({ afterMs: second * SECOND_MS, act: what })),
          versions: { tzVersion: "test", engineVersion: "test" },
        });
        expect(findings.violations).toEqual([]);
        figures.runs += 1;
        figures.periods += findings.figures.periods;
        figures.starts += findings.figures.started;
      },
    );
    await fc.assert(property, { seed: 7, numRuns: IS_LONG ? 5_000 : 40 });
  });

  afterAll(() => {
    const { runs, periods, starts } = figures;
    process.stdout.write(`R4: ${runs} scenarios, ${periods} periods, ${starts} starts, no violation\n`);
  });
});
