import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";

/** Longest duration text that is looked at. */
const DURATION_CHARS = 64;
/** The largest duration Go can hold, about 292 years: texts remain exchangeable with Go programs. */
const LONGEST_MS = 9_223_372_036_854;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const PART = /(\d*)(?:\.(\d*))?(ms|[a-zµμ]+)/y;
const SMALLER_UNITS: readonly string[] = ["us", "µs", "μs", "ns"];
/** An hour is 2^7 3^2 5^5 ms: a fraction with more digits than this cannot be a whole number of milliseconds. */
const FRACTION_DIGITS = 7;

export const DAYS_HINT = "write days in hours: 24h";
export const UNITS_HINT = "units are h, m, s and ms";

type DurationCode = "duration-syntax" | "duration-negative" | "duration-range";

function problem(code: DurationCode, message: string, text: string, hint?: string): Problem {
  const base: Problem = { code, message, path: [], span: { start: 0, end: text.length } };
  return hint === undefined ? base : { ...base, hint };
}

function unitProblem(unit: string, text: string): Problem {
  if (SMALLER_UNITS.includes(unit)) {
    return problem("duration-range", `durations are whole milliseconds, "${unit}" is too fine`, text, "write ms");
  }
  const hint = unit === "d" ? DAYS_HINT : UNITS_HINT;
  return problem("duration-syntax", `unknown unit "${unit}" in duration`, text, hint);
}

/** The value of one part in milliseconds, or null when it is not a whole number of them. */
function partMs(whole: string, fraction: string, unitMs: number): number | null {
  const digits = fraction.replace(/0+$/, "");
  if (digits.length > FRACTION_DIGITS) return null;
  const scale = 10 ** digits.length;
  const scaledMs = Number(digits === "" ? 0 : digits) * unitMs;
  return scaledMs % scale === 0 ? Number(whole === "" ? 0 : whole) * unitMs + scaledMs / scale : null;
}

/**
 * Reads a Go-style duration: `1h30m`, `1.5h`, `90s`, `250ms`, `0`. As in Go, units may come in any order and repeat.
 * The value must be a whole number of milliseconds, part by part.
 */
export function parseDuration(text: string): Result<number, Problem> {
  const written = problem("duration-syntax", "not a duration", text, "write it like 1h30m, 90s or 250ms");
  if (text.length > DURATION_CHARS) return err(written);
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "") return err(written);
  if (body === "0") return ok(0);
  if (/^[\d.]+$/.test(body)) {
    return err(problem("duration-syntax", "a duration needs a unit", text, `write ${body}s for seconds`));
  }
  let totalMs = 0;
  for (PART.lastIndex = 0; PART.lastIndex < body.length; ) {
    const [, whole = "", fraction = "", unit = ""] = PART.exec(body) ?? [];
    if (whole === "" && fraction === "") return err(written);
    const unitMs = Object.hasOwn(UNIT_MS, unit) ? UNIT_MS[unit] : undefined;
    if (unitMs === undefined) return err(unitProblem(unit, text));
    const ms = partMs(whole, fraction, unitMs);
    if (ms === null) return err(problem("duration-range", "not a whole number of milliseconds", text));
    totalMs += ms;
    if (totalMs > LONGEST_MS) return err(problem("duration-range", "a duration is at most 292 years", text));
  }
  if (text.startsWith("-") && totalMs > 0) {
    return err(problem("duration-negative", "a duration cannot be negative", text));
  }
  return ok(totalMs);
}

/** The canonical text: largest units first, parts that are zero left out. */
export function formatDuration(ms: number): string {
  if (!(Number.isSafeInteger(ms) && ms >= 0)) {
    throw new Error(`invariant broken: ${ms} is not a duration in whole milliseconds`);
  }
  if (ms === 0) return "0s";
  let text = "";
  let rest = ms;
  for (const [unit, unitMs] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / unitMs);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * unitMs;
  }
  return text;
}
