import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/base/limits.js";
import type { CronFields } from "../../../src/core/cron/fields.js";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { parsePosixCron } from "../../../src/core/cron/posix-dialect.js";
import { compileSchedule } from "../../../src/core/cron/schedule.js";
import { cronExpression, cronLikeText, posixExpression } from "../../support/cron-arbitraries.js";
import { FUZZ } from "../../support/fuzz.js";
import { requireOk } from "../../support/results.js";
import { zone } from "../../support/zones.js";

const anyText = fc.oneof(
  cronLikeText,
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => new TextDecoder().decode(bytes)),
  fc.tuple(cronExpression, cronLikeText, fc.nat()).map(([good, bad, at]) => {
    const place = at % (good.length + 1);
    return good.slice(0, place) + bad.slice(0, 3) + good.slice(place);
  }),
);

const RANGES = [
  { values: (fields: CronFields) => fields.minutes, min: 0, max: 59 },
  { values: (fields: CronFields) => fields.hours, min: 0, max: 23 },
  { values: (fields: CronFields) => fields.days, min: 1, max: 31 },
  { values: (fields: CronFields) => fields.months, min: 1, max: 12 },
  { values: (fields: CronFields) => fields.weekdays, min: 0, max: 6 },
];

/** What every reader of fields relies on. */
function expectWellFormed(fields: CronFields): void {
  for (const { values, min, max } of RANGES) {
    const list = values(fields);
    const special =
      (min === 1 && max === 31 && fields.lastDay === true) || (max === 6 && fields.nthWeekdays !== undefined);
    if (!special) expect(list.length).toBeGreaterThan(0);
    expect(list.every((value, i) => value >= min && value <= max && value > (list[i - 1] ?? -1))).toBe(true);
  }
}

describe("the cron parsers take any text", () => {
  test("kron: a result, never an exception; what is read is well-formed and can be searched", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const result = parseKronCron(text);
        if (result.ok) {
          expectWellFormed(result.value);
          expect(compileSchedule(result.value, zone("UTC")).next(0)).not.toBeNull();
        } else {
          const { start = -1, end = -1 } = result.error.span ?? {};
          expect(start >= 0 && start <= end && end <= text.length).toBe(true);
          expect(result.error.hint ?? "").not.toBe("");
        }
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("posix: a result, never an exception; what is read is well-formed and can be searched", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const result = parsePosixCron(text);
        if (result.ok) {
          expectWellFormed(result.value);
          compileSchedule(result.value, zone("UTC")).next(0);
        } else {
          expect(result.error.message).toBe(
            `Invalid cron expression "${text}": ${result.error.field} field ${result.error.reason}`,
          );
        }
      }),
      { ...FUZZ, numRuns: 5000 },
    );
  });

  test("posix: every expression of the grammar is read, and read alike by the kron dialect where it may be", () => {
    fc.assert(
      fc.property(posixExpression, (text) => {
        fc.pre(text.length <= LIMITS.expressionChars);
        const posix = requireOk(parsePosixCron(text));
        const kron = parseKronCron(text.replaceAll(/0(\d\d)/g, "$1"));
        expect(kron.ok ? { ...kron.value, text } : kron.error.code).toEqual(kron.ok ? posix : "cron-impossible");
      }),
      FUZZ,
    );
  });

  test("kron: most expressions of the grammar are read; the others never occur or have too large a step", () => {
    const codes = new Map<string, number>();
    fc.assert(
      fc.property(cronExpression, (text) => {
        const result = parseKronCron(text);
        const code = result.ok ? "read" : result.error.code;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        expect(["read", "cron-impossible"]).toContain(code);
      }),
      FUZZ,
    );
    expect(codes.get("read") ?? 0).toBeGreaterThan(900);
  });
});
