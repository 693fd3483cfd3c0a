import fc from "fast-check";
import { expect, test } from "vitest";
import { compileRule } from "../../src/core/decision/compile.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { liveOf } from "../../src/core/period/occasion.js";
import { firstSight } from "../../src/core/restart/first-sight.js";
import { newDocument } from "../../src/core/state/document.js";
import { DAY_MS } from "../../src/core/time/instant.js";
import { activate, documentOfActivation, isResting, nextWakeAt } from "../../src/machines/activation.js";
import { step } from "../../src/machines/step.js";
import { rawJobs } from "../support/raw-jobs.js";

const BASE_AT = Date.UTC(2026, 2, 28);
const now = fc.oneof(
  fc.integer({ min: BASE_AT, max: BASE_AT + 800 * DAY_MS }),
  // At the full minute, where periods begin.
  fc.integer({ min: 0, max: 800 * 1440 }).map((minutes) => BASE_AT + minutes * 60_000),
);
const simple = fc.record({
  identity: fc.constant("job"),
  schedule: fc.constantFrom("* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 29 2 *"),
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe"),
  window: fc.record({
    mode: fc.constantFrom("after", "around", "before"),
    duration: fc.constantFrom("0s", "1m", "2h"),
  }),
  policy: fc.record({ suspend: fc.boolean(), deadline: fc.constantFrom("0s", "2h") }),
  command: fc.constant(["/bin/true"]),
});
const definitions: fc.Arbitrary<JobDefinition> = fc
  .oneof(simple, rawJobs)
  .map((raw) => readJobDefinition(raw))
  // Windows longer than the gaps of their schedule are no jobs.
  .filter((read) => read.ok)
  .map(({ value }) => value);

test("S14: a job that is seen first is what a step makes of it: document, facts, and when it is due", () => {
  const seen = { simple: 0, "by a step": 0 };
  const property = fc.property(definitions, now, (definition, at) => {
    const compiled = compileRule(definition);
    const graces = { timeoutMs: null, startGraceMs: 60_000, killGraceMs: 10_000, historyLimit: 20 };
    const scope = { compiled, policy: definition.policy, ...graces };
    const empty = activate(newDocument(definition.identity), scope);
    const told = { type: "DEFINE", hash: "hash", carriedAt: null } as const;
    const { activation, effects, successorDueAt } = step(scope, empty, told, {
      now: at,
      gate: null,
      freshId: () => "x",
    });
    const first = firstSight(
      {
        compiled,
        definitionHash: "hash",
        isSuspended: definition.policy.suspend,
        stopAt: definition.policy.stop?.at ?? null,
      },
      at,
    );
    seen[first === null ? "by a step" : "simple"] += 1;
    if (first === null) return;
    expect(effects.map(({ type }) => type)).toEqual(effects.map(() => "persist"));
    expect(isResting(activation)).toBe(true);
    expect(first).toEqual({
      document: documentOfActivation(activation),
      facts: effects.flatMap((effect) => (effect.type === "persist" ? effect.params.facts : [])),
      live: liveOf(activation.period?.context.occasion ?? null),
      wakeAt: nextWakeAt(activation, successorDueAt),
    });
  });
  fc.assert(property, { numRuns: 4_000, seed: 20261118 });
  expect(seen.simple).toBeGreaterThan(1_000);
  expect(seen["by a step"]).toBeGreaterThan(100);
});
