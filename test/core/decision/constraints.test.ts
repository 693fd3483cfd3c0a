import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileConstraints, rejectionOf } from "../../../src/core/decision/constraints.js";
import type { Zone } from "../../../src/core/time/zone.js";
import { zoneOf } from "../../../src/core/time/zone.js";
import { at, clauseLists, clausesOf, nominals, SEEDED } from "./rules.js";

function zone(id: string): Zone {
  const found = zoneOf(id);
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

function isAccepted(only: string, avoid: string, timezone: string, candidate: string): boolean {
  const accepts = compileConstraints({ only: clausesOf(only), avoid: clausesOf(avoid) }, zone(timezone));
  return accepts === null || accepts(at(candidate));
}

describe("SPEC constraint semantics: only", () => {
  test.each([
    { only: "hours=10", at: "2026-02-24T10:59:59Z", accepted: true },
    { only: "hours=10", at: "2026-02-24T11:00:00Z", accepted: false },
    { only: "hours=8-10", at: "2026-02-24T08:00:00Z", accepted: true },
    { only: "hours=22-6", at: "2026-02-24T23:00:00Z", accepted: true },
    { only: "hours=22-6", at: "2026-02-24T06:59:59Z", accepted: true },
    { only: "hours=22-6", at: "2026-02-24T07:00:00Z", accepted: false },
    { only: "hours=3,5", at: "2026-02-24T04:00:00Z", accepted: false },
    { only: "dow=MON", at: "2026-03-02T12:00:00Z", accepted: true },
    { only: "dow=FRI-MON", at: "2026-03-01T12:00:00Z", accepted: true },
    { only: "dow=FRI-MON", at: "2026-03-03T12:00:00Z", accepted: false },
    { only: "dow=0-7", at: "2026-03-03T12:00:00Z", accepted: true },
    { only: "dom=28-3", at: "2026-02-28T12:00:00Z", accepted: true },
    { only: "dom=28-3", at: "2026-03-03T12:00:00Z", accepted: true },
    { only: "dom=28-3", at: "2026-03-04T12:00:00Z", accepted: false },
    { only: "months=11-2", at: "2026-02-28T12:00:00Z", accepted: true },
    { only: "months=11-2", at: "2026-03-01T12:00:00Z", accepted: false },
    { only: "between=18:59-19:00", at: "2026-03-01T18:58:59Z", accepted: false },
    { only: "between=18:59-19:00", at: "2026-03-01T18:59:00Z", accepted: true },
    { only: "between=18:59-19:00", at: "2026-03-01T19:00:59Z", accepted: true },
    { only: "between=18:59-19:00", at: "2026-03-01T19:01:00Z", accepted: false },
    { only: "between=22:00-06:00", at: "2026-03-01T23:59:59Z", accepted: true },
    { only: "between=22:00-06:00", at: "2026-03-01T00:00:00Z", accepted: true },
    { only: "between=22:00-06:00", at: "2026-03-01T06:00:59Z", accepted: true },
    { only: "between=22:00-06:00", at: "2026-03-01T06:01:00Z", accepted: false },
    { only: "between=12:00-11:59", at: "2026-03-01T11:59:00Z", accepted: true },
    { only: "date=2026-03-01", at: "2026-03-01T23:59:59Z", accepted: true },
    { only: "date=2026-03-01", at: "2026-03-02T00:00:00Z", accepted: false },
    { only: "dates=2026-03-01..2026-03-03", at: "2026-03-03T23:59:59Z", accepted: true },
    { only: "dates=2026-03-01..2026-03-03", at: "2026-03-04T00:00:00Z", accepted: false },
  ])("$only at $at: $accepted", ({ only, at: candidate, accepted }) => {
    expect(isAccepted(only, "", "UTC", candidate)).toBe(accepted);
  });
});

describe("SPEC constraint semantics: combinations", () => {
  test.each([
    { name: "every kind must match", only: "dow=SUN;hours=9", avoid: "", at: "2026-03-01T09:00:00Z", accepted: true },
    { name: "one kind does not", only: "dow=SUN;hours=9", avoid: "", at: "2026-03-01T10:00:00Z", accepted: false },
    {
      name: "the other kind does not",
      only: "dow=MON;hours=9",
      avoid: "",
      at: "2026-03-01T09:00:00Z",
      accepted: false,
    },
    {
      name: "clauses of a kind are a union",
      only: "hours=9;hours=10",
      avoid: "",
      at: "2026-03-01T10:00:00Z",
      accepted: true,
    },
    {
      name: "hours and between are two kinds",
      only: "hours=9;between=10:00-11:00",
      avoid: "",
      at: "2026-03-01T10:00:00Z",
      accepted: false,
    },
    {
      name: "date and dates are one kind",
      only: "date=2026-01-01;dates=2026-03-01..2026-03-02",
      avoid: "",
      at: "2026-03-01T10:00:00Z",
      accepted: true,
    },
    {
      name: "avoid: any match rejects",
      only: "",
      avoid: "dow=SUN;hours=3",
      at: "2026-03-01T10:00:00Z",
      accepted: false,
    },
    {
      name: "avoid: the other match rejects",
      only: "",
      avoid: "dow=MON;hours=10",
      at: "2026-03-01T10:00:00Z",
      accepted: false,
    },
    { name: "avoid: no match accepts", only: "", avoid: "dow=MON;hours=3", at: "2026-03-01T10:00:00Z", accepted: true },
    { name: "avoid wins over only", only: "hours=10", avoid: "dow=SUN", at: "2026-03-01T10:00:00Z", accepted: false },
    { name: "no constraints", only: "", avoid: "", at: "2026-03-01T10:00:00Z", accepted: true },
  ])("$name", ({ only, avoid, at: candidate, accepted }) => {
    expect(isAccepted(only, avoid, "UTC", candidate)).toBe(accepted);
  });

  test("a range over midnight is judged on the candidate's own date, not on the evening's", () => {
    const only = "dow=FRI;between=22:00-06:00";
    const hours = ["2026-03-06T00:30:00Z", "2026-03-06T22:30:00Z", "2026-03-07T00:30:00Z", "2026-03-05T22:30:00Z"];
    expect(hours.map((candidate) => isAccepted(only, "", "UTC", candidate))).toEqual([true, true, false, false]);
  });
});

describe("SPEC: constraints are evaluated in the schedule's zone", () => {
  test.each([
    { only: "hours=9", zone: "Europe/Berlin", at: "2026-03-01T08:30:00Z", accepted: true },
    { only: "hours=9", zone: "Europe/Berlin", at: "2026-07-01T08:30:00Z", accepted: false },
    { only: "between=03:00-03:10", zone: "Europe/Berlin", at: "2026-03-29T01:05:00Z", accepted: true },
    { only: "between=02:00-02:59", zone: "Europe/Berlin", at: "2026-03-29T01:05:00Z", accepted: false },
    { only: "between=02:30-02:30", zone: "Europe/Berlin", at: "2026-10-25T00:30:00Z", accepted: true },
    { only: "between=02:30-02:30", zone: "Europe/Berlin", at: "2026-10-25T01:30:00Z", accepted: true },
    { only: "between=02:00-02:00", zone: "Australia/Lord_Howe", at: "2025-10-04T15:30:00Z", accepted: false },
    { only: "between=02:30-02:30", zone: "Australia/Lord_Howe", at: "2025-10-04T15:30:00Z", accepted: true },
    { only: "date=2011-12-30", zone: "Pacific/Apia", at: "2011-12-30T10:00:00Z", accepted: false },
    { only: "date=2011-12-31", zone: "Pacific/Apia", at: "2011-12-30T10:00:00Z", accepted: true },
    { only: "dow=SAT", zone: "America/New_York", at: "2026-03-01T04:59:59Z", accepted: true },
    { only: "months=2;dom=28", zone: "America/New_York", at: "2026-03-01T04:59:59Z", accepted: true },
    { only: "between=05:45-05:45", zone: "Asia/Kathmandu", at: "2026-03-01T00:00:00Z", accepted: true },
    { only: "date=1969-12-31", zone: "America/New_York", at: "1970-01-01T00:00:00Z", accepted: true },
  ])("$only in $zone at $at: $accepted", ({ only, zone: timezone, at: candidate, accepted }) => {
    expect(isAccepted(only, "", timezone, candidate)).toBe(accepted);
  });
});

describe("rejections are explained", () => {
  test.each([
    { only: "dow=MON", avoid: "", rejection: { set: "only", clauses: "dow=MON" } },
    { only: "hours=10;hours=3;hours=4-5", avoid: "", rejection: null },
    { only: "hours=3;dow=SUN;hours=4-5", avoid: "hours=10", rejection: { set: "only", clauses: "hours=3;hours=4-5" } },
    { only: "", avoid: "dow=MON;hours=9-11;dow=SUN", rejection: { set: "avoid", clauses: "hours=9-11" } },
    { only: "hours=10", avoid: "hours=9", rejection: null },
  ])("only $only, avoid $avoid on a Sunday at 10", ({ only, avoid, rejection }) => {
    const constraints = { only: clausesOf(only), avoid: clausesOf(avoid) };
    expect(rejectionOf(constraints, zone("UTC"), at("2026-03-01T10:00:00Z"))).toEqual(rejection);
  });

  test("a candidate is accepted exactly when there is no reason against it", () => {
    const zones = fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu");
    fc.assert(
      fc.property(clauseLists, clauseLists, zones, nominals, (only, avoid, timezone, candidateAt) => {
        const accepts = compileConstraints({ only, avoid }, zone(timezone));
        const rejection = rejectionOf({ only, avoid }, zone(timezone), candidateAt);
        expect(accepts === null || accepts(candidateAt)).toBe(rejection === null);
      }),
      { ...SEEDED, numRuns: 3000 },
    );
  });
});
