/** Jobs whose starts depend on the ones before: intervals, and cron schedules with bounds on their pace. */
import { describe, expect, test } from "vitest";
import { Forecaster } from "../../../src/core/forecast/forecaster.js";
import { readHorizon } from "../../../src/core/forecast/horizon.js";
import { forecastStarts } from "../../../src/core/forecast/starts.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const DAY = "2026-03-28";

function clock(time: string): number {
  return at(`${DAY}T${time}Z`);
}

function jobOf(more: object) {
  return requireOk(readJobDefinition({ identity: "a", command: ["x"], ...more }));
}

/** `period start` of each, without the day. */
function starts(more: object, from: string, to: string, last: string | null = null): string[] {
  const lastRunAt = last === null ? null : clock(last);
  const [job] = [...forecastStarts([jobOf(more)], clock(from), clock(to), () => lastRunAt)];
  return [...(job?.starts ?? [])].map(({ periodId, startAt }) => {
    const [period, start] = [periodId.slice(11, -1), formatInstant(startAt).slice(11, -1)];
    return period === start ? start : `${period} ${start}`;
  });
}

describe("an interval", () => {
  const rows: readonly [title: string, more: object, from: string, to: string, last: string | null, found: string[]][] =
    [
      [
        "counts from the horizon's start when nobody knows the last run",
        { every: "20m" },
        "12:00:00",
        "13:00:00",
        null,
        ["12:00:00", "12:20:00", "12:40:00"],
      ],
      [
        "counts from the last run, whole intervals on",
        { every: "20m" },
        "12:00:00",
        "13:00:00",
        "11:09:30",
        ["12:09:30", "12:29:30", "12:49:30"],
      ],
      ["a start on the edge is within", { every: "30m" }, "12:00:00", "12:30:00", "11:30:00", ["12:00:00"]],
      ["a last run in the horizon", { every: "30m" }, "12:00:00", "13:00:00", "12:10:00", ["12:40:00"]],
      [
        "to the millisecond",
        { every: "1500ms" },
        "12:00:00",
        "12:00:04",
        null,
        ["12:00:00", "12:00:01.500", "12:00:03"],
      ],
      [
        "min makes it longer",
        { every: "10m", min_interval: "25m" },
        "12:00:00",
        "13:00:00",
        "11:50:00",
        ["12:15:00", "12:40:00"],
      ],
      [
        "max makes it shorter",
        { every: "4h", max_interval: "25m" },
        "12:00:00",
        "13:00:00",
        "11:50:00",
        ["12:15:00", "12:40:00"],
      ],
      ["S17: suspended", { every: "1m", policy: { suspend: true } }, "12:00:00", "13:00:00", null, []],
    ];
  test.each(rows)("%s", (_title, more, from, to, last, found) => {
    expect(starts(more, from, to, last)).toEqual(found);
  });

  test("is counted exactly over a long horizon", () => {
    const horizon = requireOk(readHorizon(clock("00:00:00"), clock("00:00:00") + 30 * 86_400_000, 3_600_000));
    const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: true });
    forecaster.add(jobOf({ every: "90s" }), { durationMs: 30_000, lastRunAt: clock("00:00:00") - 60_000 });
    const { chosen, nominal, overlap } = forecaster.result();
    expect([chosen.total, nominal.total]).toEqual([28_800, 28_800]);
    expect(new Set(chosen.counts)).toEqual(new Set([40]));
    expect(overlap?.chosen.peak.runs).toBe(1);
  });
});

describe("a cron schedule with bounds", () => {
  const rows: readonly [title: string, more: object, from: string, to: string, last: string | null, found: string[]][] =
    [
      [
        "max asks for runs in between, and the schedule's own stay",
        { schedule: "0 * * * *", max_interval: "25m" },
        "12:00:00",
        "14:00:00",
        "11:00:00",
        ["12:00:00", "12:25:00", "12:50:00", "13:00:00", "13:25:00", "13:50:00"],
      ],
      [
        "when nobody knows the last run, it is that of the period before",
        { schedule: "0 * * * *", max_interval: "40m" },
        "12:10:00",
        "13:10:00",
        null,
        ["12:40:00", "13:00:00"],
      ],
      [
        "min holds back what comes too soon",
        { schedule: "*/10 * * * *", min_interval: "15m" },
        "12:00:00",
        "13:00:00",
        "12:00:00",
        ["12:10:00 12:15:00", "12:20:00 12:30:00", "12:40:00 12:45:00"],
      ],
      [
        "bounds that never matter",
        { schedule: "*/20 * * * *", min_interval: "1m", max_interval: "2h" },
        "12:00:00",
        "13:00:00",
        null,
        ["12:00:00", "12:20:00", "12:40:00"],
      ],
    ];
  test.each(rows)("%s", (_title, more, from, to, last, found) => {
    expect(starts(more, from, to, last)).toEqual(found);
  });

  test("windows are kept", () => {
    const windowed = { schedule: "0 */6 * * *", window: { mode: "around", duration: "3h" }, seed: { salt: "x" } };
    const found = starts(windowed, "00:00:00", "23:00:00");
    expect(found).toHaveLength(4);
    expect(starts({ ...windowed, min_interval: "1m", max_interval: "24h" }, "00:00:00", "23:00:00")).toEqual(found);
  });

  test("S15: what finds no second is counted as before", () => {
    const horizon = requireOk(readHorizon(clock("00:00:00"), clock("12:00:00"), 3_600_000));
    const unschedulable = (more: object): number => {
      const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
      forecaster.add(jobOf({ schedule: "0 * * * *", constraints: { only: "hours=0-3" }, ...more }));
      return forecaster.result().unschedulable;
    };
    expect(unschedulable({ min_interval: "1s" })).toBe(unschedulable({}));
    expect(unschedulable({})).toBe(8);
  });
});
