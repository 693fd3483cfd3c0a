import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RANGES_PER_CLAUSE } from "../../../src/core/decision/constraint/kind.js";
import { checkClauseCount, formatClauses, parseConstraintText } from "../../../src/core/decision/constraints.js";
import { clauseLists, SEEDED } from "./rules.js";

/** What the canonical text shows of a reading, or its problems with the texts they point at. */
function canonical(text: string): string {
  const read = parseConstraintText(text);
  return read.ok ? formatClauses(read.value) : "problems";
}

function problemsOf(text: string): string[] {
  const read = parseConstraintText(text);
  return read.ok ? [] : read.error.map(({ code, span }) => `${code} [${text.slice(span?.start, span?.end)}]`);
}

describe("constraint clauses: what can be written, and its canonical form", () => {
  test.each([
    { text: "", form: "" },
    { text: "  ", form: "" },
    { text: "hours=9", form: "hours=9" },
    { text: "hours=0,6-8,22-5", form: "hours=0,6-8,22-5" },
    { text: "hours=07", form: "hours=7" },
    { text: "dow=1", form: "dow=MON" },
    { text: "dow=mon-Fri", form: "dow=MON-FRI" },
    { text: "dow=FRI-MON", form: "dow=FRI-MON" },
    { text: "dow=0,7", form: "dow=SUN,SUN" },
    { text: "dow=5-7", form: "dow=FRI-SUN" },
    { text: "dow=0-7", form: "dow=SUN-SAT" },
    { text: "dow=SUN-7", form: "dow=SUN-SAT" },
    { text: "dow=7-7", form: "dow=SUN" },
    { text: "dow=7-2", form: "dow=SUN-TUE" },
    { text: "dow=SAT-SUN", form: "dow=SAT-SUN" },
    { text: "dom=1,15,28-3", form: "dom=1,15,28-3" },
    { text: "months=JAN-mar,12", form: "months=1-3,12" },
    { text: "between=09:00-17:30", form: "between=09:00-17:30" },
    { text: "between=22:00-06:00", form: "between=22:00-06:00" },
    { text: "between=12:00-12:00", form: "between=12:00-12:00" },
    { text: "between=00:00-01:00,13:00-14:00", form: "between=00:00-01:00,13:00-14:00" },
    { text: "date=2026-02-28", form: "date=2026-02-28" },
    { text: "date=2026-02-28,2028-02-29", form: "date=2026-02-28,2028-02-29" },
    { text: "dates=2026-12-24..2026-12-31", form: "dates=2026-12-24..2026-12-31" },
    { text: "dates=2026-12-24", form: "date=2026-12-24" },
    { text: "dates=2026-12-24..2026-12-24", form: "date=2026-12-24" },
    { text: "dates=2026-01-01,2026-12-24..2026-12-31", form: "dates=2026-01-01,2026-12-24..2026-12-31" },
    { text: "dates=0001-01-01..9999-12-31", form: "dates=0001-01-01..9999-12-31" },
    { text: "calendar=x(2026-12-25)", form: "calendar=x(2026-12-25)" },
    {
      text: "calendar=x(2027-01-01, 2026-12-26,2026-12-25..2026-12-25)",
      form: "calendar=x(2026-12-25..2026-12-26,2027-01-01)",
    },
    {
      text: " calendar = x ( 2026-12-25 ) , y.z_1-2(2026-12-26) ",
      form: "calendar=x(2026-12-25);calendar=y.z_1-2(2026-12-26)",
    },
    { text: "dow=MON-FRI;between=00:00-06:00", form: "dow=MON-FRI;between=00:00-06:00" },
    { text: " dow = MON - FRI , SUN ; hours=9 ", form: "dow=MON-FRI,SUN;hours=9" },
    { text: "hours=9;hours=10", form: "hours=9;hours=10" },
  ])("$text reads as $form", ({ text, form }) => {
    expect(canonical(text)).toBe(form);
  });
});

describe("ERROR-MODEL: malformed constraint clauses are validation errors, each with its place", () => {
  test.each([
    { text: ";", problems: ["constraint-syntax []", "constraint-syntax []"] },
    { text: "hours=9;", problems: ["constraint-syntax []"] },
    { text: "hours", problems: ["constraint-syntax [hours]"] },
    { text: "=9", problems: ["constraint-syntax []"] },
    { text: "hours=", problems: ["constraint-syntax []"] },
    { text: "hour=9", problems: ["constraint-syntax [hour]"] },
    { text: "Hours=9", problems: ["constraint-syntax [Hours]"] },
    { text: "toString=9", problems: ["constraint-syntax [toString]"] },
    { text: "hours=24", problems: ["constraint-range [24]"] },
    { text: "hours=9-24", problems: ["constraint-range [24]"] },
    { text: "hours=-1", problems: ["constraint-syntax []"] },
    { text: "hours=1-2-3", problems: ["constraint-syntax [2-3]"] },
    { text: "hours=9.5", problems: ["constraint-syntax [9.5]"] },
    { text: "hours=*/2", problems: ["constraint-syntax [*/2]"] },
    { text: "hours=MON", problems: ["constraint-syntax [MON]"] },
    { text: "hours=99999999999999999999", problems: ["constraint-range [99999999999999999999]"] },
    { text: "hours=٩", problems: ["constraint-syntax [٩]"] },
    { text: "calendar=x", problems: ["calendar-unknown [x]"] },
    { text: "calendar=x(2026-12-25),y", problems: ["calendar-unknown [y]"] },
    { text: "calendar=", problems: ["constraint-syntax []"] },
    { text: "calendar=x,", problems: ["calendar-unknown [x]", "constraint-syntax []"] },
    { text: "calendar=a b(2026-12-25)", problems: ["constraint-syntax [a b]"] },
    { text: "calendar=x(2026-12-25", problems: ["constraint-syntax [2026-12-25]"] },
    { text: "calendar=x()", problems: ["constraint-syntax []"] },
    { text: "calendar=x(2026-12-25)y", problems: ["constraint-syntax [2026-12-25)y]"] },
    {
      text: "calendar=x(2026-13-25,2026-01-02..2026-01-01)",
      problems: ["constraint-range [2026-13-25]", "constraint-range [2026-01-02..2026-01-01]"],
    },
    { text: "dow=8", problems: ["constraint-range [8]"] },
    { text: "dow=monday", problems: ["constraint-syntax [monday]"] },
    { text: "dom=0", problems: ["constraint-range [0]"] },
    { text: "dom=32", problems: ["constraint-range [32]"] },
    { text: "months=0,13", problems: ["constraint-range [0]", "constraint-range [13]"] },
    { text: "between=9:00-10:00", problems: ["constraint-syntax [9:00]"] },
    { text: "between=09:00", problems: ["constraint-syntax [09:00]"] },
    { text: "between=00:00-24:00", problems: ["constraint-range [24:00]"] },
    { text: "between=09:60-10:00", problems: ["constraint-range [09:60]"] },
    { text: "date=2026-02-29", problems: ["constraint-range [2026-02-29]"] },
    { text: "date=2026-13-01", problems: ["constraint-range [2026-13-01]"] },
    { text: "date=2026-00-00", problems: ["constraint-range [2026-00-00]"] },
    { text: "date=26-01-01", problems: ["constraint-syntax [26-01-01]"] },
    { text: "date=2026-01-01..2026-01-02", problems: ["constraint-syntax [2026-01-01..2026-01-02]"] },
    { text: "dates=2026-01-02..2026-01-01", problems: ["constraint-range [2026-01-02..2026-01-01]"] },
    { text: "dates=2026-01-01-2026-01-02", problems: ["constraint-syntax [2026-01-01-2026-01-02]"] },
    {
      text: "dow=MON ; hours= 25 ,x; q=1",
      problems: ["constraint-range [25]", "constraint-syntax [x]", "constraint-syntax [q]"],
    },
  ])("$text", ({ text, problems }) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("64 clauses are allowed, more are not, over both lists of a job", () => {
    const text = (count: number) => Array.from({ length: count }, () => "hours=1").join(";");
    expect(problemsOf(text(64))).toEqual([]);
    expect(problemsOf(text(65))).toEqual([`limit-exceeded [${text(65)}]`]);
    const clauses = (count: number) => Array.from({ length: count }, () => ({ kind: "hours" as const, ranges: [] }));
    expect(checkClauseCount({ only: clauses(32), avoid: clauses(32) })).toBeNull();
    expect(checkClauseCount({ only: clauses(32), avoid: clauses(33) })?.code).toBe("limit-exceeded");
  });

  test("the values of one clause are limited", () => {
    const text = (count: number) => `hours=${Array.from({ length: count }, () => "1").join(",")}`;
    expect(problemsOf(text(RANGES_PER_CLAUSE))).toEqual([]);
    expect(problemsOf(text(RANGES_PER_CLAUSE + 1)).map((problem) => problem.slice(0, 14))).toEqual(["limit-exceeded"]);
  });
});

describe("reading and writing", () => {
  test("what is written is read back to the same clauses", () => {
    fc.assert(
      fc.property(clauseLists, (clauses) => {
        expect(parseConstraintText(formatClauses(clauses))).toEqual({ ok: true, value: clauses });
      }),
      { ...SEEDED, numRuns: 3000 },
    );
  });

  test("the canonical text is its own canonical text", () => {
    fc.assert(
      fc.property(clauseLists.map(formatClauses), (text) => {
        expect(canonical(text)).toBe(text);
      }),
      SEEDED,
    );
  });

  test("any text is read without a crash; problems point into it; what is accepted has a canonical form", () => {
    const token = fc.constantFrom(
      ..."hours dow dom months between date dates = , ; - .. : * / 0 7 12 24 MON sun Jan 09:00 23:59 2026-02-29 9999-12-31".split(
        " ",
      ),
      " ",
      "\t",
      "\u{1F4BE}",
    );
    const texts = fc.oneof(
      fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join("")),
      fc.string({ unit: "binary", maxLength: 200 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = parseConstraintText(text);
        const places = read.ok ? [] : read.error.map(({ span }) => span);
        expect(
          places.every((place) => place && 0 <= place.start && place.start <= place.end && place.end <= text.length),
        ).toBe(true);
        expect(read.ok ? canonical(formatClauses(read.value)) : "").toBe(read.ok ? formatClauses(read.value) : "");
      }),
      { ...SEEDED, numRuns: 30_000 },
    );
  });

  test("texts far beyond every limit end in a problem, not in a long wait", () => {
    const texts = [
      ";".repeat(1e6),
      `hours=${",".repeat(1e6)}`,
      "=".repeat(1e6),
      `hours=${"1".repeat(1e6)}`,
      `${" ".repeat(1e6)}x`,
    ];
    expect(texts.map((text) => parseConstraintText(text).ok)).toEqual(texts.map(() => false));
  });
});
