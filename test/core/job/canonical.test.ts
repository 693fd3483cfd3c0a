import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText, readJobDefinition } from "../../../src/core/job/schema.js";
import { canonicalParts } from "../../../src/core/restart/cut.js";
import { compiledFromTail } from "../../../src/core/restart/rule-templates.js";
import { rawJobs } from "../../support/raw-jobs.js";

const OPTIONS = { mayUseReservedPrefix: true } as const;
/** Texts that look like the marks by which a canonical text is taken apart. */
const TRICKY = ['x","schedule":"y', ',"policy":{', '"', "\\", "é\u2028", '","policy":{"suspend":true', "crontab:a:b"];

const definitions: fc.Arbitrary<JobDefinition> = fc
  .tuple(rawJobs, fc.option(fc.constantFrom(...TRICKY)), fc.option(fc.constantFrom(...TRICKY)))
  .map(([raw, identity, salt]) => {
    const seed = salt === null ? raw.seed : { ...raw.seed, salt };
    const read = readJobDefinition(
      { ...raw, ...(identity === null ? {} : { identity }), ...(seed === undefined ? {} : { seed }) },
      undefined,
      OPTIONS,
    );
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    return read.value;
  });

describe("canonical definition texts", () => {
  test("are read without their shape being checked, to what the full reader gives", () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const text = canonicalDefinitionText(definition);
        expect(definitionFromCanonical(text)).toEqual(definition);
        expect(readJobDefinition(JSON.parse(text), undefined, OPTIONS)).toEqual({ ok: true, value: definition });
        expect(isFrozen(definitionFromCanonical(text))).toBe(true);
      }),
      { numRuns: 2_000, seed: 20261118 },
    );
  });

  test("are taken apart without being parsed: rule, common part of the rule, suspension", () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const text = canonicalDefinitionText(definition);
        const parts = canonicalParts(text, definition.identity);
        const needsEscapes = JSON.stringify(definition.identity) !== `"${definition.identity}"`;
        const ruleText = canonicalRuleText(definition);
        const ruleTail = ruleText.slice(ruleText.indexOf('","schedule":"') + 2, -1);
        const wanted = { ruleText, ruleTail, isSuspended: definition.policy.suspend };
        expect(parts).toEqual(needsEscapes ? null : wanted);
      }),
      { numRuns: 2_000, seed: 20261119 },
    );
  });

  test("S5: a rule compiled from the common part decides as the rule itself, record and all", () => {
    const versions = { tzVersion: "test", engineVersion: "test" };
    fc.assert(
      fc.property(definitions, fc.integer({ min: 0, max: 100_000 }), (definition, day) => {
        const parts = canonicalParts(canonicalDefinitionText(definition), definition.identity);
        const own = compileRule(definition);
        const common = parts === null ? own : compiledFromTail(definition.identity, parts.ruleTail);
        const nominalAt = own.schedule.next(day * 10_000_000) ?? 0;
        const record = (it: typeof own | null) =>
          it === null ? null : toDecisionRecord(it, decide(it, nominalAt), versions);
        expect(common?.schedule.next(day * 10_000_000)).toBe(nominalAt);
        expect(record(common)).toEqual(record(own));
      }),
      { numRuns: 500, seed: 20261120 },
    );
  });

  test("a common part that would be written differently now is not used", () => {
    const tail = '"schedule":"0 0 * * *","timezone":"UTC","dst":{"gap":"skip","overlap":"both"}';
    const rest = '"distribution":{"name":"uniform"},"seed":{"strategy":"stable","salt":""}';
    const whole = (duration: string): string => `${tail},"window":{"mode":"after","duration":"${duration}"},${rest}`;
    expect(compiledFromTail("a", whole("1m"))).not.toBeNull();
    expect([whole("60s"), whole("1m").slice(1), "", "x", `${whole("1m")},"more":1`].map(isUsed)).toEqual(
      Array(5).fill(false),
    );
  });
});

function isUsed(tail: string): boolean {
  return compiledFromTail("a", tail) !== null;
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}
