/** The governor: every case of its table, and what holds whatever the hints. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { type NextRun, type NextRunInput, nextRun } from "../../../src/core/governor/next-run.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { at } from "../../support/scheduling.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NOON = at("2026-03-28T12:00:00Z");

/** `12:30` or `12:00:10` of that day. */
function clock(time: string): number {
  return at(`2026-03-28T${time.length === 5 ? `${time}:00` : time}Z`);
}

interface Setup {
  readonly cron?: string;
  readonly timezone?: string;
  readonly every?: number;
  readonly min?: number;
  readonly max?: number;
  /** Interval hint, until 13:00. */
  readonly hint?: number;
  readonly hintUntil?: string;
  /** One-shot hint, until 13:00. */
  readonly oneshot?: string;
  readonly oneshotUntil?: string;
  readonly last?: string;
  readonly created?: string;
  readonly paused?: string;
  readonly now?: string;
}

function inputOf({ last, created, paused, now = "12:00", ...setup }: Setup): NextRunInput {
  const { hint, hintUntil = "13:00", oneshot, oneshotUntil = "13:00" } = setup;
  return {
    endpoint: {
      ...(setup.cron === undefined ? {} : { baselineCron: setup.cron }),
      ...(setup.timezone === undefined ? {} : { timezone: setup.timezone }),
      ...(setup.every === undefined ? {} : { baselineIntervalMs: setup.every }),
      ...(setup.min === undefined ? {} : { minIntervalMs: setup.min }),
      ...(setup.max === undefined ? {} : { maxIntervalMs: setup.max }),
    },
    hints: {
      ...(hint === undefined ? {} : { interval: { intervalMs: hint, expiresAt: clock(hintUntil) } }),
      ...(oneshot === undefined ? {} : { oneshot: { nextRunAt: clock(oneshot), expiresAt: clock(oneshotUntil) } }),
    },
    lastRunAt: last === undefined ? null : clock(last),
    createdAt: created === undefined ? null : clock(created),
    pausedUntil: paused === undefined ? null : clock(paused),
    now: clock(now),
  };
}

function textOf({ at: runAt, source, ...more }: NextRun): string {
  if (runAt === null) return "never";
  const from = "clampedFrom" in more ? [`from ${formatInstant(more.clampedFrom ?? 0).slice(11, -1)}`] : [];
  return [formatInstant(runAt).slice(11, -1), source, ...from].join(" ");
}

type Row = readonly [title: string, setup: Setup, expected: string];

describe("the table", () => {
  const rows: readonly Row[] = [
    ["interval 5m, never run", { every: 5 * MINUTE, created: "11:57" }, "12:02:00 baseline-interval"],
    ["interval 5m, run 2m ago", { every: 5 * MINUTE, last: "11:58" }, "12:03:00 baseline-interval"],
    ["interval 5m, run an hour ago", { every: 5 * MINUTE, last: "11:00" }, "12:00:00 baseline-interval"],
    ["hourly cron, exactly on the slot", { cron: "0 * * * *", last: "12:00" }, "13:00:00 baseline-cron"],
    ["broken cron, paused", { cron: "not a cron", paused: "13:00" }, "13:00:00 paused"],
    ["a pause that ends now", { every: MINUTE, last: "11:58", paused: "12:00" }, "12:00:00 baseline-interval"],
    ["a pause is never clamped", { every: HOUR, max: MINUTE, paused: "18:00" }, "18:00:00 paused"],
    ["a pause goes before a one-shot", { paused: "13:00", oneshot: "12:30" }, "13:00:00 paused"],
    [
      "an interval hint that expires now",
      { every: 5 * MINUTE, hint: MINUTE, hintUntil: "12:00", last: "11:58" },
      "12:03:00 baseline-interval",
    ],
    [
      "hourly cron, interval hint 90s",
      { cron: "0 * * * *", hint: 90 * SECOND, last: "11:59:30" },
      "12:01:00 ai-interval",
    ],
    ["hint 10s, min 1m", { hint: 10 * SECOND, min: MINUTE, last: "12:00" }, "12:01:00 clamped-min from 12:00:10"],
    ["hint 2h, max 15m", { hint: 2 * HOUR, max: 15 * MINUTE, last: "12:00" }, "12:15:00 clamped-max from 14:00:00"],
    ["interval 5m, one-shot 12:30", { every: 5 * MINUTE, oneshot: "12:30", last: "12:00" }, "12:30:00 ai-oneshot"],
    [
      "a one-shot whose time is past, still fresh",
      { every: 5 * MINUTE, oneshot: "11:59", last: "11:58" },
      "12:00:00 ai-oneshot",
    ],
    [
      "a one-shot goes before an interval hint",
      { oneshot: "12:02", hint: 2 * MINUTE, last: "12:00" },
      "12:02:00 ai-oneshot",
    ],
    [
      "a one-shot beyond max",
      { every: HOUR, oneshot: "12:45", max: 10 * MINUTE, last: "12:00" },
      "12:10:00 clamped-max from 12:45:00",
    ],
    ["a one-shot within min", { every: HOUR, oneshot: "12:00:10", min: MINUTE, last: "11:00" }, "12:00:10 ai-oneshot"],
    [
      "hourly cron, max 10m",
      { cron: "0 * * * *", max: 10 * MINUTE, now: "12:05", last: "12:05" },
      "12:15:00 clamped-max from 13:00:00",
    ],
    [
      "clamped first, then raised to now",
      { every: HOUR, max: 10 * MINUTE, last: "11:00" },
      "12:00:00 clamped-max from 12:00:00",
    ],
    [
      "interval 10s, min 1m",
      { every: 10 * SECOND, min: MINUTE, last: "11:59:55" },
      "12:00:55 clamped-min from 12:00:05",
    ],
    ["no hidden back-off", { every: MINUTE, last: "12:00" }, "12:01:00 baseline-interval"],
  ];
  test.each(rows)("%s", (_title, setup, expected) => {
    expect(textOf(nextRun(inputOf(setup)))).toBe(expected);
  });
});

describe("what the table leaves open", () => {
  const rows: readonly Row[] = [
    ["nothing asks for a run", {}, "never"],
    ["bounds alone ask for none", { max: MINUTE, last: "11:00" }, "never"],
    ["neither run nor created: from now", { every: 5 * MINUTE }, "12:05:00 baseline-interval"],
    ["cron goes before an interval", { cron: "0 * * * *", every: MINUTE, last: "12:00" }, "13:00:00 baseline-cron"],
    [
      "cron follows its zone",
      { cron: "30 18 * * *", timezone: "Asia/Kolkata", last: "12:00" },
      "13:00:00 baseline-cron",
    ],
    ["cron never run is not clamped", { cron: "0 13 * * *", max: MINUTE, created: "11:00" }, "13:00:00 baseline-cron"],
    [
      "a one-shot without a run is not clamped",
      { oneshot: "12:30", max: MINUTE, created: "11:00" },
      "12:30:00 ai-oneshot",
    ],
    [
      "an interval never run is clamped",
      { every: HOUR, max: MINUTE, created: "12:00" },
      "12:01:00 clamped-max from 13:00:00",
    ],
    [
      "min wins over max",
      { every: HOUR, min: 20 * MINUTE, max: 10 * MINUTE, last: "12:00" },
      "12:20:00 clamped-min from 13:00:00",
    ],
    ["a due cron slot stays due", { cron: "0 * * * *", last: "11:00", now: "12:40" }, "12:40:00 baseline-cron"],
    ["of several missed there is one run", { cron: "* * * * *", last: "11:00" }, "12:00:00 baseline-cron"],
    [
      "what lies before the creation is not due",
      { cron: "0 12 * * *", created: "12:30", now: "12:40" },
      "12:00:00 baseline-cron",
    ],
    [
      "an interval hint whose next run lies beyond it: the baseline, once it is over",
      { every: 5 * MINUTE, hint: 2 * HOUR, last: "12:00" },
      "13:00:00 baseline-interval",
    ],
    ["the same at the very end of it", { cron: "5 * * * *", hint: HOUR, last: "12:00" }, "13:00:00 baseline-cron"],
    [
      "a one-shot that min pushes beyond its end: the interval hint, once it is over",
      { oneshot: "12:30", oneshotUntil: "12:40", hint: 50 * MINUTE, min: 45 * MINUTE, last: "12:00" },
      "12:50:00 ai-interval",
    ],
    [
      "an expired one-shot leaves the interval hint",
      { oneshot: "11:59", oneshotUntil: "12:00", hint: MINUTE, last: "12:00" },
      "12:01:00 ai-interval",
    ],
    [
      "a broken cron does not matter while a hint decides",
      { cron: "not a cron", oneshot: "12:30" },
      "12:30:00 ai-oneshot",
    ],
  ];
  test.each(rows)("%s", (_title, setup, expected) => {
    expect(textOf(nextRun(inputOf(setup)))).toBe(expected);
  });

  test.each([
    ["an expression", { cron: "61 * * * *" }, "cron-range"],
    ["a zone", { cron: "0 * * * *", timezone: "Mars/Olympus" }, "timezone-unknown"],
  ] as const)("%s that cannot be read throws when it is needed", (_title, setup, code) => {
    const trial = (): NextRun => nextRun(inputOf(setup));
    expect(trial).toThrow(KronError);
    expect(trial).toThrow(expect.objectContaining({ code, component: "governor" }));
  });
});

const ABOUT = 4 * HOUR;
const near = fc.integer({ min: NOON - ABOUT, max: NOON + ABOUT });
const before = fc.integer({ min: NOON - ABOUT, max: NOON });
const after = fc.integer({ min: NOON + 1, max: NOON + ABOUT });
const lengthMs = fc.oneof(fc.integer({ min: SECOND, max: ABOUT }), fc.constantFrom(MINUTE, HOUR));
const crons = fc.constantFrom("0 * * * *", "* * * * *", "*/7 9-17 * * *", "30 12 28 3 *");

const endpoints = fc.record(
  { baselineCron: crons, baselineIntervalMs: lengthMs, minIntervalMs: lengthMs, maxIntervalMs: lengthMs },
  { requiredKeys: [] },
);
const intervalHints = fc.record({ intervalMs: lengthMs, expiresAt: near });
const oneshotHints = fc
  .tuple(near, fc.integer({ min: 1, max: ABOUT }))
  .map(([nextRunAt, restMs]) => ({ nextRunAt, expiresAt: nextRunAt + restMs }));
const hints = fc.record({ interval: intervalHints, oneshot: oneshotHints }, { requiredKeys: [] });

const inputs: fc.Arbitrary<NextRunInput> = fc.record({
  endpoint: endpoints,
  hints,
  lastRunAt: fc.option(before),
  createdAt: fc.option(before),
  pausedUntil: fc.option(near, { freq: 8 }),
  now: fc.constant(NOON),
});

const RUNS = { numRuns: 5_000, seed: 20261119 };

function boundsOf({ endpoint }: NextRunInput): { readonly minMs: number; readonly maxMs: number } {
  return { minMs: endpoint.minIntervalMs ?? 0, maxMs: endpoint.maxIntervalMs ?? Number.POSITIVE_INFINITY };
}

describe("whatever the hints", () => {
  test("never before now, and always something when anything asks", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const next = nextRun(input);
        if (next.at !== null) expect(next.at).toBeGreaterThanOrEqual(input.now);
        const { baselineIntervalMs } = input.endpoint;
        if (baselineIntervalMs !== undefined) expect(next.at).not.toBeNull();
      }),
      RUNS,
    );
  });

  test("never at or beyond a hint's end because of that hint", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { hints: given } = input;
        const { at: runAt, source } = nextRun(input);
        if (source === "ai-interval") expect(runAt).toBeLessThan(given.interval?.expiresAt ?? 0);
        if (source === "ai-oneshot") expect(runAt).toBeLessThan(given.oneshot?.expiresAt ?? 0);
        // Without its hints the job would run at another time: then they are in force at that time.
        const bare = nextRun({ ...input, hints: {} });
        const endsAt = Math.max(given.interval?.expiresAt ?? 0, given.oneshot?.expiresAt ?? 0);
        if (bare.at !== null && runAt !== bare.at) expect(runAt).toBeLessThanOrEqual(endsAt);
      }),
      RUNS,
    );
  });

  test("once they have expired it is exactly the baseline again", () => {
    fc.assert(
      fc.property(inputs, intervalHints, oneshotHints, (input, interval, oneshot) => {
        const expired = {
          interval: { ...interval, expiresAt: Math.min(interval.expiresAt, input.now) },
          oneshot: { ...oneshot, expiresAt: Math.min(oneshot.expiresAt, input.now) },
        };
        expect(nextRun({ ...input, hints: expired })).toEqual(nextRun({ ...input, hints: {} }));
      }),
      RUNS,
    );
  });

  test("bounds hold, but for what is raised to now or waits for a hint's end", () => {
    fc.assert(
      fc.property(inputs, before, (input, lastRunAt) => {
        const next = nextRun({ ...input, lastRunAt });
        if (next.at === null || next.source === "paused") return;
        const { minMs, maxMs } = boundsOf(input);
        expect(next.at).toBeGreaterThanOrEqual(lastRunAt + minMs);
        const latestAt = lastRunAt + Math.max(minMs, maxMs);
        expect(next.at).toBeLessThanOrEqual(Math.max(input.now, latestAt));
      }),
      RUNS,
    );
  });

  test("a clamped result says what it was, and which bound has moved it which way", () => {
    fc.assert(
      fc.property(inputs, before, (input, lastRunAt) => {
        const next = nextRun({ ...input, lastRunAt });
        const isClamped = next.source === "clamped-min" || next.source === "clamped-max";
        expect("clampedFrom" in next).toBe(isClamped);
        if (!("clampedFrom" in next) || next.clampedFrom === undefined) return;
        const { minMs, maxMs } = boundsOf(input);
        const latestAt = lastRunAt + maxMs;
        if (next.source === "clamped-max") expect(next.clampedFrom).toBeGreaterThan(latestAt);
        else expect(Math.min(next.clampedFrom, latestAt)).toBeLessThan(lastRunAt + minMs);
      }),
      RUNS,
    );
  });

  test("what is due and unclaimed stays due, however often it is planned again", () => {
    fc.assert(
      fc.property(inputs, before, after, (input, lastRunAt, later) => {
        const asked = { ...input, lastRunAt, pausedUntil: null };
        const first = nextRun(asked);
        if (first.at === null || first.at > later) return;
        const again = nextRun({ ...asked, now: later });
        // A hint that has ended takes what was due because of it with it: the baseline may be due later.
        const isHintOver = Object.values(input.hints).some(
          ({ expiresAt }) => expiresAt > input.now && expiresAt <= later,
        );
        const isBaseline = first.source === "baseline-cron" || first.source === "baseline-interval";
        if (isBaseline || !isHintOver) expect(again.at).toBe(later);
      }),
      RUNS,
    );
  });

  test("a pause is a moment to ask again, and nothing else", () => {
    fc.assert(
      fc.property(inputs, after, (input, pausedUntil) => {
        expect(nextRun({ ...input, pausedUntil })).toEqual({ at: pausedUntil, source: "paused" });
        expect(nextRun({ ...input, pausedUntil: input.now })).toEqual(nextRun({ ...input, pausedUntil: null }));
      }),
      RUNS,
    );
  });

  test("what it says comes true: planned again at its time, it is due", () => {
    fc.assert(
      fc.property(inputs, before, (input, lastRunAt) => {
        const asked = { ...input, lastRunAt };
        const first = nextRun(asked);
        if (first.at === null || first.source === "paused") return;
        expect(nextRun({ ...asked, now: first.at }).at).toBe(first.at);
      }),
      RUNS,
    );
  });
});

describe("asked with Date objects", () => {
  const date = (text: string): Date => new Date(`2026-03-28T${text}Z`);
  const none = { lastRunAt: null, createdAt: null, pausedUntil: null };

  test("answers with them, as with milliseconds", () => {
    const endpoint = { baselineIntervalMs: 7_200_000, maxIntervalMs: 900_000 };
    const now = date("12:00:00");
    const hints = {
      interval: { intervalMs: 30_000, expiresAt: date("13:00:00") },
      oneshot: { nextRunAt: date("12:00:10"), expiresAt: date("12:30:00") },
    };
    const about = { ...none, endpoint, now, lastRunAt: now };
    expect(nextRun({ ...about, hints })).toEqual({ at: date("12:00:10"), source: "ai-oneshot" });
    const clamped = { at: date("12:15:00"), source: "clamped-max", clampedFrom: date("14:00:00") };
    expect(nextRun({ ...about, hints: {} })).toEqual(clamped);
    const paused = nextRun({ ...about, hints, pausedUntil: date("18:00:00") });
    expect(paused).toEqual({ at: date("18:00:00"), source: "paused" });
    expect(nextRun({ ...none, endpoint: {}, hints: {}, now })).toEqual({ at: null, source: null });
  });

  test("refuses what is no instant", () => {
    const endpoint = { baselineIntervalMs: 60_000 };
    const wrong = { ...none, endpoint, hints: {}, now: new Date("noon") };
    expect(() => nextRun(wrong)).toThrow("all instants are to be valid Date objects");
    const mixed = { ...wrong, now: date("12:00:00"), lastRunAt: 5 as unknown as Date };
    expect(() => nextRun(mixed)).toThrow("all instants are to be valid Date objects");
    const other = { ...wrong, now: 5 as unknown as Date, lastRunAt: date("12:00:00") };
    expect(() => nextRun(other)).toThrow("all instants are to be valid Date objects");
  });
});
