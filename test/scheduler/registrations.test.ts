import { Temporal } from "temporal-polyfill";
import { describe, expect, it } from "vitest";
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
  it.each([
    ["undefined", undefined, "RegistrationsNotArrayError {}"],
    ["an object", {}, "RegistrationsNotArrayError {}"],
    ["null in the list", [null], 'RegistrationShapeError {"registrationIndex":0,"received":null}'],
    ["a hole in the list", Object.assign([good], { 2: good }), 'RegistrationShapeError {"registrationIndex":1}'],
    ["three elements", [["a", "* * * * *", run]], /^RegistrationShapeError \{"registrationIndex":0/],
    ["five elements", [[...good, 1]], /^RegistrationShapeError/],
    ["a name that is no text", [[1, "* * * * *", run, 0]], /^RegistrationShapeError/],
    ["an expression that is no text", [["a", 5, run, 0]], /^RegistrationShapeError/],
    ["no callback", [["a", "* * * * *", null, 0]], /^RegistrationShapeError/],
    ["no duration", [["a", "* * * * *", run, undefined]], /^RegistrationShapeError/],
    ["null as duration", [["a", "* * * * *", run, null]], /^RegistrationShapeError/],
    ["an object that is no duration", [["a", "* * * * *", run, {}]], /^RegistrationShapeError/],
    [
      "an empty name",
      [["", "* * * * *", run, 0]],
      'InvalidRegistrationError {"field":"name","value":"","reason":"must be a non-empty string"}',
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
    ["negative", [["a", "* * * * *", run, -1]], 'NegativeRetryDelayError {"retryDelayMs":-1}'],
    ["negative text", [["a", "* * * * *", run, "-PT1S"]], 'NegativeRetryDelayError {"retryDelayMs":-1000}'],
    ["a twin", [good, good], 'ScheduleDuplicateTaskError {"taskName":"a"}'],
    [
      "a bad expression",
      [["a", "60 * * * *", run, 0]],
      'CronExpressionInvalidError {"expression":"60 * * * *","field":"minute","reason":"value 60 is out of range (0-59)"}',
    ],
    ["nothing wrong", [good], "accepted"],
    ["nothing at all", [], "accepted"],
  ])("%s", (_, registrations, expected) => {
    expect(refusal(registrations)).toMatch(expected);
  });
});

describe("the order of validation is stable", () => {
  it.each([
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
  it.each<[string, unknown, number]>([
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

  it.each(["", "P", "PT", "5m", "PT1.5H30M", "PT5", "P1DT", "1", " PT5M", "P1Y"])("not a duration: %j", (text) => {
    expect(refusal([["a", "* * * * *", run, text]])).toMatch(/^InvalidRegistrationError/);
  });
});

describe("validateRegistrations", () => {
  it("equal expressions are parsed once", () => {
    const [a, b] = validateRegistrations([good, ["b", "* * * * *", run, 0]]);
    expect(a?.fields).toBe(b?.fields);
  });

  it("an object that throws when it is looked at is refused with its error as cause", () => {
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
