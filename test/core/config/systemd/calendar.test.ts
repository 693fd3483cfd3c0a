import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCalendarEvent } from "../../../../src/core/config/systemd/calendar.js";
import { scheduleOfEvent } from "../../../../src/core/config/systemd/calendar-cron.js";
import { scheduleOf } from "../../../../src/core/decision/compile.js";
import { FUZZ } from "../../../support/fuzz.js";
import { requireErr, requireOk } from "../../../support/results.js";

/** What of an event a job gets: schedule or interval, and clauses. */
function said(text: string): string {
  const { schedule, everyMs, only } = requireOk(scheduleOfEvent(requireOk(parseCalendarEvent(text))));
  return [schedule ?? `every ${everyMs} ms`, ...(only === null ? [] : [only])].join(" | ");
}

const EVENTS: readonly (readonly [string, string])[] = [
  ["minutely", "* * * * *"],
  ["hourly", "0 * * * *"],
  ["daily", "0 0 * * *"],
  ["Weekly", "0 0 * * MON"],
  ["monthly", "0 0 1 * *"],
  ["quarterly", "0 0 1 */3 *"],
  ["semiannually", "0 0 1 1,7 *"],
  ["annually", "0 0 1 1 *"],
  ["*-*-* 6:00", "0 6 * * *"],
  ["*-*-* 6,18:00", "0 6,18 * * *"],
  ["Sun *-*-* 03:10:00", "10 3 * * SUN"],
  ["Mon..Fri 9:00", "0 9 * * MON-FRI"],
  ["Mon-Fri 9:00", "0 9 * * MON-FRI"],
  ["Sat,Sun 22:30", "30 22 * * SAT,SUN"],
  ["Monday,Wednesday..Fri", "0 0 * * MON,WED-FRI"],
  ["Mon..Sun 4:00", "0 4 * * *"],
  ["*:0/15", "*/15 * * * *"],
  ["*:05/10", "5-55/10 * * * *"],
  ["*-*-* 00/2:00:00", "0 */2 * * *"],
  ["8..18/2:00", "0 8-18/2 * * *"],
  ["5/3:00", "0 5-23/3 * * *"],
  ["*-*-1,15 3:00", "0 3 1,15 * *"],
  ["*-*-01/7", "0 0 */7 * *"],
  ["*-1,7-1", "0 0 1 1,7 *"],
  ["03-05", "0 0 5 3 *"],
  ["*-02-29", "0 0 29 2 *"],
  ["*-*-1..7,15 05:00", "0 5 1-7,15 * *"],
  ["Mon *-*-1..7", "0 0 * * MON#1"],
  ["Sat *-*-8..14 02:00", "0 2 * * SAT#2"],
  ["Mon,Thu *-*-1..7,15..21 7:45", "45 7 * * MON#1,MON#3,THU#1,THU#3"],
  ["Fri *-*-29..31", "0 0 * * FRI#5"],
  ["*-*~01 23:30", "30 23 L * *"],
  ["*-*~1", "0 0 L * *"],
  ["Mon *-*~07/1", "0 0 * * MON#L"],
  ["Fri *-05~1..7 17:00", "0 17 * 5 FRI#L"],
  ["*-04,06~03", "0 0 28 4,6 *"],
  ["Fri *-*-13 13:13", "13 13 13 * * | dow=FRI"],
  ["*-*-* 02:30 Europe/Berlin", "30 2 * * *"],
  ["*:00/20 America/New_York", "*/20 * * * *"],
];

/** A date with its year, and when that is. */
const ONCE_EVENTS: readonly (readonly [event: string, schedule: string])[] = [
  ["2028-12-01 03:00", "@at 2028-12-01T03:00"],
  ["2028-12-01 03:00:30 UTC", "@at 2028-12-01T03:00:30"],
  ["2028-02-29", "@at 2028-02-29T00:00"],
  ["Fri 28-12-1 5:7", "@at 2028-12-01T05:07"],
  ["2028-07-01 12:00 America/New_York", "@at 2028-07-01T12:00"],
];

describe("OnCalendar: what systemd.time(7) names, as a schedule", () => {
  test.each(ONCE_EVENTS)("%s is %s", (event, schedule) => {
    expect(said(event)).toBe(schedule);
  });

  test.each(EVENTS)("%s is %s", (event, schedule) => {
    expect(said(event)).toBe(schedule);
  });

  test.each([
    ["*:*:0/10", "every 10000 ms"],
    ["*:*:*", "every 1000 ms"],
  ])("%s is %s, an interval", (event, interval) => {
    expect(said(event)).toBe(interval);
  });

  test("a second of its own is told of: schedules name minutes", () => {
    const { schedule, notes } = requireOk(scheduleOfEvent(requireOk(parseCalendarEvent("12:05:30"))));
    expect([schedule, notes]).toEqual(["5 12 * * *", ["schedules name minutes: it is due at second 0, not 30"]]);
  });

  test("a zone at the end is that of the event", () => {
    const zones = ["daily UTC", "daily Europe/Berlin", "Mon", "daily"].map(
      (text) => requireOk(parseCalendarEvent(text)).timezone,
    );
    expect(zones).toEqual(["UTC", "Europe/Berlin", null, null]);
  });
});

describe("OnCalendar: what no schedule says", () => {
  test.each([
    ["2026-*-01 03:00", "with a year it has to be one date and one time"],
    ["2026,2027-12-01 03:00", "with a year it has to be one date and one time"],
    ["2026-12-01 3,15:00", "with a year it has to be one date and one time"],
    ["2026-12~01 03:00", "with a year it has to be one date and one time"],
    ["2026-12-01 03:00:*", "with a year it has to be one date and one time"],
    ["2026-02-29", "there is no date 2026-02-29"],
    ["Mon 2026-12-01", "2026-12-01 is none of its weekdays, so that it never comes"],
    ["*-*~03", "these days before the end of a month have no schedule"],
    ["Mon *-*~02", "these days before the end of a month have no schedule"],
    ["*:*:0,20", "schedules name minutes, and this names several seconds of one"],
    ["12:00:00/10", "schedules name minutes, and this names several seconds of one"],
  ])("%s: %s", (event, message) => {
    expect(requireErr(scheduleOfEvent(requireOk(parseCalendarEvent(event)))).message).toBe(message);
  });
});

const WRONG: readonly string[] = [
  "*:*/5",
  "Sat..Tue 03:00",
  "0/15",
  "22..6:00",
  "10",
  "**:00",
  "",
  "25:00",
  "*-13-01",
  "Foo",
  "daily Nowhere/There",
  "1:2:3:4",
  "*-*-* 1:00 2:00",
  "*-*-01/0",
];

describe("OnCalendar: what is no calendar event", () => {
  test.each(WRONG)("%j is refused", (event) => {
    expect(requireErr(parseCalendarEvent(event)).hint).toContain("systemd-analyze calendar");
  });

  test("any text is read or refused, never thrown at the caller", () => {
    const part = fc.constantFrom(
      ..."0123456789*,./-~: ".split(""),
      "Mon",
      "..",
      "/2",
      "UTC",
      "daily",
      "Europe/Berlin",
      "*-*-",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const read = parseCalendarEvent(parts.join(""));
        if (read.ok) scheduleOfEvent(read.value);
      }),
      { ...FUZZ, numRuns: 3000 },
    );
  });
});

const TIMES = 30;
/** systemd 252 passes over 1 January after 29 December, where the step begins anew. */
const WRONG_THERE = "*-*-01/7";
const BASES = ["2026-03-20 12:00:00 UTC", "2026-10-20 12:00:00 UTC", "2027-12-24 00:00:00 UTC"];

/** Blocks of `Original form:`, one for each event, with the times in UTC. */
function analyzed(events: readonly string[], base: string): readonly (readonly number[])[] | null {
  const args = ["calendar", `--base-time=${base}`, `--iterations=${TIMES}`, ...events];
  const { status, stdout } = spawnSync("systemd-analyze", args, {
    encoding: "utf8",
    env: { ...process.env, TZ: "UTC" },
  });
  if (status !== 0) return null;
  const blocks = stdout.split(/^\s*(?:Original form|Normalized form):.*\n\s*(?=Normalized|Next)/m);
  const texts = stdout.split(/\n\n/).length === events.length ? stdout.split(/\n\n/) : blocks.slice(1);
  return texts.map((text) =>
    [...text.matchAll(/(?:Next elapse|Iter\. #\d+): \w+ (\d+-\d+-\d+) (\d+:\d+:\d+) UTC/g)].map(([, date, time]) =>
      Date.parse(`${date}T${time}Z`),
    ),
  );
}

const canAnalyze = analyzed(["daily"], BASES[0] ?? "") !== null;
const why = canAnalyze ? "" : " (skipped: no systemd-analyze that takes --base-time here)";

describe.skipIf(!canAnalyze)(`OnCalendar: the same times as systemd-analyze${why}`, () => {
  test.each(ONCE_EVENTS)("once: %s", (event) => {
    const read = requireOk(parseCalendarEvent(event));
    const schedule = requireOk(scheduleOfEvent(read)).schedule ?? "";
    const dst = { gap: "skip", overlap: "first" } as const;
    const compiled = requireOk(scheduleOf({ schedule, timezone: read.timezone ?? "UTC", dst }));
    const base = BASES[0] ?? "";
    expect(analyzed([event], base)).toEqual([[compiled.next(Date.parse(base))]]);
  });

  test.each(BASES)("from %s", (base) => {
    const names = EVENTS.map(([event]) => event).filter((event) => event !== WRONG_THERE);
    const theirs = analyzed(names, base) ?? [];
    expect(theirs.length).toBe(names.length);
    for (const [index, event] of names.entries()) {
      const { schedule, only } = requireOk(scheduleOfEvent(requireOk(parseCalendarEvent(event))));
      const timezone = requireOk(parseCalendarEvent(event)).timezone ?? "UTC";
      const compiled = requireOk(
        scheduleOf({ schedule: schedule ?? "", timezone, dst: { gap: "skip", overlap: "first" } }),
      );
      const ours: number[] = [];
      for (let at = compiled.next(Date.parse(base)); at !== null && ours.length < TIMES; at = compiled.next(at)) {
        if (only === null || new Date(at).getUTCDay() === 5) ours.push(at);
      }
      const found = theirs[index] ?? [];
      expect([event, ours.slice(0, found.length)]).toEqual([event, found]);
      expect(found.length).toBeGreaterThan(1);
    }
  });

  test.each(WRONG)("%j is none for systemd either", (event) => {
    expect(analyzed([event], BASES[0] ?? "")).toBeNull();
  });
});
