/** Calendars where decisions are made: judged by the zone's day, carried by the record, named by explanations. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/base/limits.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { mergedRanges } from "../../../src/core/decision/constraint/kind.js";
import { briefClauses, compileConstraints, rejectionOf } from "../../../src/core/decision/constraints.js";
import { decide } from "../../../src/core/decision/decide.js";
import { explainDecision } from "../../../src/core/decision/explain.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import type { Clause } from "../../../src/core/decision/rule.js";
import { verifyRecord } from "../../../src/core/decision/verify.js";
import { zoneOf } from "../../../src/core/time/zone.js";
import { requireOk } from "../../support/results.js";
import { at, clausesOf, PLAIN_RULE, SEEDED } from "./rules.js";

const HERE = { tzVersion: "2026c", engineVersion: "0.1.0" };
const DAY_MS = 86_400_000;

function isoDay(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}

/** The date that a clock on the wall of the zone shows, as the platform says. */
function wallDate(timezone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (instant) => format.format(instant);
}

describe("judged by the day of the job's zone", () => {
  test.each(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"])(
    "%s: every candidate as a list of dates and the platform's clock say",
    (timezone) => {
      const zone = requireOk(zoneOf(timezone));
      const dateOf = wallDate(timezone);
      const from = at("2026-01-01T00:00:00Z") / DAY_MS;
      const days = fc.uniqueArray(fc.integer({ min: from, max: from + 400 }), { minLength: 1, maxLength: 60 });
      const instants = fc.array(fc.integer({ min: from * 1440, max: (from + 400) * 1440 }), {
        minLength: 20,
        maxLength: 40,
      });
      fc.assert(
        fc.property(days, instants, (list, minutes) => {
          const dates = new Set(list.map(isoDay));
          const clauses = clausesOf(`calendar=x(${[...dates].join(",")})`);
          const only = compileConstraints({ only: clauses, avoid: [] }, zone);
          const avoid = compileConstraints({ only: [], avoid: clauses }, zone);
          for (const instant of minutes.map((minute) => minute * 60_000)) {
            const isInside = dates.has(dateOf(instant));
            expect([only?.(instant), avoid?.(instant)]).toEqual([isInside, !isInside]);
            expect(rejectionOf({ only: clauses, avoid: [] }, zone, instant) === null).toBe(isInside);
            expect(rejectionOf({ only: [], avoid: clauses }, zone, instant) === null).toBe(!isInside);
          }
        }),
        { ...SEEDED, numRuns: 60 },
      );
    },
  );

  test("several calendars are a union, and the edges of their days are midnights of the zone", () => {
    const zone = requireOk(zoneOf("Europe/Berlin"));
    const only = clausesOf("calendar=a(2026-12-25),b(2026-12-26);calendar=c(2026-12-28)");
    const accepts = compileConstraints({ only, avoid: [] }, zone);
    const edges = [
      "2026-12-24T22:59:59Z",
      "2026-12-24T23:00:00Z",
      "2026-12-26T22:59:59Z",
      "2026-12-26T23:00:00Z",
      "2026-12-28T12:00:00Z",
    ];
    expect(edges.map((edge) => accepts?.(at(edge)))).toEqual([false, true, true, false, true]);
  });
});

describe("records and explanations", () => {
  const clause = clausesOf("calendar=de-holidays(2026-12-25..2026-12-26,2027-01-01)");
  const rule = {
    ...PLAIN_RULE,
    schedule: "0 12 * * *",
    timezone: "Europe/Berlin",
    window: { mode: "after" as const, durationMs: 24 * 3_600_000 },
    constraints: { only: [], avoid: clause },
  };
  const compiled = compileRule(rule);
  const nominalAt = at("2026-12-24T11:00:00Z");

  test("a record carries the dates, and is verified from its JSON alone", () => {
    const record = toDecisionRecord(compiled, decide(compiled, nominalAt), HERE);
    expect(record.constraints_applied).toEqual({
      only: "",
      avoid: "calendar=de-holidays(2026-12-25..2026-12-26,2027-01-01)",
    });
    const json = JSON.stringify(record);
    expect(verifyRecord(JSON.parse(json), HERE)).toMatchObject({ ok: true, recomputed: record });
    const other = json.replace("2026-12-25..2026-12-26", "2026-12-24..2026-12-26");
    expect(verifyRecord(JSON.parse(other), HERE).ok).toBe(false);
    const nameless = json.replace("(2026-12-25..2026-12-26,2027-01-01)", "");
    expect(verifyRecord(JSON.parse(nameless), HERE).differences[0]).toMatchObject({
      field: "constraints_applied.avoid",
      kind: "unreadable",
    });
  });

  test("a calendar of the largest size is verified too", () => {
    const ranges = mergedRanges(
      Array.from({ length: LIMITS.calendarDates }, (_, n) => ({ from: 20_000 + 3 * n, to: 20_001 + 3 * n })),
    );
    const avoid: readonly Clause[] = [{ kind: "calendar", name: "x", ranges }];
    const large = compileRule({ ...rule, constraints: { only: [], avoid } });
    const record = toDecisionRecord(large, decide(large, nominalAt), HERE);
    expect(verifyRecord(JSON.parse(JSON.stringify(record)), HERE)).toMatchObject({ ok: true, recomputed: record });
  });

  test("explain names the calendar that rejected a candidate, and the days of it", () => {
    const rejected = explainDecision(compiled, nominalAt).candidates.flatMap(({ rejectedBy }) =>
      rejectedBy === null ? [] : [rejectedBy],
    );
    expect(rejected.length).toBeGreaterThan(0);
    for (const rejection of rejected)
      expect(rejection).toEqual({ set: "avoid", clauses: "calendar=de-holidays(2026-12-25..2026-12-26)" });
  });

  test("people see of a long calendar what it is called and how far it goes", () => {
    const long = clausesOf(`calendar=x(${[1, 3, 5, 7, 9].map((day) => `2026-01-0${day}`).join(",")})`);
    expect(briefClauses(long)).toBe("calendar=x(5 days, 2026-01-01 to 2026-01-09)");
    expect(briefClauses(clause)).toBe("calendar=de-holidays(2026-12-25..2026-12-26,2027-01-01)");
  });
});
