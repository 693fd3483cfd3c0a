/** The rule of a job at rest: shared by all but its schedule, and still the rule that the whole text stands for. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import type { CompiledRule } from "../../../src/core/decision/model.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { canonicalParts } from "../../../src/core/restart/cut.js";
import { restingRule } from "../../../src/core/restart/resting-rule.js";
import { compiledFromTail } from "../../../src/core/restart/rule-templates.js";
import { DAY_MS } from "../../../src/core/time/instant.js";
import { rawJobs } from "../../support/raw-jobs.js";

const VERSIONS = { tzVersion: "test", engineVersion: "test" };
const NOW = Date.UTC(2026, 2, 28);

const minute = fc.integer({ min: 0, max: 59 });
const hour = fc.integer({ min: 0, max: 23 });
/** Schedules by the thousand, as jobs have them; every two periods lie a day or more apart. */
const schedule = fc
  .tuple(minute, hour, fc.constantFrom("* * *", "* * MON-FRI", "1 * *", "29 2 *", "24 12 *"))
  .map(([m, h, days]) => `${m} ${h} ${days}`);

const definitions: fc.Arbitrary<JobDefinition> = fc
  .tuple(rawJobs, schedule, fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "+05:30"))
  .map(([raw, text, timezone]) => {
    const read = readJobDefinition({ ...raw, schedule: text, timezone, window: { duration: "10m" } });
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    return read.value;
  });

function tailOf(definition: JobDefinition): string {
  return canonicalParts(canonicalDefinitionText(definition), definition.identity)?.ruleTail ?? "";
}

function record(rule: CompiledRule | null, nominalAt: number): unknown {
  return rule === null ? null : toDecisionRecord(rule, decide(rule, nominalAt), VERSIONS);
}

describe("the rule of a job at rest", () => {
  test("S3, S5: has the periods and decisions of the definition itself, record and all", () => {
    fc.assert(
      fc.property(definitions, fc.integer({ min: 0, max: 1_000 }), (definition, days) => {
        const own = compileRule(definition);
        const rule = restingRule(definition.identity, tailOf(definition));
        const at = own.schedule.next(NOW + days * DAY_MS) ?? 0;
        expect(rule?.schedule.next(NOW + days * DAY_MS)).toBe(at);
        expect(rule?.schedule.previous(NOW + days * DAY_MS)).toBe(own.schedule.previous(NOW + days * DAY_MS));
        expect(record(rule, at)).toEqual(record(own, at));
        expect(rule?.rule).toEqual(compiledFromTail(definition.identity, tailOf(definition))?.rule);
      }),
      { numRuns: 1_000, seed: 20261118 },
    );
  });

  test.each<[string, string, string, string]>([
    ["as it is written", "0 0 * * *", "1h", "used"],
    ["S11: a window as long as the gap", "0 * * * *", "1h", "used"],
    ["S11: a window longer than the gap", "*/30 * * * *", "1h", "left to the full reader"],
    ["blanks around the schedule", " 0 0 * * *", "1h", "left to the full reader"],
    ["more behind the schedule", "0 0 * * *|x", "1h", "left to the full reader"],
    ["an escape in the schedule", "0 0 * * *\\", "1h", "left to the full reader"],
    ["no schedule", "99 0 * * *", "1h", "left to the full reader"],
    ["a schedule that never occurs", "0 0 30 2 *", "1h", "left to the full reader"],
    ["nothing", "", "1h", "left to the full reader"],
    ["a window that would be written differently now", "0 0 * * *", "60m", "left to the full reader"],
  ])("%s", (_, text, duration, wanted) => {
    const rest = '"distribution":{"name":"uniform"},"seed":{"strategy":"stable","salt":""}';
    const place = '"timezone":"UTC","dst":{"gap":"skip","overlap":"both"}';
    const tail = `"schedule":"${text}",${place},"window":{"mode":"after","duration":"${duration}"},${rest}`;
    const fates = [restingRule, compiledFromTail].map((read) => read("a", tail));
    expect(fates.map((rule) => (rule === null ? "left to the full reader" : "used"))).toEqual([wanted, wanted]);
  });

  test.each([
    ["", "no text"],
    ["x", "another text"],
    ['"schedule":"0 0 * * *"', "a schedule alone"],
  ])("%j is no rule: %s", (tail) => {
    expect(restingRule("a", tail)).toBeNull();
  });
});
