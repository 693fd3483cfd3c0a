/** Intervals and hints in simulations, and the independent check of them: what it accepts and what it must catch. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { Hint } from "../../src/core/governor/hint.js";
import { formatInstant, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { type Circumstances, JobHistory, secondOf } from "../../src/simulation/job-history.js";
import { judgeSlots } from "../../src/simulation/slot-oracle.js";
import { FROM, job, play } from "./support.js";

const NEVER = "0 0 1 1 *";

describe("the program keeps what the check asks for", () => {
  test("an interval runs on, to the second, across a crash, and again when the daemon is back", async () => {
    const { findings, starts } = await play({
      jobs: [job({ schedule: undefined, every: "90s" })],
      run: { duration: { kind: "fixed", ms: SECOND_MS } },
      acts: {
        400: { do: "crash", forMs: 5_000, step: null },
        1000: { do: "down", forMs: 200_000 },
      },
      minutes: 30,
    });
    expect(findings.violations).toEqual([]);
    expect(findings.figures.intervals).toBeGreaterThan(15);
    expect(new Set(starts.map(({ source }) => source))).toEqual(new Set(["interval"]));
  });

  test("a hint stands in for the schedule while it holds, and then it is as before", async () => {
    const { findings, starts } = await play({
      jobs: [job()],
      acts: { 120: { do: "hint", job: "*", wish: { intervalMs: 20_000, ttlMs: 120_000 } } },
      minutes: 10,
    });
    expect(findings.violations).toEqual([]);
    expect(findings.figures).toMatchObject({ unaccounted: 0, hinted: 6 });
    const sources = starts.map(({ source }) => source ?? "cron");
    expect(sources.filter((source) => source === "cron").length).toBeGreaterThan(5);
    expect(findings.figures.not_evaluated).toBeGreaterThan(0);
  });

  test("a one-shot runs once, and is used up", async () => {
    const at = FROM + 5 * MINUTE_MS;
    const { findings, starts } = await play({
      jobs: [job({ schedule: NEVER })],
      acts: { 60: { do: "hint", job: "*", wish: { nextRunAt: at } } },
      minutes: 30,
    });
    expect(findings.violations).toEqual([]);
    expect(starts.map(({ source, periodId }) => [source, periodId])).toEqual([["hint-oneshot", formatInstant(at)]]);
  });

  test("cleared before its time", async () => {
    const { findings } = await play({
      jobs: [job({ schedule: NEVER })],
      acts: {
        60: { do: "hint", job: "*", wish: { intervalMs: 60_000, ttlMs: HOUR_MS } },
        400: { do: "unhint", job: "*" },
      },
      minutes: 30,
    });
    expect(findings.violations).toEqual([]);
    expect(findings.figures.hinted).toBe(6);
  });
});

const AROUND: Circumstances = {
  fromAt: FROM,
  endAt: FROM + 4 * HOUR_MS,
  settings: SETTINGS_DEFAULTS,
  absences: [],
  repeats: [],
  boots: [],
};

interface Story {
  readonly definition?: Record<string, unknown>;
  /** Source, slot and start, in seconds from the beginning. */
  readonly slots?: readonly (readonly [source: string, slot: number, start: number])[];
  /** Starts of cron periods, in seconds. */
  readonly periods?: readonly number[];
  readonly hints?: readonly (readonly [set: number, hint: Hint])[];
}

function told({ definition = { schedule: NEVER }, slots = [], periods = [], hints = [] }: Story): readonly string[] {
  const history = new JobHistory("job");
  history.define(job({ schedule: undefined, ...definition }), FROM);
  for (const [set, hint] of hints) {
    const span = history.hint(FROM + set * SECOND_MS, hint);
    span.surelyFromAt = FROM + set * SECOND_MS;
  }
  for (const [source, slot, start] of slots) {
    history.slotStarts.push({ source, slotAt: FROM + slot * SECOND_MS, startedAt: FROM + start * SECOND_MS });
  }
  for (const at of periods) history.starts.set(secondOf(FROM + at * SECOND_MS), FROM + at * SECOND_MS);
  return [...judgeSlots(history, AROUND)].map((text) => text.replace(/^\S+ /, ""));
}

function every(seconds: number, forSeconds: number, from = 0): Hint {
  const expiresAt = FROM + (from + forSeconds) * SECOND_MS;
  return { kind: "interval", intervalMs: seconds * SECOND_MS, expiresAt, reason: "" };
}

function once(second: number, until: number): Hint {
  return { kind: "oneshot", nextRunAt: FROM + second * SECOND_MS, expiresAt: FROM + until * SECOND_MS, reason: "" };
}

const HOURLY = { every: "1h" };
const HOURS = [3600, 7200, 10_800].map((at) => ["interval", at, at] as const);

describe("the check", () => {
  const rows: readonly [title: string, story: Story, violations: readonly (string | RegExp)[]][] = [
    ["an interval as it should be", { definition: HOURLY, slots: HOURS }, []],
    [
      "a hint as it should be",
      {
        slots: [
          ["hint-interval", 60, 60],
          ["hint-interval", 120, 120],
        ],
        hints: [[30, every(60, 150)]],
      },
      [],
    ],
    ["a one-shot as it should be", { slots: [["hint-oneshot", 300, 300]], hints: [[30, once(300, 600)]] }, []],
    [
      "a hint that survives its TTL",
      {
        slots: [
          ["hint-interval", 60, 60],
          ["hint-interval", 180, 180],
        ],
        hints: [[30, every(60, 120)]],
      },
      [/nothing asked for it/],
    ],
    ["a hint that nobody gave", { slots: [["hint-oneshot", 300, 300]] }, [/nothing asked for it/]],
    [
      "a one-shot at another instant",
      { slots: [["hint-oneshot", 301, 301]], hints: [[30, once(300, 600)]] },
      [/nothing asked for it/],
    ],
    [
      "a one-shot consumed twice",
      {
        slots: [
          ["hint-oneshot", 300, 300],
          ["hint-oneshot", 300, 400],
        ],
        hints: [[30, once(300, 600)]],
      },
      [/nothing asked for it/],
    ],
    ["an interval that no definition has", { slots: [["interval", 60, 60]] }, [/nothing asked for it/]],
    [
      "before its instant",
      { definition: HOURLY, slots: [["interval", 3600, 3500], ...HOURS.slice(1)] },
      [/before its instant/],
    ],
    [
      "too soon after the run before",
      { definition: { every: "1h", min_interval: "1h" }, slots: [...HOURS, ["interval", 12_000, 12_000]] },
      [/began 20m after the run before, not 1h/],
    ],
    [
      "an interval that nothing holds back any more",
      { definition: HOURLY, slots: HOURS.slice(0, 1), hints: [[3700, every(3600, 3600, 3700)]] },
      [/did not run from 2026-03-01T02:02:10Z/],
    ],
    ["an interval that falls silent", { definition: HOURLY, slots: HOURS.slice(0, 1) }, [/did not run from/]],
    [
      "the schedule in spite of a hint",
      { definition: { schedule: "* * * * *" }, periods: [600], hints: [[30, every(3600, 3600)]] },
      [/although a hint stood in/],
    ],
  ];
  test.each(rows)("%s", (_title, story, violations) => {
    const found = told(story);
    expect(found).toHaveLength(violations.length);
    for (const [index, wanted] of violations.entries()) expect(found[index]).toMatch(wanted);
  });
});
