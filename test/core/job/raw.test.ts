import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalDefinitionText,
  canonicalRuleText,
  definitionToRaw,
  readJobDefinition,
} from "../../../src/core/job/schema.js";
import { rawJobs } from "../../support/raw-jobs.js";
import { requireOk } from "../../support/results.js";

const SEED = { seed: 20261118, numRuns: 500 };

describe("definitions and what a person would write", () => {
  test("reading what was written back gives the same definition", () => {
    fc.assert(
      fc.property(rawJobs, (raw) => {
        const definition = requireOk(readJobDefinition(raw));
        expect(requireOk(readJobDefinition(definitionToRaw(definition)))).toEqual(definition);
      }),
      SEED,
    );
  });

  test("definitions are plain JSON data", () => {
    fc.assert(
      fc.property(rawJobs, (raw) => {
        const definition = requireOk(readJobDefinition(raw));
        expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
      }),
      SEED,
    );
  });

  test("the canonical text does not depend on the order in which fields were written", () => {
    fc.assert(
      fc.property(rawJobs, (raw) => {
        const turned = reversed(raw);
        expect(Object.keys(turned as object)).not.toEqual(Object.keys(raw));
        expect(textOf(turned)).toBe(textOf(raw));
      }),
      SEED,
    );
  });

  test("the canonical text is spelled out, whatever was left to defaults", () => {
    expect(textOf({ identity: "a", schedule: "@daily", command: ["x", "y z"] })).toBe(
      '{"identity":"a","schedule":"@daily","timezone":"UTC","dst":{"gap":"skip","overlap":"both"},' +
        '"window":{"mode":"after","duration":"0s"},"distribution":{"name":"uniform"},' +
        '"seed":{"strategy":"stable","salt":""},' +
        '"policy":{"concurrency":"allow","deadline":"0s","suspend":false},' +
        '"command":["x","y z"],"shell":false,' +
        '"output":{"to":"file","max":"10MB","keep":10,"on_excess":"drop-middle"}}',
    );
  });

  const SAME = { identity: "a", schedule: "@daily", command: ["x"] };
  const changes: readonly [title: string, more: object, isOfRule: boolean][] = [
    ["S14: schedule", { schedule: "@hourly" }, true],
    ["S14: zone", { timezone: "Asia/Tokyo" }, true],
    ["S14: window", { window: { duration: "1s" } }, true],
    ["S14: seed", { seed: { strategy: "daily" } }, true],
    ["S14: distribution", { distribution: "skewEarly" }, true],
    ["S14: constraints", { constraints: { avoid: "dow=SUN" } }, true],
    ["dst", { dst: { gap: "next" } }, true],
    ["policy", { policy: { deadline: "1s" } }, false],
    ["command", { command: ["y"] }, false],
    ["environment", { env: { A: "1" } }, false],
    ["description", { description: "d" }, false],
  ];
  test.each(changes)("a change of %s shows in the texts", (_title, more, isOfRule) => {
    const [before, after] = [SAME, { ...SAME, ...more }].map((raw) => requireOk(readJobDefinition(raw)));
    const texts = [before, after].map((definition) => definition && canonicalDefinitionText(definition));
    const rules = [before, after].map((definition) => definition && canonicalRuleText(definition));
    expect(texts[0] === texts[1]).toBe(false);
    expect(rules[0] !== rules[1]).toBe(isOfRule);
  });
});

function textOf(raw: unknown): string {
  return canonicalDefinitionText(requireOk(readJobDefinition(raw)));
}

function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}
