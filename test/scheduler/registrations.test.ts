import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { type SchedulerError, validateRegistrations } from "../../src/scheduler/index.js";

const run = async (): Promise<void> => {};
const good = ["a", "* * * * *", run, 0];

function refusal(registrations: unknown): string {
  try {
    validateRegistrations(registrations);
  } catch (error) {
    const { name, details } = error as SchedulerError;
    return `${name} ${JSON.stringify(details)}`;
  }
  return "accepted";
}

describe("what is refused, and as what", () => {
  test.each([
    ["undefined", undefined, "RegistrationsNotArrayError {}"],
    ["an object", {}, "RegistrationsNotArrayError {}"],
    [
      "null in the list",
      [null],
      /^RegistrationShapeError \{"registrationIndex":0,"received":null,"reason":"must be an array, got null"\}/,
    ],
    [
      "a hole in the list",
      Object.assign([good], { 2: good }),
      /^RegistrationShapeError \{"registrationIndex":1,"reason":"must be an array, got undefined"\}/,
    ],
    ["three elements", [["a", "* * * * *", run]], /"taskName":"a".*"reason":"must have 4 elements, got 3"/],
    ["five elements", [[...good, 1]], /^RegistrationShapeError.*"reason":"must have 4 elements, got 5"/],
    ["a name that is no text", [[1, "* * * * *", run, 0]], /element 0, the task name, must be a string, got number/],
    [
      "an expression that is no text",
      [["a", 5, run, 0]],
      /element 1, the cron expression, must be a string, got number/,
    ],
    ["no callback", [["a", "* * * * *", null, 0]], /element 2, the callback, must be a function, got null/],
    ["no duration", [["a", "* * * * *", run, undefined]], /^RegistrationShapeError/],
    ["null as duration", [["a", "* * * * *", run, null]], /^RegistrationShapeError/],
    [
      "an object that is no duration",
      [["a", "* * * * *", run, {}]],
      /element 3, the retry delay.* without toMillis\(\) or total\(\)/,
    ],
    [
      "an empty name",
      [["", "* * * * *", run, 0]],
      'InvalidRegistrationError {"field":"name","value":"","reason":"must be a non-empty string","registrationIndex":0}',
    ],
    [
      "a text that is no duration",
      [["a", "* * * * *", run, "soon"]],
      /^InvalidRegistrationError \{"field":"retryDelay"/,
    ],
    ["NaN", [["a", "* * * * *", run, Number.NaN]], /^InvalidRegistrationError \{"field":"retryDelay"/],
    ["endless", [["a", "* * * * *", run, Number.POSITIVE_INFINITY]], /at most 100 years/],
    ["months", [["a", "* * * * *", run, "P1M"]], /months or years/],
    [
      "a Temporal.Duration of months",
      [["a", "* * * * *", run, Temporal.Duration.from("P1M")]],
      /^InvalidRegistrationError/,
    ],
    ["negative", [["a", "* * * * *", run, -1]], /"retryDelayMs":-1,"registrationIndex":0,"taskName":"a"/],
    ["negative text", [["a", "* * * * *", run, "-PT1S"]], /^NegativeRetryDelayError \{"retryDelayMs":-1000,/],
    ["a twin", [good, good], 'ScheduleDuplicateTaskError {"taskName":"a","registrationIndex":1}'],
    [
      "a bad expression",
      [["a", "60 * * * *", run, 0]],
      'CronExpressionInvalidError {"expression":"60 * * * *","field":"minute","reason":"value 60 is out of range (0-59)","registrationIndex":0,"taskName":"a"}',
    ],
    ["nothing wrong", [good], "accepted"],
    ["nothing at all", [], "accepted"],
  ])("%s", (_, registrations, expected) => {
    expect(refusal(registrations)).toMatch(expected);
  });
});

describe("the order of validation is stable", () => {
  test.each([
    ["shape before name", [["", "bad", null, -1]], "RegistrationShapeError"],
    ["shape of the duration before name", [["", "bad", run, null]], "RegistrationShapeError"],
    ["name before expression", [["", "bad", run, -1]], "InvalidRegistrationError"],
    ["duplicate before expression", [good, ["a", "bad", run, -1]], "ScheduleDuplicateTaskError"],
    ["expression before delay", [["a", "bad", run, -1]], "CronExpressionInvalidError"],
    ["delay last", [["a", "* * * * *", run, -1]], "NegativeRetryDelayError"],
    ["the first registration before the second", [["a", "* * * * *", run, -1], null], "NegativeRetryDelayError"],
  ])("%s", (_, registrations, expected) => {
    expect(refusal(registrations).split(" ")[0]).toBe(expected);
  });
});

describe("retry delays", () => {
  test.each<[string, unknown, number]>([
    ["milliseconds", 1500, 1500],
    ["a fraction counts up (P13)", 0.2, 1],
    ["minus zero", -0, 0],
    ["ISO 8601 minutes", "PT5M", 300_000],
    ["ISO 8601, all parts", "P1W2DT3H4M5.5S", 788_645_500],
    ["ISO 8601, fraction of an hour", "PT1.5H", 5_400_000],
    ["ISO 8601, small letters", "pt2s", 2000],
    ["zero", "PT0S", 0],
    ["Temporal.Duration", Temporal.Duration.from({ minutes: 2, seconds: 1 }), 121_000],
    ["Temporal.Duration of days", Temporal.Duration.from({ days: 1 }), 86_400_000],
    ["toMillis()", { toMillis: () => 42 }, 42],
  ])("%s", (_, delay, expected) => {
    const [task] = validateRegistrations([["a", "* * * * *", run, delay]]);
    expect(Object.is(task?.retryDelayMs, expected)).toBe(true);
  });

  test.each(["", "P", "PT", "5m", "PT1.5H30M", "PT5", "P1DT", "1", " PT5M", "P1Y"])("not a duration: %j", (text) => {
    expect(refusal([["a", "* * * * *", run, text]])).toMatch(/^InvalidRegistrationError/);
  });
});

describe("the kron dialect", () => {
  const kron = { dialect: "kron" } as const;
  const taskOf = (cron: string, ...more: unknown[]) => validateRegistrations([["a", cron, run, 0, ...more]], kron)[0];

  test.each([
    ["steps", "*/20 * * * *", "minutes", [0, 20, 40]],
    ["names", "0 0 * jan,JUL mon-fri", "weekdays", [1, 2, 3, 4, 5]],
    ["seven is Sunday", "0 0 * * 7", "weekdays", [0]],
    ["macros", "@hourly", "minutes", [0]],
  ] as const)("reads %s, where posix does not", (_, cron, field, values) => {
    expect(taskOf(cron)?.fields[field]).toEqual(values);
    expect(() => validateRegistrations([["a", cron, run, 0]])).toThrow(`Invalid cron expression "${cron}"`);
  });

  test("a zone of the task's own", () => {
    expect(taskOf("@daily", { timeZone: "Asia/Tokyo" })?.timeZone).toBe("Asia/Tokyo");
    for (const none of [[], [undefined], [{}], [{ timeZone: undefined }]]) {
      expect(taskOf("@daily", ...none)).not.toHaveProperty("timeZone");
    }
  });

  test.each([
    ["61 * * * *", "minute"],
    ["0 0 * * FUN", "weekday"],
    ["@dayly", "expression"],
    ["* * * *", "expression"],
    ["0 0 31 2 *", "expression"],
  ])("%s is refused, with the field, the entry and what to write", (cron, field) => {
    let error: unknown;
    try {
      taskOf(cron);
    } catch (thrown) {
      error = thrown;
    }
    const place = { registrationIndex: 0, taskName: "a" };
    expect(error).toMatchObject({ code: "cron-expression-invalid", details: { expression: cron, field, ...place } });
    expect(String(error)).toMatch(/\(.+\)$/);
  });

  test.each([
    [{ timeZone: "Europe/Berlim" }, "timeZone must be the IANA id of a zone, like Europe/Berlin"],
    [{ timeZone: 5 }, "timeZone must be the IANA id of a zone, like Europe/Berlin"],
    [{ timezone: "Europe/Berlin" }, "options must not have timezone: there is only timeZone"],
    ["Europe/Berlin", "options must be an object like { timeZone }"],
    [null, "options must be an object like { timeZone }"],
  ])("options that are refused: %j", (options, message) => {
    expect(() => taskOf("@daily", options)).toThrow(`Invalid registration: ${message}`);
  });

  test("there are no others", () => {
    expect(() => validateRegistrations([good], { dialect: "quartz" as "kron" })).toThrow('unknown dialect "quartz"');
  });
});

describe("validateRegistrations", () => {
  test("equal expressions are parsed once", () => {
    const [a, b] = validateRegistrations([good, ["b", "* * * * *", run, 0]]);
    expect(a?.fields).toBe(b?.fields);
  });

  test("an object that throws when it is looked at is refused with its error as cause", () => {
    const cause = new Error("no");
    const delay = {
      toMillis: () => {
        throw cause;
      },
    };
    expect(() => validateRegistrations([["a", "* * * * *", run, delay]])).toThrow(
      expect.objectContaining({ name: "InvalidRegistrationError", cause }),
    );
  });
});
