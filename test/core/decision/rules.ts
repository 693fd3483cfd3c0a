/** Rules for tests: a plain one to vary, and arbitrary ones for properties. */
import * as fc from "fast-check";
import { mergedRanges } from "../../../src/core/decision/constraint/kind.js";
import { parseConstraintText } from "../../../src/core/decision/constraints.js";
import type { Clause, Distribution, SchedulingRule } from "../../../src/core/decision/rule.js";
import { parseInstant } from "../../../src/core/time/instant.js";

/** Properties repeat the same cases on every run. */
export const SEEDED = { seed: 20260301 };

export const PLAIN_RULE: SchedulingRule = {
  identity: "prod/db-backup",
  schedule: "* * * * *",
  timezone: "UTC",
  dst: { gap: "skip", overlap: "both" },
  window: { mode: "after", durationMs: 3_600_000 },
  distribution: { name: "uniform" },
  seed: { strategy: "stable", salt: "" },
  constraints: { only: [], avoid: [] },
};

export function at(text: string): number {
  const instant = parseInstant(text);
  if (!instant.ok) throw new Error(instant.error.message);
  return instant.value;
}

export function clausesOf(text: string): readonly Clause[] {
  const clauses = parseConstraintText(text);
  if (!clauses.ok) throw new Error(clauses.error.map(({ message }) => message).join("; "));
  return clauses.value;
}

const positive = fc.oneof(
  fc.double({ min: 0.01, max: 100, noNaN: true }),
  fc.constantFrom(Number.MIN_VALUE, 1e-300, 1e-7, 0.5, 1, 2, 745, 1e9, 1e300, Number.MAX_VALUE),
);
const durationMs = fc.oneof(fc.integer({ min: 1, max: 10_000_000 }), fc.constantFrom(1, 1000, 9_223_372_036_854));

export const distributions: fc.Arbitrary<Distribution> = fc.oneof(
  fc.constant({ name: "uniform" as const }),
  fc.record({ name: fc.constantFrom("skewEarly" as const, "skewLate" as const), shape: positive }),
  fc.record({
    name: fc.constant("normal" as const),
    mu: fc.constantFrom("nominal" as const, "start" as const, "mid" as const, "end" as const),
    sigmaMs: fc.option(durationMs),
  }),
  fc.record({
    name: fc.constant("exponential" as const),
    lambda: positive,
    dir: fc.constantFrom("early" as const, "late" as const),
  }),
);

function ranges(min: number, max: number): fc.Arbitrary<{ from: number; to: number }> {
  return fc.record({ from: fc.integer({ min, max }), to: fc.integer({ min, max }) });
}

const dates = fc
  .record({ from: fc.integer({ min: -719_528, max: 2_932_000 }), length: fc.integer({ min: 0, max: 800 }) })
  .map(({ from, length }) => ({ from, to: from + length }));

function clause(kind: Clause["kind"], range: fc.Arbitrary<{ from: number; to: number }>): fc.Arbitrary<Clause> {
  return fc.record({ kind: fc.constant(kind), ranges: fc.array(range, { minLength: 1, maxLength: 4 }) });
}

/** As they are read: in their order, with what touches put together. */
const calendars: fc.Arbitrary<Clause> = fc
  .record({
    name: fc.constantFrom("de-holidays", "x", "A.b_1"),
    ranges: fc.array(dates, { minLength: 1, maxLength: 30 }),
  })
  .map(({ name, ranges: written }) => ({ kind: "calendar", name, ranges: mergedRanges(written) }));

export const clauseLists: fc.Arbitrary<readonly Clause[]> = fc.array(
  fc.oneof(
    clause("hours", ranges(0, 23)),
    clause("dow", ranges(0, 6)),
    clause("dom", ranges(1, 31)),
    clause("months", ranges(1, 12)),
    clause("between", ranges(0, 1439)),
    clause("date", dates),
    calendars,
  ),
  { maxLength: 5 },
);

const hashTexts = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text));

export const rules: fc.Arbitrary<SchedulingRule> = fc.record({
  identity: hashTexts,
  schedule: fc.constant("* * * * *"),
  timezone: fc.constantFrom("UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"),
  dst: fc.constant({ gap: "skip" as const, overlap: "both" as const }),
  window: fc.record({
    mode: fc.constantFrom("after" as const, "around" as const, "before" as const),
    durationMs: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 744 * 3600 })).map((s) => s * 1000),
  }),
  distribution: distributions,
  seed: fc.record({
    strategy: fc.constantFrom("stable" as const, "daily" as const, "weekly" as const),
    salt: fc.oneof(fc.constant(""), hashTexts),
  }),
  constraints: fc.record({ only: clauseLists, avoid: clauseLists }),
});

/** Whole minutes of the years 1990 to 2090. */
export const nominals: fc.Arbitrary<number> = fc
  .integer({ min: at("1990-01-01T00:00:00Z") / 60_000, max: at("2090-01-01T00:00:00Z") / 60_000 })
  .map((minutes) => minutes * 60_000);
