import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import type { Decision } from "../../../src/core/decision/model.js";
import type { SchedulingRule } from "../../../src/core/decision/rule.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { at, clausesOf, nominals, PLAIN_RULE, rules, SEEDED } from "./rules.js";

const HOUR = 3_600_000;

function decideFor(change: Partial<SchedulingRule>, nominal: string): Decision {
  return decide(compileRule({ ...PLAIN_RULE, ...change }), at(nominal));
}

function chosen({ chosenAt }: Decision): string {
  return chosenAt === null ? "" : formatInstant(chosenAt);
}

const LIGHTS: Partial<SchedulingRule> = { identity: "home/lights", seed: { strategy: "stable", salt: "lights" } };
const LIGHTS_HASH = "d61bedd4e238549ebdb9d45993ea58904aa8042c4691967c720b0f2006416345";

describe("golden decisions of the contract", () => {
  test.each([
    {
      name: "G1",
      rule: { window: { mode: "after", durationMs: 3 * HOUR }, seed: { strategy: "stable", salt: "backup" } },
      nominal: "2026-03-01T00:00:00Z",
      key: "2026-03-01T00:00:00Z",
      hash: "9c85657760a63b4d925af6088cceb2bb4448380b2e6856b203915a0a51ab5101",
      attempts: 1,
      chosenTime: "2026-03-01T02:32:20Z",
    },
    {
      name: "G2",
      rule: {
        identity: "msgs/paris",
        timezone: "Europe/Paris",
        window: { mode: "around", durationMs: 1.5 * HOUR },
        distribution: { name: "skewLate", shape: 2.5 },
        seed: { strategy: "stable", salt: "msgs" },
      },
      nominal: "2026-03-02T09:00:00Z",
      key: "2026-03-02T09:00:00Z",
      hash: "8b95acf566414238f55eb4541a1bc726b80d02fe86a0cd2ad52988a74860b2f5",
      attempts: 1,
      chosenTime: "2026-03-02T09:27:06Z",
    },
    {
      name: "G3",
      rule: { identity: "daily/test", seed: { strategy: "daily", salt: "" } },
      nominal: "2026-03-01T00:00:00Z",
      key: "2026-03-01",
      hash: "3a1cbafc74e05e46dc6a4eff53a9d71da286eda9585a70c5c19bd43c52763161",
      attempts: 1,
      chosenTime: "2026-03-01T00:21:10Z",
    },
    {
      name: "G4",
      rule: { identity: "exact/nojitter", window: { mode: "after", durationMs: 0 } },
      nominal: "2026-01-01T00:00:00Z",
      key: "2026-01-01T00:00:00Z",
      hash: "8b0e1ef5c9c9886e07842b8f00c04697f5257c68188a33de362a414012b4eb84",
      attempts: 0,
      chosenTime: "2026-01-01T00:00:00Z",
    },
    {
      name: "G5",
      rule: { ...LIGHTS, constraints: { only: clausesOf("between=18:59-19:00"), avoid: [] } },
      nominal: "2026-03-01T18:00:00Z",
      key: "2026-03-01T18:00:00Z",
      hash: LIGHTS_HASH,
      attempts: 64,
      chosenTime: "",
    },
    {
      name: "G6",
      rule: { ...LIGHTS, constraints: { only: clausesOf("between=18:58-19:00"), avoid: [] } },
      nominal: "2026-03-01T18:00:00Z",
      key: "2026-03-01T18:00:00Z",
      hash: LIGHTS_HASH,
      attempts: 55,
      chosenTime: "2026-03-01T18:58:01Z",
    },
  ] as const)("$name", ({ rule, nominal, key, hash, attempts, chosenTime }) => {
    const decision = decideFor(rule, nominal);
    expect(decision).toMatchObject({ periodId: nominal, periodKey: key, seedHash: hash, attempts });
    expect(chosen(decision)).toBe(chosenTime);
  });
});

describe("SPEC window semantics", () => {
  test.each([
    { mode: "after", durationMs: HOUR, start: "2026-03-05T12:00:00Z", end: "2026-03-05T13:00:00Z" },
    { mode: "around", durationMs: HOUR, start: "2026-03-05T11:30:00Z", end: "2026-03-05T12:30:00Z" },
    { mode: "before", durationMs: HOUR, start: "2026-03-05T11:00:00Z", end: "2026-03-05T12:00:00Z" },
    { mode: "around", durationMs: 5000, start: "2026-03-05T11:59:57Z", end: "2026-03-05T12:00:02Z" },
    { mode: "around", durationMs: 3_661_000, start: "2026-03-05T11:29:29Z", end: "2026-03-05T12:30:30Z" },
    { mode: "after", durationMs: 0, start: "2026-03-05T12:00:00Z", end: "2026-03-05T12:00:00Z" },
  ] as const)("$mode, $durationMs ms: $start to $end", ({ mode, durationMs, start, end }) => {
    const decision = decideFor({ window: { mode, durationMs } }, "2026-03-05T12:00:00Z");
    expect([formatInstant(decision.windowStartAt), formatInstant(decision.windowEndAt)]).toEqual([start, end]);
  });

  test("both bounds are chosen by some period", () => {
    const compiled = compileRule({ ...PLAIN_RULE, window: { mode: "after", durationMs: 3000 } });
    const offsets = Array.from({ length: 200 }, (_, i) => (decide(compiled, i * HOUR).chosenAt ?? 0) - i * HOUR);
    expect([...new Set(offsets)].sort()).toEqual([0, 1000, 2000, 3000]);
  });

  test("a nominal time is whole seconds, or the caller is wrong", () => {
    expect(() => decide(compileRule(PLAIN_RULE), 1500)).toThrow("invariant broken");
  });
});

describe("SPEC unschedulable periods", () => {
  const window = { mode: "after", durationMs: HOUR } as const;
  const exact = { mode: "after", durationMs: 0 } as const;

  test.each([
    { name: "nothing in the window is allowed", rule: { window }, only: "hours=12", avoid: "", attempts: 64 },
    { name: "everything in the window is avoided", rule: { window }, only: "", avoid: "hours=10-11", attempts: 64 },
    { name: "only and avoid exclude each other", rule: { window }, only: "hours=10", avoid: "hours=10", attempts: 64 },
    { name: "the day is wrong", rule: { window }, only: "dow=WED-MON", avoid: "", attempts: 64 },
    { name: "a single wrong candidate", rule: { window: exact }, only: "hours=11", avoid: "", attempts: 0 },
    {
      name: "a single avoided candidate",
      rule: { window: exact },
      only: "",
      avoid: "between=10:00-10:00",
      attempts: 0,
    },
  ])("$name: $attempts attempts, no chosen time, ids still reported", ({ rule, only, avoid, attempts }) => {
    const constraints = { only: clausesOf(only), avoid: clausesOf(avoid) };
    const free = decideFor(rule, "2026-02-24T10:00:00Z");
    const bound = decideFor({ ...rule, constraints }, "2026-02-24T10:00:00Z");
    expect(bound).toEqual({ ...free, chosenAt: null, attempts });
  });

  test("the 64th draw still counts", () => {
    const constraints = { only: clausesOf("between=18:57-18:57"), avoid: [] };
    const decision = decideFor({ identity: "late/0", constraints }, "2026-03-01T18:00:00Z");
    expect([decision.attempts, chosen(decision)]).toEqual([64, "2026-03-01T18:57:41Z"]);
  });

  test("constraint-heavy: each of 2,000 periods ends within 64 draws, with an accepted second or none", () => {
    const only = clausesOf("dow=MON-FRI;hours=9-17;between=09:30-09:34,17:00-17:02;dom=1-28");
    const avoid = clausesOf("dates=2026-12-24..2026-12-31;between=17:01-17:01");
    const compiled = compileRule({
      ...PLAIN_RULE,
      window: { mode: "after", durationMs: 24 * HOUR },
      constraints: { only, avoid },
    });
    const start = at("2026-01-01T00:00:00Z");
    const decisions = Array.from({ length: 2000 }, (_, i) => decide(compiled, start + i * 24 * HOUR));
    const accepted = decisions.filter(({ chosenAt }) => chosenAt !== null);
    expect(decisions.every(({ attempts }) => attempts >= 1 && attempts <= 64)).toBe(true);
    expect(accepted.every(({ chosenAt }) => compiled.accepts?.(chosenAt ?? 0))).toBe(true);
    expect(decisions.filter(({ chosenAt }) => chosenAt === null).every(({ attempts }) => attempts === 64)).toBe(true);
    // Seven minutes of a day's 1440 are allowed: about a fifth of the allowed days find one of them.
    expect([accepted.length > 200, accepted.length < 600]).toEqual([true, true]);
  });
});

describe("SPEC invariants", () => {
  test("1: the chosen time is within the window, a whole second, and accepted", () => {
    fc.assert(
      fc.property(rules, nominals, (rule, nominalAt) => {
        const compiled = compileRule(rule);
        const { chosenAt, windowStartAt, windowEndAt } = decide(compiled, nominalAt);
        const at = chosenAt ?? windowStartAt;
        expect(windowStartAt <= at && at <= windowEndAt && at % 1000 === 0).toBe(true);
        expect(chosenAt === null || compiled.accepts === null || compiled.accepts(chosenAt)).toBe(true);
      }),
      { ...SEEDED, numRuns: 5000 },
    );
  });

  test("3: the same inputs give the same decision, from any compilation and in any order", () => {
    fc.assert(
      fc.property(rules, fc.array(nominals, { minLength: 1, maxLength: 5 }), (rule, times) => {
        const copy: SchedulingRule = JSON.parse(JSON.stringify(rule));
        const shared = compileRule(rule);
        const forward = times.map((time) => decide(shared, time));
        const backward = times.toReversed().map((time) => decide(compileRule(copy), time));
        expect(backward.toReversed()).toEqual(forward);
      }),
      { ...SEEDED, numRuns: 1000 },
    );
  });
});

describe("SPEC seed inputs: each of them moves the choice", () => {
  const WIDE: SchedulingRule = { ...PLAIN_RULE, window: { mode: "after", durationMs: 744 * HOUR } };
  const seconds = (decisions: readonly Decision[]) => new Set(decisions.map(({ chosenAt }) => chosenAt)).size;
  const hashes = (decisions: readonly Decision[]) => new Set(decisions.map(({ seedHash }) => seedHash)).size;
  const nominalAt = at("2026-03-01T00:00:00Z");

  test.each([
    { name: "identity", vary: (i: number): SchedulingRule => ({ ...WIDE, identity: `job-${i}` }) },
    { name: "salt", vary: (i: number): SchedulingRule => ({ ...WIDE, seed: { strategy: "stable", salt: `${i}` } }) },
  ])("$name", ({ vary }) => {
    const decisions = Array.from({ length: 1000 }, (_, i) => decide(compileRule(vary(i)), nominalAt));
    expect(hashes(decisions)).toBe(1000);
    expect(seconds(decisions)).toBeGreaterThan(990);
  });

  test.each([
    { strategy: "stable", distinct: 336 },
    { strategy: "daily", distinct: 14 },
    { strategy: "weekly", distinct: 2 },
  ] as const)("two weeks of hourly periods have $distinct seeds under $strategy", ({ strategy, distinct }) => {
    const compiled = compileRule({ ...WIDE, seed: { strategy, salt: "" } });
    const monday = at("2026-03-02T00:00:00Z");
    const decisions = Array.from({ length: 14 * 24 }, (_, i) => decide(compiled, monday + i * HOUR));
    expect(hashes(decisions)).toBe(distinct);
  });

  test("periods that share a key share their place in the window", () => {
    const compiled = compileRule({ ...WIDE, seed: { strategy: "daily", salt: "" } });
    const offsets = [1, 5, 23].map((hour) => {
      const decision = decide(compiled, nominalAt + hour * HOUR);
      return (decision.chosenAt ?? 0) - decision.windowStartAt;
    });
    expect(new Set(offsets).size).toBe(1);
  });

  test.each([
    { name: "schedule text", change: { schedule: "0 0 * * *" } },
    { name: "zone, under stable", change: { timezone: "Asia/Tokyo" } },
    { name: "clock-change rule", change: { dst: { gap: "next", overlap: "last" } } },
  ] as const)("the $name is no seed input: the choice for the same period stays", ({ change }) => {
    expect(decide(compileRule({ ...WIDE, ...change }), nominalAt)).toEqual(decide(compileRule(WIDE), nominalAt));
  });
});
