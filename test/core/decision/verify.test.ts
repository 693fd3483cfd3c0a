import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import type { DecisionRecord } from "../../../src/core/decision/model.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import { verifyRecord } from "../../../src/core/decision/verify.js";
import { at, clausesOf, nominals, PLAIN_RULE, rules, SEEDED } from "./rules.js";

const HERE = { tzVersion: "2026c", engineVersion: "0.1.0" };

const COMPILED = compileRule({
  ...PLAIN_RULE,
  schedule: "30 2 * * *",
  timezone: "Europe/Berlin",
  distribution: { name: "normal", mu: "mid", sigmaMs: null },
  seed: { strategy: "daily", salt: "s" },
  constraints: { only: clausesOf("hours=2-3"), avoid: clausesOf("date=2026-12-24") },
});
const RECORD: DecisionRecord = toDecisionRecord(COMPILED, decide(COMPILED, at("2026-03-02T01:30:00Z")), HERE);

function findings(record: unknown): string[] {
  return verifyRecord(record, HERE).differences.map(({ kind, field }) => `${kind} ${field}`);
}

describe("SPEC observability: a record reproduces its decision off-line", () => {
  test("a record that was not touched is right, and recomputed to itself", () => {
    expect(verifyRecord(RECORD, HERE)).toEqual({ ok: true, differences: [], notes: [], recomputed: RECORD });
  });

  test("any decision of any rule is verified from its JSON alone", () => {
    fc.assert(
      fc.property(rules, nominals, (rule, nominalAt) => {
        const compiled = compileRule(rule);
        const record = toDecisionRecord(compiled, decide(compiled, nominalAt), HERE);
        expect(verifyRecord(JSON.parse(JSON.stringify(record)), HERE)).toMatchObject({
          ok: true,
          notes: [],
          recomputed: record,
        });
      }),
      { ...SEEDED, numRuns: 2000 },
    );
  });

  test("a difference names the field, what is recorded and what it should be", () => {
    expect(verifyRecord({ ...RECORD, chosen_time: "2026-03-02T01:31:00Z" }, HERE)).toMatchObject({
      ok: false,
      differences: [
        {
          field: "chosen_time",
          kind: "different",
          recorded: "2026-03-02T01:31:00Z",
          expected: RECORD.chosen_time,
          message: `chosen_time is "2026-03-02T01:31:00Z", it should be "${RECORD.chosen_time}"`,
        },
      ],
      recomputed: RECORD,
    });
  });

  test.each([
    { change: { period_id: "2026-03-02T01:31:00Z" }, found: ["different period_id"] },
    { change: { period_key: "2026-03-03" }, found: ["different period_key"] },
    { change: { window_start: "" }, found: ["different window_start"] },
    { change: { window_end: 0 }, found: ["different window_end"] },
    { change: { chosen_time: "" }, found: ["different chosen_time"] },
    { change: { seed_hash: RECORD.seed_hash.toUpperCase() }, found: ["different seed_hash"] },
    { change: { attempts: "1" }, found: ["different attempts"] },
    { change: { unschedulable: true }, found: ["different unschedulable"] },
    { change: { reason: "bad luck" }, found: ["different reason"] },
    { change: { identity: "prod/other" }, found: ["different chosen_time", "different seed_hash"] },
    { change: { salt: "t" }, found: ["different chosen_time", "different seed_hash"] },
    { change: { dist_params: { mu: "mid", sigma: "1m" } }, found: ["different chosen_time"] },
    { change: { window_duration: "2h" }, found: ["different window_end", "different chosen_time"] },
    { change: { identity: "crontab:root:0123456789ab" }, found: ["different chosen_time", "different seed_hash"] },
    { change: { timezone: "Europe/Paris" }, found: [] },
    { change: { extra: { future: true }, dst: { ...RECORD.dst, more: 1 } }, found: [] },
  ])("$change: $found", ({ change, found }) => {
    expect(findings({ ...RECORD, ...change })).toEqual(found);
  });
});

describe("a nominal time must be one of the schedule", () => {
  test.each([
    { change: { nominal_time: "2026-03-02T01:31:00Z" }, before: "2026-03-02T01:30:00Z" },
    { change: { nominal_time: "2026-03-02T01:30:00.500Z" }, before: "2026-03-02T01:30:00Z" },
    { change: { timezone: "UTC" }, before: "2026-03-01T02:30:00Z" },
    { change: { schedule: "30 2 1 * *" }, before: "2026-03-01T01:30:00Z" },
    { change: { nominal_time: "2026-03-29T01:00:00Z" }, before: "2026-03-28T01:30:00Z" },
  ])("$change", ({ change, before }) => {
    const { ok, differences, recomputed } = verifyRecord({ ...RECORD, ...change }, HERE);
    expect({ ok, recomputed }).toEqual({ ok: false, recomputed: null });
    expect(differences).toMatchObject([{ field: "nominal_time", kind: "not-nominal", expected: before }]);
  });

  test("S3: the record's own clock-change rule decides", () => {
    const next = compileRule({ ...COMPILED.rule, dst: { gap: "next", overlap: "both" } });
    const record = toDecisionRecord(next, decide(next, at("2026-03-29T01:00:00Z")), HERE);
    expect(findings(record)).toEqual([]);
    expect(findings({ ...record, dst: { gap: "skip", overlap: "both" } })).toEqual(["not-nominal nominal_time"]);
  });
});

describe("records that cannot be recomputed", () => {
  const without = (field: string) => Object.fromEntries(Object.entries(RECORD).filter(([key]) => key !== field));

  test.each(Object.keys(RECORD))("without %s: that is what is named", (field) => {
    expect(new Set(verifyRecord(without(field), HERE).differences.map(({ kind }) => kind))).toEqual(
      new Set(["missing"]),
    );
    expect(findings(without(field)).every((finding) => finding.startsWith(`missing ${field}`))).toBe(true);
  });

  test.each([
    { change: { identity: "a\nb" }, found: ["unreadable identity"] },
    { change: { identity: 7 }, found: ["unreadable identity"] },
    { change: { salt: "a\nb" }, found: ["unreadable salt"] },
    { change: { schedule: "61 * * * *" }, found: ["unreadable schedule"] },
    { change: { timezone: "Mars/Olympus" }, found: ["unreadable timezone"] },
    { change: { nominal_time: "yesterday" }, found: ["unreadable nominal_time"] },
    { change: { nominal_time: "9999-01-01T00:00:00Z" }, found: ["unreadable nominal_time"] },
    { change: { window_mode: "during" }, found: ["unreadable window_mode"] },
    { change: { window_duration: "soon" }, found: ["unreadable window_duration"] },
    { change: { window_duration: "2000000h" }, found: ["unreadable window_duration"] },
    { change: { distribution: "gauss" }, found: ["unreadable distribution"] },
    { change: { dist_params: [] }, found: ["unreadable dist_params"] },
    {
      change: { dist_params: { mu: "mid", sigma: "0s", x: 1 } },
      found: ["unreadable dist_params.x", "unreadable dist_params.sigma"],
    },
    { change: { seed_strategy: "hourly" }, found: ["unreadable seed_strategy"] },
    {
      change: { constraints_applied: { only: "hours=25", avoid: "" } },
      found: ["unreadable constraints_applied.only"],
    },
    {
      change: { constraints_applied: "none" },
      found: ["missing constraints_applied.only", "missing constraints_applied.avoid"],
    },
    { change: { dst: null }, found: ["missing dst.gap", "missing dst.overlap"] },
    {
      change: { salt: 1, schedule: "x", dst: { gap: "jump", overlap: "both" } },
      found: ["unreadable schedule", "unreadable dst.gap", "unreadable salt"],
    },
    { change: { tz_version: 2026 }, found: ["unreadable tz_version"] },
  ])("$change: $found", ({ change, found }) => {
    expect(findings({ ...RECORD, ...change })).toEqual(found);
  });

  test.each([null, undefined, 1, "{}", [], [RECORD]])("%j is no record", (value) => {
    expect(findings(value)).toEqual(["unreadable "]);
  });

  test("anything else is answered, never thrown at the caller", () => {
    const fields = fc.constantFrom(...Object.keys(RECORD));
    const odd = fc.oneof(
      fc.anything(),
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.constantFrom("0s", "-1s", "", "@daily"),
    );
    fc.assert(
      fc.property(fc.dictionary(fields, odd, { maxKeys: 4 }), (change) => {
        expect(typeof verifyRecord({ ...RECORD, ...change }, HERE).ok).toBe("boolean");
      }),
      { ...SEEDED, numRuns: 3000 },
    );
  });
});

describe("notes", () => {
  test("S5: other versions explain a difference and are none themselves", () => {
    const { ok, notes } = verifyRecord({ ...RECORD, tz_version: "2025a", engine_version: "0.0.9" }, HERE);
    expect(ok).toBe(true);
    expect(notes).toEqual([
      "decided with time zone data 2025a, verified with 2026c",
      "decided with Kron 0.0.9, verified with 0.1.0",
    ]);
  });

  test("S5: also when the record cannot be recomputed", () => {
    const { ok, notes } = verifyRecord({ ...RECORD, tz_version: "2025a", schedule: "x" }, HERE);
    expect({ ok, notes }).toEqual({ ok: false, notes: ["decided with time zone data 2025a, verified with 2026c"] });
  });

  test("another spelling of the same input is right, with a note", () => {
    const spelled = {
      ...RECORD,
      window_duration: "60m",
      timezone: "europe/berlin",
      constraints_applied: { only: "hours=02-03", avoid: "dates=2026-12-24" },
    };
    const { ok, notes } = verifyRecord(spelled, HERE);
    expect(ok).toBe(true);
    expect(notes).toEqual([
      'window_duration is not in canonical form, which is "1h"',
      'timezone is not in canonical form, which is "Europe/Berlin"',
      'constraints_applied is not in canonical form, which is {"only":"hours=2-3","avoid":"date=2026-12-24"}',
    ]);
  });
});
