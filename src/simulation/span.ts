/** Lengths of time as simulations write them: durations with days, offsets with a sign, and how long runs take. */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { erfcinv, exp, ln } from "../core/decision/math.js";
import type { SplitMix64 } from "../core/decision/prng.js";
import { DAY_MS } from "../core/time/instant.js";
import { parseSpan } from "../core/time/span.js";

export { formatSpan, parseSpan } from "../core/time/span.js";

/** `+1h` or `-30m`; without a sign it is forward. */
export function parseShift(text: string): Result<number, Problem> {
  const isBack = text.startsWith("-");
  const span = parseSpan(/^[+-]/.test(text) ? text.slice(1) : text);
  return span.ok ? ok(isBack ? -span.value : span.value) : span;
}

/** How long runs take. */
export type DurationLaw =
  | { readonly kind: "fixed"; readonly ms: number }
  /** Until somebody ends it. */
  | { readonly kind: "never" }
  | { readonly kind: "uniform"; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: "normal"; readonly meanMs: number; readonly sigmaMs: number }
  /** `sigma` is that of the logarithm: with 0.5 two of three runs lie within a factor of 1.65 of the median. */
  | { readonly kind: "lognormal"; readonly medianMs: number; readonly sigma: number }
  | { readonly kind: "exponential"; readonly meanMs: number };

const CALL = /^([a-z]+)\(\s*([^,()]*?)\s*(?:,\s*([^,()]*?)\s*)?\)$/;
const LONGEST_MS = 366 * DAY_MS;
const USAGE = "write 30s, never, uniform(10s, 2m), normal(30s, 5s), lognormal(30s, 0.5) or exponential(30s)";

export function parseLaw(text: string): Result<DurationLaw, Problem> {
  if (text === "never") return ok({ kind: "never" });
  const [, name, one = "", two = ""] = CALL.exec(text) ?? [];
  if (name === undefined) {
    const fixed = parseSpan(text);
    return fixed.ok ? ok({ kind: "fixed", ms: fixed.value }) : err({ ...fixed.error, hint: USAGE });
  }
  const law = lawOf(name, one, two);
  return law === null ? err(wrongLaw(text)) : ok(law);
}

function lawOf(name: string, one: string, two: string): DurationLaw | null {
  const [first, second] = [parseSpan(one), parseSpan(two)];
  if (!first.ok) return null;
  switch (name) {
    case "uniform":
      return second.ok && second.value >= first.value
        ? { kind: "uniform", fromMs: first.value, toMs: second.value }
        : null;
    case "normal":
      return second.ok ? { kind: "normal", meanMs: first.value, sigmaMs: second.value } : null;
    case "lognormal":
      return /^\d+(?:\.\d+)?$/.test(two) ? { kind: "lognormal", medianMs: first.value, sigma: Number(two) } : null;
    case "exponential":
      return two === "" ? { kind: "exponential", meanMs: first.value } : null;
    default:
      return null;
  }
}

function wrongLaw(text: string): Problem {
  const message = `not a duration nor a law of durations: ${JSON.stringify(text)}`;
  return { code: "duration-syntax", message, path: [], span: { start: 0, end: text.length }, hint: USAGE };
}

/** Whole milliseconds; null: it does not end by itself. */
export function drawDuration(law: DurationLaw, random: SplitMix64): number | null {
  switch (law.kind) {
    case "never":
      return null;
    case "fixed":
      return law.ms;
    case "uniform":
      return bounded(law.fromMs + random.nextUnit() * (law.toMs - law.fromMs));
    case "normal":
      return bounded(law.meanMs + law.sigmaMs * drawNormal(random));
    case "lognormal":
      return bounded(law.medianMs * exp(law.sigma * drawNormal(random)));
    case "exponential":
      return bounded(-law.meanMs * ln(1 - random.nextUnit()));
  }
}

const SMALLEST_UNIT = 2 ** -53;

/** The same functions as the decisions use: the same bits on every machine. */
function drawNormal(random: SplitMix64): number {
  return -Math.SQRT2 * erfcinv(2 * Math.max(random.nextUnit(), SMALLEST_UNIT));
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.round(ms), 0), LONGEST_MS);
}
