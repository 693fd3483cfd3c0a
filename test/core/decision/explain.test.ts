import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { explainDecision } from "../../../src/core/decision/explain.js";
import type { SchedulingRule } from "../../../src/core/decision/rule.js";
import { at, clausesOf, nominals, PLAIN_RULE, rules, SEEDED } from "./rules.js";

const PARIS: SchedulingRule = {
  ...PLAIN_RULE,
  identity: "msgs/paris",
  timezone: "Europe/Paris",
  window: { mode: "around", durationMs: 5_400_000 },
  distribution: { name: "skewLate", shape: 2.5 },
  seed: { strategy: "stable", salt: "msgs" },
};
const LIGHTS: SchedulingRule = {
  ...PLAIN_RULE,
  identity: "home/lights",
  seed: { strategy: "stable", salt: "lights" },
  constraints: { only: clausesOf("between=18:58-19:00"), avoid: clausesOf("hours=20") },
};

describe("an explanation", () => {
  test("G2: shows every step from the period to the chosen second", () => {
    const compiled = compileRule(PARIS);
    expect(explainDecision(compiled, at("2026-03-02T09:00:00Z"))).toEqual({
      rule: PARIS,
      nominalAt: at("2026-03-02T09:00:00Z"),
      periodId: "2026-03-02T09:00:00Z",
      nominalWallTime: "2026-03-02T10:00:00",
      periodKey: "2026-03-02T09:00:00Z",
      hashInput: "msgs/paris\n2026-03-02T09:00:00Z\nmsgs",
      seedHash: "8b95acf566414238f55eb4541a1bc726b80d02fe86a0cd2ad52988a74860b2f5",
      state0: "8b95acf566414238",
      windowStartAt: at("2026-03-02T08:15:00Z"),
      windowEndAt: at("2026-03-02T09:45:00Z"),
      windowSeconds: 5400,
      candidates: [
        {
          attempt: 1,
          u: 0.4757178150383121,
          x: 0.800972654023368,
          secondInWindow: 4326,
          candidateAt: at("2026-03-02T09:27:06Z"),
          wallTime: "2026-03-02T10:27:06",
          rejectedBy: null,
        },
      ],
      decision: decide(compiled, at("2026-03-02T09:00:00Z")),
    });
  });

  test("G6: shows each rejected candidate and the clauses that rejected it", () => {
    const { candidates } = explainDecision(compileRule(LIGHTS), at("2026-03-01T18:00:00Z"));
    expect(candidates.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 55 }, (_, i) => i + 1));
    expect(candidates.slice(0, -1).map(({ rejectedBy }) => rejectedBy)).toEqual(
      Array.from({ length: 54 }, () => ({ set: "only", clauses: "between=18:58-19:00" })),
    );
    expect(candidates.at(-1)).toMatchObject({ wallTime: "2026-03-01T18:58:01", rejectedBy: null });
  });

  test("of an unschedulable period shows all 64 candidates", () => {
    const never = { ...LIGHTS, constraints: { only: [], avoid: clausesOf("dow=SUN") } };
    const { candidates, decision } = explainDecision(compileRule(never), at("2026-03-01T18:00:00Z"));
    expect(candidates.length).toBe(64);
    expect(candidates.every(({ rejectedBy }) => rejectedBy?.set === "avoid" && rejectedBy.clauses === "dow=SUN")).toBe(
      true,
    );
    expect(decision.chosenAt).toBeNull();
  });

  test("of a window of one second has one candidate that was not drawn", () => {
    const exact: SchedulingRule = { ...LIGHTS, window: { mode: "around", durationMs: 0 } };
    const { candidates } = explainDecision(compileRule(exact), at("2026-03-01T18:00:00Z"));
    expect(candidates).toEqual([
      {
        attempt: 0,
        u: null,
        x: null,
        secondInWindow: 0,
        candidateAt: at("2026-03-01T18:00:00Z"),
        wallTime: "2026-03-01T18:00:00",
        rejectedBy: { set: "only", clauses: "between=18:58-19:00" },
      },
    ]);
  });

  test("ends in the decision, and its last candidate is the chosen one exactly when there is one", () => {
    fc.assert(
      fc.property(rules, nominals, (rule, nominalAt) => {
        const compiled = compileRule(rule);
        const { decision, candidates } = explainDecision(compiled, nominalAt);
        const last = candidates.at(-1);
        expect(decision).toEqual(decide(compiled, nominalAt));
        expect(last?.attempt).toBe(decision.attempts);
        expect(last?.rejectedBy === null ? last.candidateAt : null).toBe(decision.chosenAt);
        expect(candidates.slice(0, -1).every(({ rejectedBy }) => rejectedBy !== null)).toBe(true);
      }),
      { ...SEEDED, numRuns: 2000 },
    );
  });
});
