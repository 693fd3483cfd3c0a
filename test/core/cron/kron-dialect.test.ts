import { describe, expect, test } from "vitest";
import type { CronFields } from "../../../src/core/cron/fields.js";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { requireErr, requireOk } from "../../support/results.js";

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
}

const EVERY = {
  minutes: range(0, 59),
  hours: range(0, 23),
  days: range(1, 31),
  months: range(1, 12),
  weekdays: range(0, 6),
  dayIsStar: true,
  weekdayIsStar: true,
};

const MIDNIGHT = { ...EVERY, minutes: [0], hours: [0] };

describe("kron dialect: what is read", () => {
  test.each<{ text: string; fields: Omit<CronFields, "text"> }>([
    { text: "* * * * *", fields: EVERY },
    { text: "0 * * * *", fields: { ...EVERY, minutes: [0] } },
    { text: "*/15 * * * *", fields: { ...EVERY, minutes: [0, 15, 30, 45] } },
    { text: "*/7 * * * *", fields: { ...EVERY, minutes: range(0, 56, 7) } },
    { text: "*/59 * * * *", fields: { ...EVERY, minutes: [0, 59] } },
    { text: "*/1 * * * *", fields: EVERY },
    { text: "5-20/5 * * * *", fields: { ...EVERY, minutes: [5, 10, 15, 20] } },
    {
      text: "00 09 01 01 00",
      fields: {
        ...EVERY,
        minutes: [0],
        hours: [9],
        days: [1],
        months: [1],
        weekdays: [0],
        dayIsStar: false,
        weekdayIsStar: false,
      },
    },
    { text: "5,1,3 * * * *", fields: { ...EVERY, minutes: [1, 3, 5] } },
    { text: "1,1,1-3,2 * * * *", fields: { ...EVERY, minutes: [1, 2, 3] } },
    { text: "0,30-59/10,*/20 * * * *", fields: { ...EVERY, minutes: [0, 20, 30, 40, 50] } },
    { text: "5-5 * * * *", fields: { ...EVERY, minutes: [5] } },
    { text: "0 0 1-31 * *", fields: { ...MIDNIGHT, dayIsStar: false } },
    { text: "0 0 */2 * *", fields: { ...MIDNIGHT, days: range(1, 31, 2), dayIsStar: false } },
    { text: "0 0 *,5 * *", fields: { ...MIDNIGHT, dayIsStar: false } },
    { text: "0 0 29 2 *", fields: { ...MIDNIGHT, days: [29], months: [2], dayIsStar: false } },
    {
      text: "0 0 31 2 1",
      fields: { ...MIDNIGHT, days: [31], months: [2], weekdays: [1], dayIsStar: false, weekdayIsStar: false },
    },
    { text: "0 0 * jan,Jul,DEC *", fields: { ...MIDNIGHT, months: [1, 7, 12] } },
    { text: "0 0 * MAR-5 *", fields: { ...MIDNIGHT, months: [3, 4, 5] } },
    { text: "0 0 * FEB-NOV/3 *", fields: { ...MIDNIGHT, months: [2, 5, 8, 11] } },
    { text: "0 0 * * MON-FRI", fields: { ...MIDNIGHT, weekdays: range(1, 5), weekdayIsStar: false } },
    { text: "0 0 * * sat-sun", fields: { ...MIDNIGHT, weekdays: [0, 6], weekdayIsStar: false } },
    { text: "0 0 * * 6-SUN", fields: { ...MIDNIGHT, weekdays: [0, 6], weekdayIsStar: false } },
    { text: "0 0 * * MON-SUN", fields: { ...MIDNIGHT, weekdayIsStar: false } },
    { text: "0 0 * * TUE-SUN/2", fields: { ...MIDNIGHT, weekdays: [2, 4, 6], weekdayIsStar: false } },
    { text: "0 0 * * WED-SUN/2", fields: { ...MIDNIGHT, weekdays: [0, 3, 5], weekdayIsStar: false } },
    { text: "0 0 * * SUN-TUE", fields: { ...MIDNIGHT, weekdays: [0, 1, 2], weekdayIsStar: false } },
    { text: "0 0 * * SUN-SUN", fields: { ...MIDNIGHT, weekdays: [0], weekdayIsStar: false } },
    { text: "0 0 * * 7", fields: { ...MIDNIGHT, weekdays: [0], weekdayIsStar: false } },
    { text: "0 0 * * 0,7", fields: { ...MIDNIGHT, weekdays: [0], weekdayIsStar: false } },
    { text: "0 0 * * 5-7", fields: { ...MIDNIGHT, weekdays: [0, 5, 6], weekdayIsStar: false } },
    { text: "0 0 * * 0-7", fields: { ...MIDNIGHT, weekdayIsStar: false } },
    { text: "0 0 * * */2", fields: { ...MIDNIGHT, weekdays: [0, 2, 4, 6], weekdayIsStar: false } },
    { text: "0 0 * * */3", fields: { ...MIDNIGHT, weekdays: [0, 3, 6], weekdayIsStar: false } },
    { text: "0 0 L * *", fields: { ...MIDNIGHT, days: [], lastDay: true, dayIsStar: false } },
    { text: "0 0 15,l,1 * *", fields: { ...MIDNIGHT, days: [1, 15], lastDay: true, dayIsStar: false } },
    { text: "0 0 30,L 2 *", fields: { ...MIDNIGHT, days: [30], months: [2], lastDay: true, dayIsStar: false } },
    {
      text: "0 0 * * mon#2",
      fields: { ...MIDNIGHT, weekdays: [], nthWeekdays: [{ weekday: 1, nth: 2 }], weekdayIsStar: false },
    },
    {
      text: "0 0 * * 7#1,FRI#L,WED,0#1",
      fields: {
        ...MIDNIGHT,
        weekdays: [3],
        nthWeekdays: [
          { weekday: 0, nth: 1 },
          { weekday: 5, nth: "last" },
        ],
        weekdayIsStar: false,
      },
    },
    {
      text: "0 0 L * SUN#5",
      fields: {
        ...MIDNIGHT,
        days: [],
        lastDay: true,
        weekdays: [],
        nthWeekdays: [{ weekday: 0, nth: 5 }],
        dayIsStar: false,
        weekdayIsStar: false,
      },
    },
    { text: "@hourly", fields: { ...EVERY, minutes: [0] } },
    { text: "@daily", fields: MIDNIGHT },
    { text: "@Midnight", fields: MIDNIGHT },
    { text: "@WEEKLY", fields: { ...MIDNIGHT, weekdays: [0], weekdayIsStar: false } },
    { text: "@monthly", fields: { ...MIDNIGHT, days: [1], dayIsStar: false } },
    { text: "@yearly", fields: { ...MIDNIGHT, days: [1], months: [1], dayIsStar: false } },
    { text: "@annually", fields: { ...MIDNIGHT, days: [1], months: [1], dayIsStar: false } },
  ])("$text", ({ text, fields }) => {
    expect(requireOk(parseKronCron(text))).toEqual({ ...fields, text });
    expect(requireOk(parseKronCron(text))).toEqual({ ...fields, text });
  });

  test("keeps the text as written, without outer blanks", () => {
    expect(requireOk(parseKronCron(" \t0\t 0  * * MON \t")).text).toBe("0\t 0  * * MON");
    expect(requireOk(parseKronCron("  @Daily ")).text).toBe("@Daily");
  });

  test("reads an expression of 256 characters, and none longer", () => {
    const minutes = `${"0,".repeat(123)}10`;
    expect(requireOk(parseKronCron(`${minutes} * * * *`)).minutes).toEqual([0, 10]);
    expect(`${minutes} * * * *`.length).toBe(256);
    expect(requireErr(parseKronCron(`${minutes}  * * * *`)).code).toBe("limit-exceeded");
    expect(requireErr(parseKronCron(" ".repeat(1_000_000))).code).toBe("limit-exceeded");
  });
});

describe("kron dialect: what is refused, where, and what to write instead", () => {
  test.each([
    // Whole expressions.
    { text: "", code: "cron-syntax", at: "", hint: "write five fields: minute hour day month weekday, like 0 3 * * *" },
    {
      text: " \t ",
      code: "cron-syntax",
      at: " \t ",
      hint: "write five fields: minute hour day month weekday, like 0 3 * * *",
    },
    {
      text: "* * * *",
      code: "cron-syntax",
      at: "* * * *",
      hint: "write five fields: minute hour day month weekday, like 0 3 * * *; weekday missing",
    },
    {
      text: "5 4",
      code: "cron-syntax",
      at: "5 4",
      hint: "write five fields: minute hour day month weekday, like 0 3 * * *; day, month, weekday missing",
    },
    {
      text: "0 0 3 * * *",
      code: "cron-syntax",
      at: "0 0 3 * * *",
      hint: "write five fields: seconds and years are not supported, the window chooses the second",
    },
    { text: "0 3 * * *\n", code: "cron-syntax", at: "*\n", hint: "remove line breaks and unusual blanks" },
    { text: "0 30 2 30 2", code: "cron-range", at: "30", hint: "write 0 to 23" },
    {
      text: "@reboot",
      code: "cron-syntax",
      at: "@reboot",
      hint: "write steps, like */5 * * * *, or let the job run with krond",
    },
    { text: "@every 5m", code: "cron-syntax", at: "@every 5m", hint: "write steps, like */5 * * * *" },
    {
      text: "@fortnightly",
      code: "cron-syntax",
      at: "@fortnightly",
      hint: "write one of @hourly @daily @midnight @weekly @monthly @yearly @annually",
    },
    { text: "@daily *", code: "cron-syntax", at: "@daily *", hint: "write @daily only" },
    {
      text: "@constructor",
      code: "cron-syntax",
      at: "@constructor",
      hint: "write one of @hourly @daily @midnight @weekly @monthly @yearly @annually",
    },
    // Steps.
    { text: "5/15 * * * *", code: "cron-syntax", at: "5/15", hint: "write 5-59/15" },
    { text: "0 0/2 * * *", code: "cron-syntax", at: "0/2", hint: "write 0-23/2" },
    { text: "0 0 * * 1/2", code: "cron-syntax", at: "1/2", hint: "write 1-6/2" },
    { text: "0 0 * * mon/2", code: "cron-syntax", at: "mon/2", hint: "write 1-6/2" },
    { text: "5/1 * * * *", code: "cron-syntax", at: "5/1", hint: "write 5-59" },
    { text: "59/1 * * * *", code: "cron-syntax", at: "59/1", hint: "write 59" },
    { text: "*/60 * * * *", code: "cron-range", at: "*/60", hint: "write 0 if that is meant" },
    { text: "*/99 * * * *", code: "cron-range", at: "*/99", hint: "write 0 if that is meant" },
    { text: "0 */24 * * *", code: "cron-range", at: "*/24", hint: "write 0 if that is meant" },
    { text: "0 0 */31 * *", code: "cron-range", at: "*/31", hint: "write 1 if that is meant" },
    { text: "0 0 * */12 *", code: "cron-range", at: "*/12", hint: "write 1 if that is meant" },
    { text: "0 0 * * */7", code: "cron-range", at: "*/7", hint: "write 0 if that is meant" },
    { text: "0-10/11 * * * *", code: "cron-range", at: "0-10/11", hint: "write 0 if that is meant" },
    { text: "*/0 * * * *", code: "cron-range", at: "*/0", hint: "leave out /0" },
    { text: "*/ * * * *", code: "cron-syntax", at: "*/", hint: "write a number after /" },
    { text: "*/-5 * * * *", code: "cron-syntax", at: "*/-5", hint: "write a number after /" },
    { text: "*/2/3 * * * *", code: "cron-syntax", at: "*/2/3", hint: "write one / per element" },
    // Ranges.
    { text: "50-10 * * * *", code: "cron-range", at: "50-10", hint: "write 50-59,0-10" },
    { text: "0 22-6 * * *", code: "cron-range", at: "22-6", hint: "write 22-23,0-6" },
    { text: "0 23-0 * * *", code: "cron-range", at: "23-0", hint: "write 23,0" },
    { text: "0 0 * NOV-FEB *", code: "cron-range", at: "NOV-FEB", hint: "write 11-12,1-2" },
    { text: "0 0 * * FRI-MON", code: "cron-range", at: "FRI-MON", hint: "write 5-6,0-1" },
    { text: "0 0 * * 6-0", code: "cron-range", at: "6-0", hint: "write 6-7" },
    { text: "0 0 * * 7-2", code: "cron-range", at: "7-2", hint: "write 0-2" },
    { text: "1- * * * *", code: "cron-syntax", at: "1-", hint: "write 0 to 59" },
    { text: "-5 * * * *", code: "cron-syntax", at: "-5", hint: "write 0 to 59" },
    { text: "1-2-3 * * * *", code: "cron-syntax", at: "1-2-3", hint: "write FROM-TO, commas between ranges" },
    { text: "*-5 * * * *", code: "cron-syntax", at: "*-5", hint: "write *, or */N for every Nth value" },
    // Values.
    { text: "60 * * * *", code: "cron-range", at: "60", hint: "write 0 to 59" },
    { text: "1,2,60,3 * * * *", code: "cron-range", at: "60", hint: "write 0 to 59" },
    { text: "0 24 * * *", code: "cron-range", at: "24", hint: "write 0 to 23" },
    { text: "0 0 0 * *", code: "cron-range", at: "0", hint: "write 1 to 31" },
    { text: "0 0 32 * *", code: "cron-range", at: "32", hint: "write 1 to 31" },
    { text: "0 0 * 13 *", code: "cron-range", at: "13", hint: "write 1 to 12, or JAN to DEC" },
    { text: "0 0 * * 8", code: "cron-range", at: "8", hint: "write 0 to 7, or SUN to SAT" },
    { text: "99999999999999999999 * * * *", code: "cron-range", at: "99999999999999999999", hint: "write 0 to 59" },
    { text: "005 * * * *", code: "cron-syntax", at: "005", hint: "write 5" },
    { text: "1.5 * * * *", code: "cron-syntax", at: "1.5", hint: "write 0 to 59" },
    { text: "0x5 * * * *", code: "cron-syntax", at: "0x5", hint: "write 0 to 59" },
    { text: "+5 * * * *", code: "cron-syntax", at: "+5", hint: "write 0 to 59" },
    { text: "５ * * * *", code: "cron-syntax", at: "５", hint: "write 0 to 59" },
    // Lists.
    { text: "1,,2 * * * *", code: "cron-syntax", at: ",", hint: "leave out the extra comma" },
    { text: ",1 * * * *", code: "cron-syntax", at: ",", hint: "leave out the extra comma" },
    { text: "1, * * * *", code: "cron-syntax", at: ",", hint: "leave out the extra comma" },
    { text: "* * * * 1,2,", code: "cron-syntax", at: ",", hint: "leave out the extra comma" },
    // Names.
    { text: "MON * * * *", code: "cron-syntax", at: "MON", hint: "write 0 to 59" },
    { text: "0 0 * MON *", code: "cron-syntax", at: "MON", hint: "write 1 to 12, or JAN to DEC" },
    { text: "0 0 * january *", code: "cron-syntax", at: "january", hint: "write JAN to DEC or SUN to SAT" },
    { text: "0 0 * * Wednesday", code: "cron-syntax", at: "Wednesday", hint: "write JAN to DEC or SUN to SAT" },
    { text: "0 0 * jan2 *", code: "cron-syntax", at: "jan2", hint: "write 1 to 12, or JAN to DEC" },
    { text: "0 0 * janfeb *", code: "cron-syntax", at: "janfeb", hint: "write 1 to 12, or JAN to DEC" },
    // What other dialects know.
    { text: "0 0 ? * *", code: "cron-syntax", at: "?", hint: "write *" },
    { text: "H * * * *", code: "cron-syntax", at: "H", hint: "write a value: the window spreads the runs" },
    {
      text: "H(0-29)/10 * * * *",
      code: "cron-syntax",
      at: "H(0-29)/10",
      hint: "write a value: the window spreads the runs",
    },
    {
      text: "0 0 L-3 * *",
      code: "cron-syntax",
      at: "L-3",
      hint: "write L for the last day of the month; nothing counts back from it",
    },
    { text: "0 0 LW * *", code: "cron-syntax", at: "LW", hint: "write L for the last day, FRI#L for the last Friday" },
    { text: "0 0 28-L * *", code: "cron-syntax", at: "28-L", hint: "write L for the last day of the month" },
    { text: "0 0 L/2 * *", code: "cron-syntax", at: "L/2", hint: "write L for the last day of the month" },
    { text: "0 L * * *", code: "cron-syntax", at: "L", hint: "write L for the last day of the month" },
    { text: "0 0 * * L", code: "cron-syntax", at: "L", hint: "write SAT#L for the last Saturday" },
    { text: "0 0 5L * *", code: "cron-syntax", at: "5L", hint: "write 1 to 31" },
    {
      text: "0 0 15W * *",
      code: "cron-syntax",
      at: "15W",
      hint: "write a day range such as 1-3, and only=dow=MON-FRI",
    },
    { text: "0 0 * * 5L", code: "cron-syntax", at: "5L", hint: "write FRI#L for the last FRI of the month" },
    { text: "0 0 * * friL", code: "cron-syntax", at: "friL", hint: "write FRI#L for the last FRI of the month" },
    { text: "0 0 * * 2#MON", code: "cron-syntax", at: "2#MON", hint: "write MON#2" },
    { text: "0 0 * * L#FRI", code: "cron-syntax", at: "L#FRI", hint: "write FRI#L" },
    {
      text: "0 0 * * TUE,MON#6",
      code: "cron-range",
      at: "MON#6",
      hint: "write MON#1 to MON#5, or MON#L for the last",
    },
    { text: "0 0 * * 7#0", code: "cron-range", at: "7#0", hint: "write SUN#1 to SUN#5, or SUN#L for the last" },
    { text: "0 0 * * MON#", code: "cron-syntax", at: "MON#", hint: "write MON#1 to MON#5, or MON#L for the last" },
    { text: "0 0 * * 8#1", code: "cron-range", at: "8#1", hint: "write 0 to 7, or SUN to SAT" },
    {
      text: "0 0 * * MON-FRI#2",
      code: "cron-syntax",
      at: "MON-FRI#2",
      hint: "write each of them, like MON#2,TUE#2",
    },
    {
      text: "0 0 * * #2",
      code: "cron-syntax",
      at: "#2",
      hint: "write MON#2 for the second Monday of the month, MON#L for the last",
    },
    {
      text: "0 0 1#2 * *",
      code: "cron-syntax",
      at: "1#2",
      hint: "write MON#2 for the second Monday of the month, MON#L for the last",
    },
    { text: "5* * * * *", code: "cron-syntax", at: "5*", hint: "write *, or */N for every Nth value" },
    { text: "** * * * *", code: "cron-syntax", at: "**", hint: "write *, or */N for every Nth value" },
    // S4.
    { text: "0 0 30 2 *", code: "cron-impossible", at: "30 2", hint: "choose a day that the month has" },
    { text: "0 0 30,31 FEB *", code: "cron-impossible", at: "30,31 FEB", hint: "choose a day that the month has" },
    { text: "0 0 31 4,6,9,11 *", code: "cron-impossible", at: "31 4,6,9,11", hint: "choose a day that the month has" },
  ])("$text", ({ text, code, at, hint }) => {
    const problem = requireErr(parseKronCron(text));
    const { start = 0, end = 0 } = problem.span ?? {};
    expect({ code: problem.code, at: text.slice(start, end), hint: problem.hint }).toEqual({ code, at, hint });
    expect(problem.path).toEqual([]);
  });

  test.each([
    { text: "  0 0 * * 9", start: 10, message: "weekday field: 9 is out of range" },
    { text: "0 1,2,77 * * *", start: 6, message: "hour field: 77 is out of range" },
    { text: "0 0 30 2 *", start: 4, message: "the schedule never occurs: no month of 2 has a day of 30" },
    { text: "0 0 ? * *", start: 4, message: "day field: ? is not supported" },
  ])("names the field and the place: $text", ({ text, start, message }) => {
    expect(requireErr(parseKronCron(text))).toMatchObject({ span: { start }, message });
  });
});
