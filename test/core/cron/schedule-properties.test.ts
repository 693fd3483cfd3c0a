import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { compileSchedule, type Schedule } from "../../../src/core/cron/schedule.js";
import { DAY_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { cronExpression } from "../../support/cron-arbitraries.js";
import { FUZZ } from "../../support/fuzz.js";
import { PECULIAR_ZONES, zone } from "../../support/zones.js";

const instant = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const dst = fc.record({ gap: fc.constantFrom("skip", "next"), overlap: fc.constantFrom("both", "first", "last") });

/** Any schedule that occurs at all, in a zone with a history. */
const schedule = fc
  .tuple(cronExpression, fc.constantFrom(...PECULIAR_ZONES.map(({ id }) => id)), dst)
  .map(([expression, zoneId, rule]) => {
    const fields = parseKronCron(expression);
    return { about: `${expression} in ${zoneId} ${rule.gap} ${rule.overlap}`, fields, zoneId, rule };
  })
  .filter(({ fields }) => fields.ok)
  .map(({ about, fields, zoneId, rule }) => {
    if (!fields.ok) throw new Error(about);
    const compiled = compileSchedule(fields.value, zone(zoneId), rule);
    return Object.assign(compiled, { toString: () => about });
  });

function take(from: Schedule, after: number, count: number): number[] {
  const found: number[] = [];
  for (let at = from.next(after); at !== null && found.length < count; at = from.next(at)) found.push(at);
  return found;
}

describe("S3: properties of nominal times", () => {
  test("next is strictly later and matches; nothing lies between", () => {
    fc.assert(
      fc.property(schedule, instant, (compiled, after) => {
        const next = compiled.next(after);
        if (next === null) return;
        expect(next).toBeGreaterThan(after);
        expect(compiled.matches(next)).toBe(true);
        expect(compiled.next(next - 1)).toBe(next);
        expect(compiled.next(Math.floor((after + next) / 2))).toBe(next);
      }),
      FUZZ,
    );
  });

  test("previous is not later and matches; nothing lies between", () => {
    fc.assert(
      fc.property(schedule, instant, (compiled, at) => {
        const previous = compiled.previous(at);
        if (previous === null) return;
        expect(previous).toBeLessThanOrEqual(at);
        expect(compiled.matches(previous)).toBe(true);
        expect(compiled.previous(Math.ceil((previous + at) / 2))).toBe(previous);
      }),
      FUZZ,
    );
  });

  test("next and previous are inverse", () => {
    fc.assert(
      fc.property(schedule, instant, (compiled, start) => {
        const [first, second] = take(compiled, start, 2);
        if (first === undefined || second === undefined) return;
        expect(compiled.previous(second)).toBe(second);
        expect(compiled.previous(second - 1)).toBe(first);
        expect(compiled.next(first)).toBe(second);
      }),
      FUZZ,
    );
  });

  test("between is next, repeated, and strictly increasing", () => {
    fc.assert(
      fc.property(schedule, instant, (compiled, from) => {
        const repeated = take(compiled, from - 1, 20);
        const end = repeated.at(-1);
        if (end === undefined) return;
        expect([...compiled.between(from, end)]).toEqual(repeated.slice(0, -1));
        expect([...compiled.between(from, end + 1)]).toEqual(repeated);
        expect(repeated.every((at, i) => i === 0 || at > (repeated[i - 1] ?? at))).toBe(true);
      }),
      FUZZ,
    );
  });

  test("matches agrees with next one millisecond earlier, at any whole minute", () => {
    fc.assert(
      fc.property(schedule, instant, (compiled, at) => {
        const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
        expect(compiled.matches(minute)).toBe(compiled.next(minute - 1) === minute);
        expect(compiled.matches(minute + 1)).toBe(false);
      }),
      FUZZ,
    );
  });

  test("the order of questions does not change the answers", () => {
    fc.assert(
      fc.property(schedule, fc.array(instant, { minLength: 2, maxLength: 8 }), (compiled, instants) => {
        const forwards = instants.map((at) => [compiled.next(at), compiled.previous(at)]);
        const backwards = [...instants].reverse().map((at) => [compiled.next(at), compiled.previous(at)]);
        expect(backwards.reverse()).toEqual(forwards);
      }),
      FUZZ,
    );
  });

  test("S11: two nominal times are never closer on the wall than the smallest gap", () => {
    fc.assert(
      fc.property(cronExpression, instant, (expression, start) => {
        const fields = parseKronCron(expression);
        if (!fields.ok) return;
        const compiled = compileSchedule(fields.value, zone("UTC"));
        const times = take(compiled, Math.min(start, Date.UTC(2090, 0, 1)), 50);
        const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
        expect(gaps.every((gap) => gap >= compiled.smallestGapMs)).toBe(true);
        expect(compiled.smallestGapMs).toBeLessThanOrEqual(8 * 366 * DAY_MS);
      }),
      FUZZ,
    );
  });
});
