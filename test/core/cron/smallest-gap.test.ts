import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CronFields, isImpossible } from "../../../src/core/cron/fields.js";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { compileSchedule } from "../../../src/core/cron/schedule.js";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { cronExpression } from "../../support/cron-arbitraries.js";
import { FUZZ } from "../../support/fuzz.js";
import { requireOk } from "../../support/results.js";
import { zone } from "../../support/zones.js";

function gapOf(fields: CronFields): number {
  return compileSchedule(fields, zone("UTC")).smallestGapMs;
}

function isNamed(fields: CronFields, date: Date): boolean {
  if (!fields.months.includes(date.getUTCMonth() + 1)) return false;
  const [day, weekday] = [date.getUTCDate(), date.getUTCDay()];
  const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const byDay = fields.days.includes(day) || (fields.lastDay === true && day === length);
  const isNth = ({ nth }: { nth: number | "last" }) => (nth === "last" ? day + 7 > length : Math.ceil(day / 7) === nth);
  const byNth = fields.nthWeekdays?.some((named) => named.weekday === weekday && isNth(named)) === true;
  const byWeekday = fields.weekdays.includes(weekday) || byNth;
  return !fields.dayIsStar && !fields.weekdayIsStar ? byDay || byWeekday : byDay && byWeekday;
}

/** Every day of two cycles of 28 years, by the calendar of the language; then the minutes of one and of two days. */
function bruteForceGap(fields: CronFields): number {
  const days: number[] = [];
  for (let at = Date.UTC(2001, 0, 1); at < Date.UTC(2057, 0, 1); at += DAY_MS) {
    if (isNamed(fields, new Date(at))) days.push(at);
  }
  const dayGap = Math.min(...days.slice(1).map((at, i) => at - (days[i] ?? at)));
  const minutes = fields.hours.flatMap((hour) => fields.minutes.map((minute) => hour * HOUR_MS + minute * MINUTE_MS));
  const twice = [...minutes, ...minutes.map((ms) => ms + dayGap)];
  return Math.min(...twice.slice(1).map((ms, i) => ms - (twice[i] ?? ms)));
}

describe("S11: the smallest gap between nominal times on the wall clock", () => {
  test.each([
    { cron: "* * * * *", gap: MINUTE_MS },
    { cron: "*/7 * * * *", gap: 4 * MINUTE_MS },
    { cron: "0 * * * *", gap: HOUR_MS },
    { cron: "0,50 * * * *", gap: 10 * MINUTE_MS },
    { cron: "0 0,23 * * *", gap: HOUR_MS },
    { cron: "30 1,22 * * *", gap: 3 * HOUR_MS },
    { cron: "0 0 * * *", gap: DAY_MS },
    { cron: "0 0,23 */2 * *", gap: HOUR_MS },
    { cron: "0 6,18 1,15 * *", gap: 12 * HOUR_MS },
    { cron: "0 0 * * MON", gap: 7 * DAY_MS },
    { cron: "0 0 * * MON,THU", gap: 3 * DAY_MS },
    { cron: "0 0 1 * *", gap: 28 * DAY_MS },
    { cron: "0 0 31 * *", gap: 31 * DAY_MS },
    { cron: "0 0 30 * *", gap: 30 * DAY_MS },
    { cron: "0 0 28 2 *", gap: 365 * DAY_MS },
    { cron: "0 0 29 2 *", gap: 1461 * DAY_MS },
    { cron: "0 0 1 1 *", gap: 365 * DAY_MS },
    { cron: "0 0 31 12 MON", gap: DAY_MS },
    { cron: "0 0 1 1 MON", gap: DAY_MS },
    { cron: "0 12 31 1,3 *", gap: 59 * DAY_MS },
    { cron: "0 0 L * *", gap: 28 * DAY_MS },
    { cron: "0 0 28,L 2 *", gap: DAY_MS },
    { cron: "0 0 1,L * *", gap: DAY_MS },
    { cron: "0 0 L 2 *", gap: 365 * DAY_MS },
    { cron: "0 0 * * MON#2", gap: 28 * DAY_MS },
    { cron: "0 0 * * MON#L", gap: 28 * DAY_MS },
    { cron: "0 0 * * MON#5", gap: 63 * DAY_MS },
    { cron: "0 0 * * MON#4,MON#L", gap: 7 * DAY_MS },
    { cron: "0 0 * * MON#1,TUE#1", gap: DAY_MS },
    // A fifth Monday of February comes once in 28 years, so that its gap is the whole cycle.
    { cron: "0 0 * 2 MON#5", gap: 28 * 365.25 * DAY_MS },
    { cron: "0 0 L * MON#L", gap: DAY_MS },
  ])("$cron: $gap ms", ({ cron, gap }) => {
    expect(gapOf(requireOk(parseKronCron(cron)))).toBe(gap);
  });

  test("does not depend on the zone, and stays the same when asked again", () => {
    const fields = requireOk(parseKronCron("30 2 * * SUN"));
    const compiled = compileSchedule(fields, zone("Europe/Berlin"), { gap: "next", overlap: "first" });
    expect([compiled.smallestGapMs, compiled.smallestGapMs]).toEqual([7 * DAY_MS, 7 * DAY_MS]);
  });

  test("is what counting days and minutes finds", () => {
    fc.assert(
      fc.property(cronExpression, (expression) => {
        const fields = parseKronCron(expression);
        fc.pre(fields.ok);
        if (!fields.ok || isImpossible(fields.value)) return;
        expect([expression, gapOf(fields.value)]).toEqual([expression, bruteForceGap(fields.value)]);
      }),
      { ...FUZZ, numRuns: 150 },
    );
  });
});
