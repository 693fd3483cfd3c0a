/** Forecasts that know how a job stands: pauses and hints in force (S17, S41). */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { Forecaster } from "../../../src/core/forecast/forecaster.js";
import { readHorizon } from "../../../src/core/forecast/horizon.js";
import { type ForecastStanding, NO_HINTS } from "../../../src/core/forecast/standing.js";
import { visitStarts } from "../../../src/core/forecast/starts.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { formatInstant, MINUTE_MS } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const NOW = clock("12:00:00");
const FREE: ForecastStanding = { asOfAt: NOW, pausedUntilAt: null, hints: NO_HINTS };

function clock(time: string): number {
  return at(`2026-03-28T${time}Z`);
}

function jobOf(more: object) {
  return requireOk(readJobDefinition({ identity: "a", command: ["x"], ...more }));
}

function starts(more: object, standing: Partial<ForecastStanding>, last: string | null, to = "13:00:00"): string[] {
  const found: string[] = [];
  const lastRunAt = last === null ? null : clock(last);
  const compiled = compileRule(jobOf(more));
  visitStarts(
    compiled,
    lastRunAt,
    NOW,
    clock(to),
    (_nominalAt, settledAt, chosenAt) => {
      if (chosenAt !== null && settledAt >= NOW && settledAt < clock(to)) {
        found.push(formatInstant(settledAt).slice(11, -1));
      }
    },
    { ...FREE, ...standing },
  );
  return found;
}

const HOURLY_QUARTERS = { schedule: "*/15 * * * *", timezone: "UTC" };
const paused = (until: string): Partial<ForecastStanding> => ({ pausedUntilAt: clock(until) });
const every = (minutes: number, until: string): Partial<ForecastStanding> => ({
  hints: { interval: { intervalMs: minutes * MINUTE_MS, expiresAt: clock(until) }, oneshot: null },
});
const once = (time: string): Partial<ForecastStanding> => ({
  hints: { interval: null, oneshot: { nextRunAt: clock(time), expiresAt: clock(time) + 60 * MINUTE_MS } },
});

describe("starts of a job as it stands", () => {
  const rows: readonly [string, object, Partial<ForecastStanding>, string | null, string[]][] = [
    ["nothing holds it", HOURLY_QUARTERS, {}, null, ["12:00:00", "12:15:00", "12:30:00", "12:45:00"]],
    [
      "a pause: the first start is at its end or after",
      HOURLY_QUARTERS,
      paused("12:30:00"),
      null,
      ["12:30:00", "12:45:00"],
    ],
    [
      "a pause that is over has no say",
      HOURLY_QUARTERS,
      paused("11:59:59"),
      null,
      ["12:00:00", "12:15:00", "12:30:00", "12:45:00"],
    ],
    [
      "a paused interval is due when the pause ends",
      { every: "20m" },
      paused("12:30:00"),
      "11:50:00",
      ["12:30:00", "12:50:00"],
    ],
    [
      "an interval hint until its end, then the schedule",
      HOURLY_QUARTERS,
      every(5, "12:20:00"),
      "11:58:00",
      ["12:03:00", "12:08:00", "12:13:00", "12:18:00", "12:30:00", "12:45:00"],
    ],
    [
      "an interval hint whose slot has long been due starts at once",
      HOURLY_QUARTERS,
      every(30, "12:20:00"),
      "08:00:00",
      ["12:00:00", "12:30:00", "12:45:00"],
    ],
    [
      "a hint that has expired has no say",
      HOURLY_QUARTERS,
      every(5, "11:59:00"),
      null,
      ["12:00:00", "12:15:00", "12:30:00", "12:45:00"],
    ],
    [
      "one run at an instant, then the schedule",
      HOURLY_QUARTERS,
      once("12:20:00"),
      null,
      ["12:20:00", "12:30:00", "12:45:00"],
    ],
    [
      "a hint in a pause waits for its end",
      HOURLY_QUARTERS,
      { ...every(10, "12:50:00"), ...paused("12:30:00") },
      "12:00:00",
      ["12:30:00", "12:40:00"],
    ],
    [
      "bounds hold for a hint, and for the period after it",
      { ...HOURLY_QUARTERS, min_interval: "10m" },
      every(1, "12:30:00"),
      "11:55:00",
      ["12:05:00", "12:15:00", "12:25:00", "12:35:00", "12:45:00"],
    ],
  ];
  test.each(rows)("%s", (_title, more, standing, last, expected) => {
    expect(starts(more, standing, last)).toEqual(expected);
  });

  test("the forecast counts whose state had a say", () => {
    const horizon = requireOk(readHorizon(NOW, clock("13:00:00"), MINUTE_MS));
    const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
    const known = { durationMs: null, lastRunAt: clock("11:50:00") };
    forecaster.add(jobOf(HOURLY_QUARTERS), { ...known, standing: { ...FREE, ...paused("12:30:00") } });
    forecaster.add(jobOf({ ...HOURLY_QUARTERS, identity: "b" }), {
      ...known,
      standing: { ...FREE, ...once("12:20:00") },
    });
    forecaster.add(jobOf({ every: "30m", identity: "c" }), { ...known, standing: FREE });
    const { state, chosen } = forecaster.result();
    expect([state, chosen.counts.reduce((sum, count) => sum + count, 0)]).toEqual([
      { paused: 1, hinted: 1, counted: 1 },
      2 + 3 + 2,
    ]);
    expect(new Forecaster(horizon, { by: "identity", hasDurations: false }).result().state).toBeNull();
  });
});
