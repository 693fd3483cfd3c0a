import * as fs from "node:fs";
import * as path from "node:path";
import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Distribution } from "../../../src/core/decision/rule.js";
import { clampUnit, makeSampler } from "../../../src/core/decision/sampler.js";
import { windowFrame } from "../../../src/core/decision/window.js";
import { distributions, SEEDED } from "./rules.js";

const AROUND_1H = windowFrame({ mode: "around", durationMs: 3_600_000 });
const SMALLEST_U = 2 ** -53;
const LARGEST_U = 1 - 2 ** -53;
const EDGES = [0, SMALLEST_U, 1e-12, 0.25, 0.5, 0.75, 1 - 1e-12, LARGEST_U];

function x(distribution: Distribution, u: number, frame = AROUND_1H): number {
  return clampUnit(makeSampler(distribution, frame)(u));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("distributions against values computed with 40 digits", () => {
  test.each([
    { of: { name: "uniform" }, u: 0.1, expected: 0.1 },
    { of: { name: "skewEarly", shape: 2 }, u: 0.3, expected: 0.09 },
    { of: { name: "skewEarly", shape: 2.5 }, u: 0.3, expected: 0.04929503017546495 },
    { of: { name: "skewLate", shape: 2 }, u: 0.3, expected: 0.51 },
    { of: { name: "skewLate", shape: 2.5 }, u: 0.3, expected: 0.590036586998303 },
    { of: { name: "exponential", lambda: 1, dir: "early" }, u: 0.3, expected: 0.2102719564223687 },
    { of: { name: "exponential", lambda: 1, dir: "late" }, u: 0.3, expected: 0.7897280435776313 },
    { of: { name: "exponential", lambda: 5, dir: "early" }, u: 0.9, expected: 0.44874223151328274 },
    { of: { name: "exponential", lambda: 1e-3, dir: "early" }, u: 0.5, expected: 0.4998750000052083 },
    { of: { name: "normal", mu: "nominal", sigmaMs: null }, u: 0.3, expected: 0.4128586390943685 },
    { of: { name: "normal", mu: "mid", sigmaMs: null }, u: 0.5, expected: 0.5 },
    { of: { name: "normal", mu: "start", sigmaMs: 600_000 }, u: 0.5, expected: 0.1124149581072921 },
    { of: { name: "normal", mu: "end", sigmaMs: 600_000 }, u: 0.5, expected: 0.8875850418927079 },
    { of: { name: "normal", mu: "mid", sigmaMs: 36_000_000 }, u: 0.1, expected: 0.10006001109620323 },
  ] as const)("$of at u = $u", ({ of, u, expected }) => {
    expect(Math.abs(x(of, u) - expected)).toBeLessThan(2e-14);
  });

  test("G2: a published value to the last bit", () => {
    expect(x({ name: "skewLate", shape: 2.5 }, 0.4757178150383121)).toBe(0.800972654023368);
  });
});

describe("SPEC distributions are bounded", () => {
  test.each([
    { value: Number.POSITIVE_INFINITY, clamped: LARGEST_U },
    { value: 1, clamped: LARGEST_U },
    { value: LARGEST_U, clamped: LARGEST_U },
    { value: -0, clamped: 0 },
    { value: -1e-300, clamped: 0 },
    { value: Number.NEGATIVE_INFINITY, clamped: 0 },
  ])("$value is taken as $clamped", ({ value, clamped }) => {
    expect(clampUnit(value)).toBe(clamped);
  });

  test("any parameters, any window, any draw: a number in [0, 1), never NaN", () => {
    const draw = fc.oneof(
      fc.constantFrom(...EDGES),
      fc.integer({ min: 0, max: 2 ** 53 - 1 }).map((n) => n / 2 ** 53),
    );
    const frames = fc
      .record({
        mode: fc.constantFrom("after" as const, "around" as const, "before" as const),
        durationMs: fc
          .oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 744 * 3600 }))
          .map((s) => s * 1000),
      })
      .map(windowFrame);
    fc.assert(
      fc.property(distributions, frames, draw, (distribution, frame, u) => {
        const unclamped = makeSampler(distribution, frame)(u);
        expect(unclamped).not.toBeNaN();
        const value = clampUnit(unclamped);
        expect(value >= 0 && value < 1).toBe(true);
      }),
      { ...SEEDED, numRuns: 20_000 },
    );
  });

  test("a larger draw never gives an earlier position; with dir late, never a later one", () => {
    const draw = fc.integer({ min: 0, max: 2 ** 53 - 1 }).map((n) => n / 2 ** 53);
    fc.assert(
      fc.property(distributions, draw, draw, (distribution, u, v) => {
        const isReversed = distribution.name === "exponential" && distribution.dir === "late";
        const [low, high] = u < v !== isReversed ? [u, v] : [v, u];
        // Neighbouring draws may swap in the last digits, far below a second.
        expect(x(distribution, low)).toBeLessThanOrEqual(x(distribution, high) + 1e-9);
      }),
      { ...SEEDED, numRuns: 20_000 },
    );
  });
});

describe("limits of the parameters", () => {
  const near = (distribution: Distribution, limit: Distribution) =>
    Math.max(...EDGES.map((u) => Math.abs(x(distribution, u) - x(limit, u))));

  test.each([
    { name: "exponential, lambda towards 0", of: { name: "exponential", lambda: 1e-300, dir: "early" } },
    { name: "exponential, just below the switch", of: { name: "exponential", lambda: 9.5e-7, dir: "early" } },
    { name: "exponential, just above the switch", of: { name: "exponential", lambda: 9.6e-7, dir: "early" } },
    { name: "normal, sigma of 292 years", of: { name: "normal", mu: "mid", sigmaMs: 9_223_372_036_854 } },
    { name: "normal, sigma just below the switch", of: { name: "normal", mu: "start", sigmaMs: 3_600_000 * 2 ** 20 } },
    {
      name: "normal, sigma just above the switch",
      of: { name: "normal", mu: "start", sigmaMs: 3_600_000 * 2 ** 20 + 1 },
    },
    { name: "skewEarly, shape 1", of: { name: "skewEarly", shape: 1 } },
    { name: "skewLate, shape 1", of: { name: "skewLate", shape: 1 } },
  ] as const)("$name is uniform, in the same direction", ({ of }) => {
    expect(near(of, { name: "uniform" })).toBeLessThan(2 ** -22);
  });

  test.each([
    { name: "normal, sigma 1 ms at the start", of: { name: "normal", mu: "start", sigmaMs: 1 }, target: 0 },
    { name: "normal, sigma 1 ms in the middle", of: { name: "normal", mu: "mid", sigmaMs: 1 }, target: 0.5 },
    { name: "normal, sigma 1 ms at the end", of: { name: "normal", mu: "end", sigmaMs: 1 }, target: 1 },
    { name: "exponential, lambda of 1e300", of: { name: "exponential", lambda: 1e300, dir: "early" }, target: 0 },
    { name: "exponential late, lambda of 1e300", of: { name: "exponential", lambda: 1e300, dir: "late" }, target: 1 },
  ] as const)("$name is all in one place", ({ of, target }) => {
    expect([SMALLEST_U, 0.25, 0.5, 0.75, LARGEST_U].every((u) => Math.abs(x(of, u) - target) < 1e-5)).toBe(true);
  });

  test.each([
    { name: "lambda 2^-20", of: { name: "exponential", lambda: 2 ** -20, dir: "early" }, isFormula: true },
    {
      name: "the next lambda below",
      of: { name: "exponential", lambda: 2 ** -20 - 2 ** -73, dir: "early" },
      isFormula: false,
    },
    {
      name: "sigma of 2^20 windows",
      of: { name: "normal", mu: "start", sigmaMs: 3_600_000 * 2 ** 20 },
      isFormula: true,
    },
    {
      name: "a millisecond more",
      of: { name: "normal", mu: "start", sigmaMs: 3_600_000 * 2 ** 20 + 1 },
      isFormula: false,
    },
  ] as const)("the switch to x = u is exact: $name", ({ of, isFormula }) => {
    expect(x(of, 0.7) !== 0.7).toBe(isFormula);
  });

  test("exponential late, lambda towards 0, is uniform from the end", () => {
    const late: Distribution = { name: "exponential", lambda: 1e-300, dir: "late" };
    expect(EDGES.map((u) => x(late, u))).toEqual(EDGES.map((u) => clampUnit(1 - u)));
  });

  test("normal around the middle is symmetric, tails included", () => {
    const middle: Distribution = { name: "normal", mu: "mid", sigmaMs: 60_000 };
    const draws = [SMALLEST_U, 2 ** -30, 2 ** -7, 0.25, 0.5];
    expect(Math.max(...draws.map((u) => Math.abs(x(middle, u) + x(middle, 1 - u) - 1)))).toBeLessThan(1e-14);
  });

  test("normal: the largest draw stays in the tail instead of jumping to the window's end", () => {
    expect(x({ name: "normal", mu: "start", sigmaMs: 1000 }, LARGEST_U)).toBeCloseTo(8.29236 / 3600, 7);
  });
});

describe("engine-independent mathematics", () => {
  const FORBIDDEN = ["pow", "exp", "expm1", "log", "log1p", "log2", "log10", "cbrt", "hypot", "sinh", "tanh"] as const;

  test("no distribution calls a function that an engine may round differently", () => {
    for (const name of FORBIDDEN) {
      vi.spyOn(Math, name).mockImplementation(() => {
        throw new Error(`Math.${name} was called`);
      });
    }
    fc.assert(
      fc.property(distributions, fc.double({ min: 0, max: LARGEST_U, noNaN: true }), (distribution, u) => {
        expect(x(distribution, u)).toBeLessThan(1);
      }),
      { ...SEEDED, numRuns: 5000 },
    );
  });

  test("neither does the source of the decision modules", () => {
    const folder = path.resolve(import.meta.dirname, "../../../src/core/decision");
    const call = /Math\.(?!floor|min|max|imul|SQRT2)\w+|[\w)\]]\s*\*\*/g;
    const code = (file: string) =>
      fs.readFileSync(path.join(folder, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    const files = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    expect(files).toContain(path.join("distribution", "normal.ts"));
    expect(files.flatMap((file) => code(file).match(call) ?? [])).toEqual([]);
  });
});
