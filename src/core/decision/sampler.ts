/**
 * From a uniform draw `u` to a position `x` in the window. The order of the operations is part of the decision
 * contract: golden files hold the results to the last bit.
 */

import { assertNever } from "../base/result.js";
import { erfc, erfcinv, exp, ln, pow } from "./math.js";
import type { Distribution } from "./rule.js";
import type { WindowFrame } from "./window.js";

/** `x` before clamping: it may touch or pass 0 and 1 at the ends, and is never NaN. */
export type Sampler = (u: number) => number;

/**
 * Beyond this a distribution is flat to within 2^-22, less than the grain of the longest window, while its formula
 * would lose digits to cancellation: from here on `x = u`.
 */
const FLATNESS = 1_048_576; // 2^20

const LARGEST_BELOW_ONE = 1 - 1 / 9_007_199_254_740_992; // 1 - 2^-53

/** Into `[0, 1)`. */
export function clampUnit(x: number): number {
  if (x >= 1) {
    return LARGEST_BELOW_ONE;
  }
  return x > 0 ? x : 0;
}

export function makeSampler(distribution: Distribution, frame: WindowFrame): Sampler {
  switch (distribution.name) {
    case "uniform":
      return identity;
    case "skewEarly":
      return skewEarly(distribution.shape);
    case "skewLate":
      return skewLate(distribution.shape);
    case "normal":
      return normal(muSeconds(distribution.mu, frame), sigmaSeconds(distribution.sigmaMs, frame), frame.spanSeconds);
    case "exponential":
      return distribution.dir === "early" ? exponential(distribution.lambda) : late(exponential(distribution.lambda));
    default:
      return assertNever(distribution, "distribution");
  }
}

function identity(u: number): number {
  return u;
}

function skewEarly(shape: number): Sampler {
  return (u) => pow(u, shape);
}

function skewLate(shape: number): Sampler {
  return (u) => 1 - pow(1 - u, shape);
}

/** Quantile of the exponential distribution cut off at 1: `-ln(1 - u(1 - e^-lambda)) / lambda`. */
function exponential(lambda: number): Sampler {
  if (lambda < 1 / FLATNESS) {
    return identity;
  }
  const mass = 1 - exp(-lambda);
  return (u) => -ln(1 - u * mass) / lambda;
}

function late(early: Sampler): Sampler {
  return (u) => 1 - early(u);
}

/**
 * Quantile of the normal distribution cut off at both window bounds. `2Φ(t)` is `erfc(-t/√2)`, so the lower half is
 * computed from the lower tail and the upper half from the upper tail: both tails keep their digits, and an argument of
 * erfcinv, a sum of terms that are not negative, cannot leave its domain. `mu` lies in the window, so that the window
 * always holds some of the mass.
 */
function normal(mu: number, sigma: number, span: number): Sampler {
  if (sigma > FLATNESS * span) {
    return identity;
  }
  const a = (0 - mu) / sigma / Math.SQRT2;
  const b = (span - mu) / sigma / Math.SQRT2;
  const belowStart = erfc(-a);
  const below = erfc(-b) - belowStart;
  const aboveEnd = erfc(b);
  const above = erfc(a) - aboveEnd;
  return (u) => {
    const lower = belowStart + u * below;
    const z = lower <= 1 ? -Math.SQRT2 * erfcinv(lower) : Math.SQRT2 * erfcinv(aboveEnd + (1 - u) * above);
    return (mu + sigma * z) / span;
  };
}

function muSeconds(mu: "nominal" | "start" | "mid" | "end", frame: WindowFrame): number {
  switch (mu) {
    case "nominal":
      return frame.nominalSeconds;
    case "start":
      return 0;
    case "mid":
      return frame.spanSeconds / 2;
    case "end":
      return frame.spanSeconds;
    default:
      return assertNever(mu, "mu");
  }
}

function sigmaSeconds(sigmaMs: number | null, frame: WindowFrame): number {
  return sigmaMs === null ? frame.durationMs / 6000 : sigmaMs / 1000;
}
