import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/core/config/format-problem.js";
import { LineIndex } from "../../src/core/config/located.js";
import { SplitMix64 } from "../../src/core/decision/prng.js";
import { sha256Hex } from "../../src/core/decision/seed.js";
import { judge, parseExpectation } from "../../src/simulation/expectations.js";
import { type Figures, METRICS } from "../../src/simulation/metrics.js";
import { readScenario } from "../../src/simulation/scenario-reader.js";
import { scenarioJsonSchema } from "../../src/simulation/scenario-shape.js";
import { drawDuration, formatSpan, parseLaw, parseShift, parseSpan } from "../../src/simulation/span.js";
import { requireErr, requireOk } from "../support/results.js";

const FULL = `from: 2026-03-01T00:00:00Z
horizon: 1d12h
seed: 7
runs:
  - match: prod/*
    duration: lognormal(30s, 0.5)
    fail: 5%
    exit: 75
  - { match: "*", refuse: fork-failed, refuse_chance: 0.5%, ignores_term: true, lost_start: 1%, spawn: 20ms }
events:
  - { at: 2026-03-01T03:00:00Z, do: crash, step: after-claim }
  - { after: 27h, do: jump, by: -1h }
  - { after: 28h, do: pause, job: prod/*, for: 2h, reason: release }
  - { after: 29h, do: store-failure, errno: ENOSPC, durable: true }
  - { after: 30h, do: reload, config: other.yaml }
expect:
  - missed=0
  - max_lateness <= 5s
`;

test("a scenario is read whole", () => {
  expect(readScenario("s.yaml", FULL)).toEqual({
    problems: [],
    scenario: {
      from: Date.parse("2026-03-01T00:00:00Z"),
      to: null,
      horizonMs: 36 * 3_600_000,
      seed: "7",
      rules: [
        {
          match: "prod/*",
          duration: { kind: "lognormal", medianMs: 30_000, sigma: 0.5 },
          failChance: 0.05,
          exitCode: 75,
        },
        {
          match: "*",
          refusal: "fork-failed",
          refuseChance: 0.005,
          ignoresTerm: true,
          lostStartChance: 0.01,
          armMs: 20,
        },
      ],
      acts: [
        {
          when: { kind: "instant", at: Date.parse("2026-03-01T03:00:00Z") },
          act: { do: "crash", forMs: 5_000, step: "after-claim" },
        },
        { when: { kind: "after", ms: 27 * 3_600_000 }, act: { do: "jump", byMs: -3_600_000 } },
        {
          when: { kind: "after", ms: 28 * 3_600_000 },
          act: { do: "pause", job: "prod/*", forMs: 7_200_000, reason: "release" },
        },
        {
          when: { kind: "after", ms: 29 * 3_600_000 },
          act: { do: "store-failure", errno: "ENOSPC", isDurable: true, forMs: 5_000 },
        },
        { when: { kind: "after", ms: 30 * 3_600_000 }, act: { do: "reload", config: "other.yaml" } },
      ],
      expectations: [
        { metric: "missed", operator: "=", value: 0, text: "missed=0" },
        { metric: "max_lateness", operator: "<=", value: 5_000, text: "max_lateness <= 5s" },
      ],
    },
  });
});

describe("what is wrong is told with its place", () => {
  const rows: readonly (readonly [name: string, text: string, problems: readonly string[]])[] = [
    ["nothing at all", "", ["1:1: the file is empty"]],
    ["no mapping", "- a\n", ["1:1: expected a mapping, got a list"]],
    ["no YAML", "runs: [\n", ["2:1: flow sequence in block collection must be sufficiently indented and end with a ]"]],
    ["an unknown field", "form: 2026-03-01T00:00:00Z\n", ['1:1: unknown field "form"']],
    ["no instant", "from: tomorrow\n", ["1:7: not an RFC 3339 timestamp"]],
    ["no duration", "horizon: 7 days\n", ["1:10: not a duration"]],
    ["both ends", "to: 2026-03-01T00:00:00Z\nhorizon: 1d\n", ["2:10: write to or horizon, not both"]],
    ["no law", "runs:\n  - { match: a, duration: 'gamma(1s, 2)' }\n", ["2:28: not a duration nor a law of durations"]],
    ["more than all", "runs:\n  - match: a\n    fail: 101%\n", ['3:11: not a share: "101%"']],
    ["an exit code beyond a byte", "runs:\n  - match: a\n    exit: 300\n", ["3:11: must be at most 255"]],
    ["nobody concerned", "runs:\n  - fail: 1%\n", ['2:5: missing field "match"']],
    ["two ways to fail", "runs:\n  - { match: a, exit: 1, signal: SIGSEGV }\n", ["2:34: a run that fails ends with"]],
    ["an unknown reason", "runs:\n  - match: a\n    refuse: gone\n", ["3:13: expected one of command-not-found"]],
    ["an unknown deed", "events:\n  - { after: 1h, do: explode }\n", ["2:22: expected one of crash"]],
    ["no moment", "events:\n  - { do: crash }\n", ['2:5: missing field "at"']],
    ["two moments", "events:\n  - { after: 1h, at: 2026-03-01T00:00:00Z, do: crash }\n", ["2:14: write at or after"]],
    ["a field of another deed", "events:\n  - { after: 1h, do: crash, by: +1h }\n", ['2:33: crash has no field "by"']],
    ["a jump to nowhere", "events:\n  - { after: 1h, do: jump }\n", ['2:5: missing field "by"']],
    ["a pause of nothing", "events:\n  - { after: 1h, do: pause }\n", ['missing field "job"', 'missing field "for"']],
    ["an unknown figure", "expect: [mised=0]\n", ['1:10: unknown figure "mised"']],
    ["no number", "expect:\n  - peak<=many\n", ['2:5: "many" is not a whole number']],
    ["an alias to nothing", "runs: *all\n", ['1:7: there is no anchor "&all" before this']],
    ["several at once", "from: x\nhorizon: 1y\n", ["1:7: not an RFC", "2:10: "]],
    ["a seed below zero", "seed: -1\n", ["1:7: must be at least 0"]],
    ["a law that needs quotes", "runs:\n  - { match: a, duration: normal(1s, 2s) }\n", ['2:38: unknown field "2s)"']],
  ];
  test.each(rows)("%s", (_, text, expected) => {
    const { scenario, problems } = readScenario("s.yaml", text);
    const told = problems.map(({ line, column, problem }) => `${line}:${column}: ${problem.message}`);
    expect(scenario).toBeNull();
    expect(told).toHaveLength(expected.length);
    for (const [index, part] of expected.entries()) expect(told[index]).toContain(part);
  });

  test("as a compiler tells it", () => {
    const text = "events:\n  - { after: 1h, do: jmp, by: +1h }\n";
    const [located] = readScenario("chaos.yaml", text).problems;
    if (located === undefined) throw new Error("no problem");
    expect(formatProblem(located, new LineIndex(text).lineText(located.line))).toBe(
      `chaos.yaml:2:22: error: events[0].do: expected one of crash, down, reboot, lose-launcher, jump, freeze, store-failure, pause, resume, hint, unhint, run, cancel, reload, got "jmp"
    - { after: 1h, do: jmp, by: +1h }
                       ^^^
  hint: did you mean jump?`,
    );
  });
});

test("a law of durations cut in two by a flow mapping: the hint says what to do", () => {
  const { problems } = readScenario("s.yaml", "runs:\n  - { match: a, duration: normal(1s, 2s) }\n");
  expect(problems.map(({ problem }) => problem.hint)).toEqual(["inside { } a value with a comma needs quotes"]);
});

test("the schema for editors is the one that is published", () => {
  expect(JSON.parse(readFileSync("docs/scenario.schema.json", "utf8"))).toEqual(scenarioJsonSchema());
});

describe("lengths of time", () => {
  test.each([
    ["7d", 7 * 86_400_000],
    ["1d12h", 36 * 3_600_000],
    ["90s", 90_000],
    ["0", 0],
  ])("%s", (text, ms) => {
    expect(requireOk(parseSpan(text))).toBe(ms);
    expect(requireOk(parseSpan(formatSpan(ms)))).toBe(ms);
  });
  test.each([
    ["+1h", 3_600_000],
    ["-30m", -1_800_000],
    ["2d", 172_800_000],
  ])("by %s", (text, ms) => {
    expect(requireOk(parseShift(text))).toBe(ms);
  });
  test.each(["", "d", "1w", "--1h", "1d-1h"])("not %j", (text) => {
    expect(parseShift(text).ok).toBe(false);
  });
});

describe("laws of durations", () => {
  const rows: readonly (readonly [text: string, least: number, most: number, meanFrom: number, meanTo: number])[] = [
    ["30s", 30_000, 30_000, 30_000, 30_000],
    ["uniform(10s, 20s)", 10_000, 20_000, 14_800, 15_200],
    ["normal(30s, 2s)", 20_000, 40_000, 29_900, 30_100],
    // exp(sigma^2 / 2) times the median.
    ["lognormal(30s, 0.5)", 1_000, 400_000, 33_200, 34_800],
    ["exponential(30s)", 0, 600_000, 29_000, 31_000],
  ];
  test.each(rows)("%s: bounds and mean of 20,000 draws", (text, least, most, meanFrom, meanTo) => {
    const law = requireOk(parseLaw(text));
    const random = new SplitMix64(sha256Hex("laws"));
    const draws = Array.from({ length: 20_000 }, () => drawDuration(law, random) ?? Number.NaN);
    const mean = draws.reduce((sum, ms) => sum + ms, 0) / draws.length;
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...draws)).toBeLessThanOrEqual(most);
    expect(mean).toBeGreaterThanOrEqual(meanFrom);
    expect(mean).toBeLessThanOrEqual(meanTo);
  });
  test("never", () => {
    expect(drawDuration(requireOk(parseLaw("never")), new SplitMix64(sha256Hex("x")))).toBeNull();
  });
  test.each(["uniform(20s, 10s)", "normal(30s)", "lognormal(30s, 1s)", "exponential(1s, 2s)", "gamma(1s)", "soon"])(
    "not %s",
    (text) => {
      expect(requireErr(parseLaw(text)).code).toMatch(/^duration-/);
    },
  );
});

describe("rules that have to hold", () => {
  const figures = {
    ...Object.fromEntries(Object.keys(METRICS).map((name) => [name, 0])),
    missed: 3,
    max_lateness: 2_000,
  };
  test.each<[rule: string, holds: boolean]>([
    ["missed=3", true],
    ["missed==3", true],
    ["missed != 3", false],
    ["missed<3", false],
    ["missed<=3", true],
    ["missed>2", true],
    ["missed>=4", false],
    ["max_lateness<=2s", true],
    ["max_lateness<2s", false],
    ["duplicates=0", true],
  ])("%s", (rule, holds) => {
    expect(judge(requireOk(parseExpectation(rule)), figures as Figures).holds).toBe(holds);
  });
  test.each(["missed", "missed=", "=0", "missed=-1", "missed=x", "max_lateness<=5", "toString=0"])("not %s", (rule) => {
    expect(parseExpectation(rule).ok).toBe(false);
  });
});
