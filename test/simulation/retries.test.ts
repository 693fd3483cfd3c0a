/** S43 in simulations, and the independent check of it: what it accepts and what it must catch. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { formatInstant, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { type Circumstances, JobHistory } from "../../src/simulation/job-history.js";
import { judgeRetries } from "../../src/simulation/retry-oracle.js";
import { FROM, job, play } from "./support.js";

const EVERY_10_MINUTES = { schedule: "*/10 * * * *", retry: { limit: 3, backoff: "30s", max_backoff: "1m" } };

test("the program keeps what the check asks for, across crashes too", async () => {
  const { findings, starts } = await play({
    jobs: [job(EVERY_10_MINUTES)],
    run: { duration: { kind: "fixed", ms: SECOND_MS }, failChance: 1 },
    acts: { 700: { do: "crash", forMs: 5_000, step: null } },
    minutes: 45,
  });
  expect(findings.violations).toEqual([]);
  const periods = starts.filter(({ source }) => source === null).length;
  expect(findings.figures).toMatchObject({ unaccounted: 0, duplicates: 0, executed: periods });
  expect(findings.figures.retried).toBeGreaterThan(2 * (periods - 1));
  expect(findings.figures.retried).toBeLessThanOrEqual(3 * periods);
});

describe("the check finds out", () => {
  const AROUND: Circumstances = {
    fromAt: FROM,
    endAt: FROM + HOUR_MS,
    settings: SETTINGS_DEFAULTS,
    absences: [],
    repeats: [],
    boots: [],
  };
  const PERIOD = formatInstant(FROM);
  const history = (failedAfterMs: readonly number[], startedAfterMs: readonly number[]): JobHistory => {
    const known = new JobHistory("a");
    known.define(job(EVERY_10_MINUTES), FROM - HOUR_MS);
    known.failures.set(
      PERIOD,
      failedAfterMs.map((after) => FROM + after),
    );
    for (const after of startedAfterMs) {
      known.slotStarts.push({ source: "retry", slotAt: FROM + after, startedAt: FROM + after, retryOf: PERIOD });
    }
    return known;
  };

  test.each<[string, readonly number[], readonly number[], string]>([
    ["one that is right", [1_000], [31_000], ""],
    ["one that follows no failure", [], [31_000], "no attempt of it had failed"],
    ["one that comes too soon", [1_000], [10_000], "no definition allows it"],
    ["one that comes when the next period is due", [9 * MINUTE_MS], [10 * MINUTE_MS], "no definition allows it"],
    ["one too many", [1_000, 40_000, 120_000, 200_000], [31_000, 100_000, 180_000, 260_000], "no definition allows it"],
  ])("%s", (_title, failed, started, wrong) => {
    const said = [...judgeRetries(history(failed, started), AROUND)].join();
    expect(wrong === "" ? said === "" : said.includes(wrong)).toBe(true);
  });
});
