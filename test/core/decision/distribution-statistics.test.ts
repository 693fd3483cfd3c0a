import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import type { Distribution } from "../../../src/core/decision/rule.js";
import { PLAIN_RULE } from "./rules.js";

const HOUR = 3_600_000;
const SPAN = 3600;
const BINS = 40;
const SAMPLES = 20_000;

type Cdf = (x: number) => number;

/** Integral by Simpson's rule: independent of the error functions of the implementation. */
function integral(f: (x: number) => number, from: number, to: number): number {
  const steps = 2000;
  const h = (to - from) / steps;
  const inner = Array.from({ length: steps - 1 }, (_, i) => (i % 2 === 0 ? 4 : 2) * f(from + (i + 1) * h));
  return (h / 3) * (f(from) + f(to) + inner.reduce((sum, value) => sum + value, 0));
}

const uniform: Cdf = (x) => x;
const skewEarly =
  (shape: number): Cdf =>
  (x) =>
    x ** (1 / shape);
const skewLate =
  (shape: number): Cdf =>
  (x) =>
    1 - (1 - x) ** (1 / shape);
const exponential =
  (lambda: number): Cdf =>
  (x) =>
    Math.expm1(-lambda * x) / Math.expm1(-lambda);
const mirrored =
  (cdf: Cdf): Cdf =>
  (x) =>
    1 - cdf(1 - x);
/** `mu` and `sigma` in windows. */
const normal = (mu: number, sigma: number): Cdf => {
  const density = (x: number) => Math.exp(-0.5 * ((x - mu) / sigma) ** 2);
  const whole = integral(density, 0, 1);
  return (x) => integral(density, 0, x) / whole;
};

/** How many periods chose each fortieth of the window, for fixed seeds. */
function histogram(distribution: Distribution): number[] {
  const rule = compileRule({ ...PLAIN_RULE, window: { mode: "around", durationMs: HOUR }, distribution });
  const counts = new Array<number>(BINS).fill(0);
  for (let i = 0; i < SAMPLES; i++) {
    const { chosenAt, windowStartAt } = decide(rule, i * HOUR);
    const second = ((chosenAt ?? Number.NaN) - windowStartAt) / 1000;
    const bin = Math.floor((second / (SPAN + 1)) * BINS);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

/** The share of the first `bin` bins: of all positions that are mapped to one of their seconds. */
function shareBelow(cdf: Cdf, bin: number): number {
  return bin === BINS ? 1 : cdf(Math.ceil((bin * (SPAN + 1)) / BINS) / (SPAN + 1));
}

/** Chi-square of the counts against the closed form; bins are joined until each expects at least ten. */
function chiSquare(counts: readonly number[], cdf: Cdf): { readonly value: number; readonly limit: number } {
  let [value, cells, observed, expected] = [0, 0, 0, 0];
  for (let bin = 0; bin < BINS; bin++) {
    observed += counts[bin] ?? 0;
    expected += SAMPLES * (shareBelow(cdf, bin + 1) - shareBelow(cdf, bin));
    if (expected >= 10 || (bin === BINS - 1 && expected > 0)) {
      value += (observed - expected) ** 2 / expected;
      cells++;
      [observed, expected] = [0, 0];
    }
  }
  // What is left over has no cell: nothing may have been observed there.
  return { value: observed > 0 ? Number.POSITIVE_INFINITY : value, limit: criticalValue(cells - 1) };
}

/** The value that a correct sample exceeds once in 1,000 times (Wilson and Hilferty). */
function criticalValue(degrees: number): number {
  const spread = 2 / (9 * degrees);
  return degrees * (1 - spread + 3.0902 * Math.sqrt(spread)) ** 3;
}

describe("each distribution follows its closed form (chi-square, fixed seeds)", () => {
  test.each<{ name: string; distribution: Distribution; cdf: Cdf }>([
    { name: "uniform", distribution: { name: "uniform" }, cdf: uniform },
    { name: "skewEarly 2", distribution: { name: "skewEarly", shape: 2 }, cdf: skewEarly(2) },
    { name: "skewEarly 0.5", distribution: { name: "skewEarly", shape: 0.5 }, cdf: skewEarly(0.5) },
    { name: "skewEarly 7", distribution: { name: "skewEarly", shape: 7 }, cdf: skewEarly(7) },
    { name: "skewLate 2", distribution: { name: "skewLate", shape: 2 }, cdf: skewLate(2) },
    { name: "skewLate 2.5", distribution: { name: "skewLate", shape: 2.5 }, cdf: skewLate(2.5) },
    { name: "normal D/6", distribution: { name: "normal", mu: "nominal", sigmaMs: null }, cdf: normal(0.5, 1 / 6) },
    { name: "normal mid 30m", distribution: { name: "normal", mu: "mid", sigmaMs: HOUR / 2 }, cdf: normal(0.5, 0.5) },
    {
      name: "normal start 10m",
      distribution: { name: "normal", mu: "start", sigmaMs: 600_000 },
      cdf: normal(0, 1 / 6),
    },
    { name: "normal end 20m", distribution: { name: "normal", mu: "end", sigmaMs: 1_200_000 }, cdf: normal(1, 1 / 3) },
    { name: "normal mid 100h", distribution: { name: "normal", mu: "mid", sigmaMs: 100 * HOUR }, cdf: uniform },
    { name: "exponential 1", distribution: { name: "exponential", lambda: 1, dir: "early" }, cdf: exponential(1) },
    {
      name: "exponential 5 late",
      distribution: { name: "exponential", lambda: 5, dir: "late" },
      cdf: mirrored(exponential(5)),
    },
    { name: "exponential 1e-9", distribution: { name: "exponential", lambda: 1e-9, dir: "early" }, cdf: uniform },
  ])("$name", ({ distribution, cdf }) => {
    const { value, limit } = chiSquare(histogram(distribution), cdf);
    expect(value).toBeLessThan(limit);
  });
});

describe("negative controls: the same test rejects a wrong formula", () => {
  test.each<{ name: string; distribution: Distribution; cdf: Cdf }>([
    { name: "uniform against skewEarly 1.1", distribution: { name: "uniform" }, cdf: skewEarly(1.1) },
    { name: "skewEarly 2 against 2.2", distribution: { name: "skewEarly", shape: 2 }, cdf: skewEarly(2.2) },
    { name: "skewEarly 2 against skewLate 2", distribution: { name: "skewEarly", shape: 2 }, cdf: skewLate(2) },
    { name: "skewLate 2.5 against 2.3", distribution: { name: "skewLate", shape: 2.5 }, cdf: skewLate(2.3) },
    {
      name: "normal D/6 against 11m",
      distribution: { name: "normal", mu: "mid", sigmaMs: null },
      cdf: normal(0.5, 11 / 60),
    },
    {
      name: "normal mid against 2m earlier",
      distribution: { name: "normal", mu: "mid", sigmaMs: null },
      cdf: normal(28 / 60, 1 / 6),
    },
    {
      name: "exponential 1 against 1.3",
      distribution: { name: "exponential", lambda: 1, dir: "early" },
      cdf: exponential(1.3),
    },
    {
      name: "exponential early against late",
      distribution: { name: "exponential", lambda: 1, dir: "early" },
      cdf: mirrored(exponential(1)),
    },
  ])("$name", ({ distribution, cdf }) => {
    const { value, limit } = chiSquare(histogram(distribution), cdf);
    expect(value).toBeGreaterThan(limit);
  });
});
