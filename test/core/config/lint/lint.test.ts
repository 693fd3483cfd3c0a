import { describe, expect, test } from "vitest";
import { LINT_PERIODS_PER_JOB, lintWarnings, periodsAhead } from "../../../../src/core/config/lint/lint.js";
import { compileRule } from "../../../../src/core/decision/compile.js";
import { decide } from "../../../../src/core/decision/decide.js";
import type { CompiledRule } from "../../../../src/core/decision/model.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { DAY_MS, MINUTE_MS, parseInstant } from "../../../../src/core/time/instant.js";
import { requireOk } from "../../../support/results.js";

const AT = requireOk(parseInstant("2026-11-18T12:00:00Z"));

function job(raw: object, identity = "a"): CompiledRule {
  return compileRule(requireOk(readJobDefinition({ identity, schedule: "0 3 * * *", command: ["x"], ...raw })));
}

/** `kind: message` of every warning. */
function warningsOf(...jobs: readonly CompiledRule[]): readonly string[] {
  return lintWarnings(jobs, AT).map(({ kind, message }) => `${kind}: ${message}`);
}

describe("constraints that leave nothing of a window", () => {
  const rows: readonly [title: string, raw: object, warnings: readonly string[]][] = [
    ["no constraints", { window: { duration: "1h" } }, []],
    ["constraints that fit", { window: { duration: "1h" }, constraints: { only: "between=03:00-03:30" } }, []],
    [
      "never",
      { window: { duration: "1h" }, constraints: { only: "between=05:00-06:00" } },
      [
        "window-excluded: the constraints exclude the whole window in all 400 periods examined, the first at 2026-11-19T03:00:00Z: these will be unschedulable",
      ],
    ],
    [
      "in the one period that there is",
      { schedule: "0 3 5 1 *", window: { duration: "1h" }, constraints: { only: "between=05:00-06:00" } },
      [
        "window-excluded: the constraints exclude the whole window in the only period examined, at 2027-01-05T03:00:00Z: it will be unschedulable",
      ],
    ],
    [
      "on some days",
      { window: { duration: "1h" }, constraints: { avoid: "dow=SAT,SUN" } },
      [
        "window-excluded: the constraints exclude the whole window in 114 of 400 periods examined, the first at 2026-11-21T03:00:00Z: these will be unschedulable",
      ],
    ],
    [
      "on a date far ahead",
      { constraints: { avoid: "date=2027-12-22" } },
      [
        "window-excluded: the constraints exclude the whole window in 1 of 400 periods examined, the first at 2027-12-22T03:00:00Z: these will be unschedulable",
      ],
    ],
    ["on a date too far ahead", { constraints: { avoid: "date=2027-12-24" } }, []],
    ["on days of a calendar, which is what it is for", { constraints: { avoid: "calendar=x(2026-12-25)" } }, []],
    ["outside of a calendar", { constraints: { only: "calendar=x(2026-12-25,2027-12-01)" } }, []],
    [
      "on days of a calendar and on others",
      { constraints: { avoid: "calendar=x(2026-12-25,2027-12-21..2027-12-22);date=2027-12-22,2027-12-23" } },
      [
        "window-excluded: the constraints exclude the whole window in 2 of 400 periods examined, the first at 2027-12-22T03:00:00Z: these will be unschedulable",
      ],
    ],
    [
      "always, by a calendar",
      { constraints: { avoid: "calendar=x(2020-01-01..2040-01-01)" } },
      [
        "window-excluded: the constraints exclude the whole window in all 400 periods examined, the first at 2026-11-19T03:00:00Z: these will be unschedulable",
      ],
    ],
    ["by the clock of the job's zone", { timezone: "Asia/Tokyo", constraints: { only: "hours=3" } }, []],
    [
      "by the last minute of a window, which still counts",
      { schedule: "0 3 1 * *", window: { duration: "1h" }, constraints: { only: "between=04:00-04:00" } },
      [
        "often-unschedulable: the constraints leave so little of the window that 64 attempts may not find it; 12 of 13 periods examined, the first at 2026-12-01T03:00:00Z, will be unschedulable",
      ],
    ],
    [
      "a window without length that is excluded",
      { constraints: { avoid: "hours=3" } },
      [
        "window-excluded: the constraints exclude the whole window in all 400 periods examined, the first at 2026-11-19T03:00:00Z: these will be unschedulable",
      ],
    ],
  ];
  test.each(rows)("%s", (_title, raw, warnings) => {
    expect(warningsOf(job(raw))).toEqual(warnings);
  });

  test("what is said of single periods is what will be decided", () => {
    const narrow = job({ window: { duration: "1h" }, constraints: { only: "between=03:07-03:07" } });
    const periods = [...periodsAhead(narrow, AT, LINT_PERIODS_PER_JOB)];
    const failing = periods.filter((nominalAt) => decide(narrow, nominalAt).chosenAt === null);
    expect(failing.length).toBeGreaterThan(50);
    const [warning, ...others] = warningsOf(narrow);
    expect(others).toEqual([]);
    expect(warning).toMatch(/^often-unschedulable: /);
    expect(warning).toContain(`${failing.length} of ${periods.length} periods examined`);
  });

  test("a narrow window is worth a word even when every period examined finds its second", () => {
    const narrow = job({
      schedule: "0 3 1 1 *",
      window: { duration: "1h" },
      constraints: { only: "between=03:07-03:08" },
    });
    expect(warningsOf(narrow)).toEqual([
      "often-unschedulable: the constraints leave so little of the window that 64 attempts may not find it",
    ]);
  });
});

describe("which periods are examined", () => {
  test("all of the next 400 days when they are not too many", () => {
    const periods = [...periodsAhead(job({}), AT, 1000)];
    expect(periods).toHaveLength(400);
    expect(periods[0]).toBe(AT + 15 * 60 * MINUTE_MS);
  });

  test("of more, the next ones and a sample of the rest, each once, in order, at all hours", () => {
    const minutely = job({ schedule: "* * * * *" });
    // Without an irrational stride 400 samples of 400 days would all fall into the same part of the day.
    const periods = [...periodsAhead(minutely, AT, 800)];
    expect(periods.slice(0, 400)).toEqual(Array.from({ length: 400 }, (_, i) => AT + (i + 1) * MINUTE_MS));
    expect(periods.length).toBeGreaterThan(700);
    expect(periods.length).toBeLessThanOrEqual(800);
    expect(periods.every((nominalAt, i) => i === 0 || nominalAt > (periods[i - 1] ?? Infinity))).toBe(true);
    expect(Math.max(...periods)).toBeGreaterThan(AT + 390 * DAY_MS);
    expect(Math.max(...periods)).toBeLessThanOrEqual(AT + 400 * DAY_MS);
    const hours = new Set(periods.slice(400).map((nominalAt) => Math.floor((nominalAt % DAY_MS) / (60 * MINUTE_MS))));
    expect(hours.size).toBe(24);
  });

  test("a minutely job whose every window is excluded costs a bounded number of looks", () => {
    let looks = 0;
    const minutely = job({
      schedule: "* * * * *",
      window: { duration: "1m" },
      constraints: { only: "date=2001-01-01" },
    });
    const counting: CompiledRule = {
      ...minutely,
      accepts: (at) => {
        looks++;
        return minutely.accepts?.(at) ?? true;
      },
    };
    expect(lintWarnings([counting], AT).map(({ kind }) => kind)).toEqual(["window-excluded"]);
    expect(looks).toBeLessThanOrEqual(LINT_PERIODS_PER_JOB * 64 + 500_000);
  });
});

describe("hot spots", () => {
  function jobs(count: number, raw: object): readonly CompiledRule[] {
    return Array.from({ length: count }, (_, i) => job(raw, `j${i}`));
  }

  test("more than twenty jobs without a window on one second", () => {
    expect(lintWarnings(jobs(21, { schedule: "0 3 1 * *" }), AT)).toEqual([
      {
        kind: "hot-spot",
        identities: ["j0", "j1", "j2", "j3", "j4"],
        message: "21 jobs without a window are due at 2026-12-01T03:00:00Z",
        hint: "give them a window: each job gets its own second in it",
      },
    ]);
  });

  test("schedules and zones that meet are added up, and the worst second is named", () => {
    const hourly = jobs(15, { schedule: "@hourly" });
    const tokyo = jobs(10, { schedule: "0 9 * * *", timezone: "Asia/Tokyo" });
    expect(warningsOf(...hourly, ...tokyo)).toEqual([
      "hot-spot: 25 jobs without a window are due at 2026-11-19T00:00:00Z, and more than 20 at 34 other times",
    ]);
  });

  test.each([
    ["twenty are not many", jobs(20, { schedule: "0 3 1 * *" })],
    [
      "twenty are not many, whatever else there is",
      [...jobs(20, { schedule: "0 3 1 * *" }), ...jobs(5, { schedule: "0 4 1 * *" })],
    ],
    ["a window spreads them", jobs(100, { schedule: "0 3 1 * *", window: { duration: "1m" } })],
    ["beyond the horizon", jobs(100, { schedule: "0 3 1 6 *" })],
    ["no jobs", []],
  ])("%s", (_title, all) => {
    expect(lintWarnings(all, AT)).toEqual([]);
  });
});

describe("calendars whose dates are over", () => {
  const used = (avoid: string, identity = "a"): CompiledRule =>
    job({ window: { duration: "1h" }, constraints: { avoid } }, identity);
  const overIn = (...jobs: readonly CompiledRule[]): readonly string[] =>
    lintWarnings(jobs, AT).flatMap(({ kind, message }) => (kind === "calendar-over" ? [message] : []));

  test.each([
    { name: "a day tomorrow", avoid: "calendar=x(2026-11-19)", warnings: 0 },
    { name: "a day at the end of the time that is looked at", avoid: "calendar=x(2027-12-23)", warnings: 0 },
    { name: "a range around it all", avoid: "calendar=x(2020-01-01..2040-01-01)", warnings: 0 },
    { name: "days before and long after", avoid: "calendar=x(2026-11-01,2028-01-01)", warnings: 1 },
    { name: "days of the past", avoid: "calendar=x(2020-01-01)", warnings: 1 },
    { name: "dates without a name", avoid: "date=2020-01-01", warnings: 0 },
  ])("$name: $warnings", ({ avoid, warnings }) => {
    expect(overIn(used(avoid))).toHaveLength(warnings);
  });

  test("one warning a calendar, with its last day and its jobs", () => {
    const jobs = ["a", "b"].map((identity) =>
      used("calendar=x(2020-01-01..2020-01-03);calendar=y(2026-12-01)", identity),
    );
    const over = lintWarnings(jobs, AT).filter(({ kind }) => kind === "calendar-over");
    expect(over).toMatchObject([{ identities: ["a", "b"] }]);
    expect(over[0]?.message).toBe(
      "the calendar x has no date in the next 400 days, its last one is 2020-01-03; 2 jobs use it",
    );
  });
});
