import { describe, expect, test } from "vitest";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { parsePosixCron } from "../../../src/core/cron/posix-dialect.js";
import { requireErr, requireOk } from "../../support/results.js";

describe("posix dialect: the grammar of the Declarative Scheduler specification", () => {
  test.each([
    { text: "0 0 * * *", fields: { minutes: [0], hours: [0], dayIsStar: true, weekdayIsStar: true } },
    { text: "15 3 * * 1-5", fields: { minutes: [15], hours: [3], weekdays: [1, 2, 3, 4, 5], weekdayIsStar: false } },
    { text: "0,30 * * * *", fields: { minutes: [0, 30] } },
    { text: "0 12 14 2 *", fields: { minutes: [0], hours: [12], days: [14], months: [2], dayIsStar: false } },
    { text: "15,30,45,0 * * * *", fields: { minutes: [0, 15, 30, 45] } },
    { text: "0 0 1,15 * 1", fields: { days: [1, 15], weekdays: [1], dayIsStar: false, weekdayIsStar: false } },
    { text: "0 0 1-31 * 0-6", fields: { dayIsStar: false, weekdayIsStar: false } },
    {
      text: " \t 5\t\t4  3 2 1 \t",
      fields: { minutes: [5], hours: [4], days: [3], months: [2], weekdays: [1], text: "5\t\t4  3 2 1" },
    },
    { text: "007 000 01 012 06", fields: { minutes: [7], hours: [0], days: [1], months: [12], weekdays: [6] } },
    { text: "3,1,2,1-3 * * * *", fields: { minutes: [1, 2, 3] } },
    { text: "5-5 * * * *", fields: { minutes: [5] } },
    { text: "59 23 31 12 6", fields: { minutes: [59], hours: [23], days: [31], months: [12], weekdays: [6] } },
    // S4: valid POSIX, though it never occurs.
    { text: "0 0 30 2 *", fields: { days: [30], months: [2] } },
  ])("accepts $text", ({ text, fields }) => {
    expect(requireOk(parsePosixCron(text))).toMatchObject(fields);
  });

  test.each([
    // Rule 1: exactly five fields.
    { rule: 1, text: "", field: "expression", reason: "must not be empty" },
    { rule: 1, text: " \t", field: "expression", reason: "must not be empty" },
    { rule: 1, text: "* * * *", field: "expression", reason: "must have exactly 5 fields, got 4" },
    { rule: 1, text: "0 * * * * *", field: "expression", reason: "must have exactly 5 fields, got 6" },
    { rule: 1, text: "0 0 * * *\n", field: "weekday", reason: 'contains "*\n", which is not a number' },
    { rule: 1, text: "0\u00a00 * * * *", field: "minute", reason: 'contains "0\u00a00", which is not a number' },
    { rule: 1, text: "* ".repeat(200), field: "expression", reason: "must have at most 256 characters" },
    // Rule 2: no steps.
    { rule: 2, text: "*/15 * * * *", field: "minute", reason: "must not use step syntax (/)" },
    { rule: 2, text: "0 0-12/2 * * *", field: "hour", reason: "must not use step syntax (/)" },
    { rule: 2, text: "0 0 1/5 * *", field: "day", reason: "must not use step syntax (/)" },
    // Rule 3: no names.
    { rule: 3, text: "0 0 * * mon", field: "weekday", reason: "must not use names" },
    { rule: 3, text: "0 0 * jan *", field: "month", reason: "must not use names" },
    { rule: 3, text: "0 0 * * SUNDAY", field: "weekday", reason: "must not use names" },
    { rule: 3, text: "0 0 * * mon-fri", field: "weekday", reason: "must not use names" },
    // Rule 4: no macros.
    { rule: 4, text: "@daily", field: "expression", reason: "must not be a macro" },
    { rule: 4, text: "@hourly", field: "expression", reason: "must not be a macro" },
    // Rule 5: no Quartz tokens.
    { rule: 5, text: "0 0 ? * *", field: "day", reason: "must not use Quartz tokens (?, L, W, #)" },
    { rule: 5, text: "0 0 L * *", field: "day", reason: "must not use Quartz tokens (?, L, W, #)" },
    { rule: 5, text: "0 0 15W * *", field: "day", reason: "must not use Quartz tokens (?, L, W, #)" },
    { rule: 5, text: "0 0 * * 5#2", field: "weekday", reason: "must not use Quartz tokens (?, L, W, #)" },
    { rule: 5, text: "0 0 * * 5L", field: "weekday", reason: "must not use Quartz tokens (?, L, W, #)" },
    // Rule 6: Sunday is 0.
    { rule: 6, text: "0 0 * * 7", field: "weekday", reason: "value 7 is not allowed (use 0 for Sunday)" },
    { rule: 6, text: "0 0 * * 5-7", field: "weekday", reason: "value 7 is not allowed (use 0 for Sunday)" },
    // Rule 7: no wrap-around.
    { rule: 7, text: "50-10 * * * *", field: "minute", reason: 'has a wrap-around range "50-10"' },
    { rule: 7, text: "0 22-6 * * *", field: "hour", reason: 'has a wrap-around range "22-6"' },
    { rule: 7, text: "0 0 * * 6-0", field: "weekday", reason: 'has a wrap-around range "6-0"' },
    // Rule 8: values in range.
    { rule: 8, text: "60 * * * *", field: "minute", reason: "value 60 is out of range (0-59)" },
    { rule: 8, text: "0 24 * * *", field: "hour", reason: "value 24 is out of range (0-23)" },
    { rule: 8, text: "0 0 0 * *", field: "day", reason: "value 0 is out of range (1-31)" },
    { rule: 8, text: "0 0 32 * *", field: "day", reason: "value 32 is out of range (1-31)" },
    { rule: 8, text: "0 0 * 0 *", field: "month", reason: "value 0 is out of range (1-12)" },
    { rule: 8, text: "0 0 * 13 *", field: "month", reason: "value 13 is out of range (1-12)" },
    { rule: 8, text: "0 0 * * 8", field: "weekday", reason: "value 8 is out of range (0-6)" },
    { rule: 8, text: "0 0-24 * * *", field: "hour", reason: "value 24 is out of range (0-23)" },
    // Rule 9: plain decimal digits.
    { rule: 9, text: "1e1 * * * *", field: "minute", reason: "must be written in plain decimal digits" },
    { rule: 9, text: "0x10 * * * *", field: "minute", reason: "must be written in plain decimal digits" },
    { rule: 9, text: "+5 * * * *", field: "minute", reason: "must be written in plain decimal digits" },
    { rule: 9, text: "-5 * * * *", field: "minute", reason: "must be written in plain decimal digits" },
    { rule: 9, text: "1.5 * * * *", field: "minute", reason: "must be written in plain decimal digits" },
    { rule: 9, text: "５ * * * *", field: "minute", reason: 'contains "５", which is not a number' },
    // The grammar itself.
    { rule: 0, text: "1,,2 * * * *", field: "minute", reason: "contains an empty list element" },
    { rule: 0, text: "1, * * * *", field: "minute", reason: "contains an empty list element" },
    { rule: 0, text: "*,1 * * * *", field: "minute", reason: "must not mix * with other values" },
    { rule: 0, text: "1- * * * *", field: "minute", reason: 'contains a malformed range "1-"' },
    { rule: 0, text: "1-2-3 * * * *", field: "minute", reason: 'contains a malformed range "1-2-3"' },
    { rule: 0, text: "*-5 * * * *", field: "minute", reason: 'contains "*", which is not a number' },
    { rule: 0, text: "5* * * * *", field: "minute", reason: 'contains "5*", which is not a number' },
  ])("rejects by rule $rule: $text", ({ text, field, reason }) => {
    const problem = requireErr(parsePosixCron(text));
    expect(problem).toMatchObject({ field, reason });
    expect(problem.message).toBe(`Invalid cron expression "${text}": ${field} field ${reason}`);
  });

  test.each([
    { text: "1 2 99 4 5", fieldValue: "99" },
    { text: "1 2 3 jan,feb 5", fieldValue: "jan,feb" },
    { text: "1 2 3", fieldValue: "1 2 3" },
  ])("hands back the field's own text: $text", ({ text, fieldValue }) => {
    expect(requireErr(parsePosixCron(text)).fieldValue).toBe(fieldValue);
  });

  test.each([["0 0 * * *"], ["15 3 * * 1-5"], ["0,30 * * * *"], ["0 12 14 2 *"], ["5,5,1-3 0-23 1-31 1-12 0-6"]])(
    "means the same in the kron dialect: %s",
    (text) => {
      expect(requireOk(parsePosixCron(text))).toEqual(requireOk(parseKronCron(text)));
    },
  );
});
