/** Lengths of time as people say them on a command line: durations that may begin with days. */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { DAYS_HINT, formatDuration, parseDuration, UNITS_HINT } from "./duration.js";
import { DAY_MS } from "./instant.js";

/** A day of a length of time has 24 hours, whatever clocks do. */
const DAYS = /^(\d{1,6})d(.*)$/;

/** A duration that may begin with whole days: `7d`, `1d12h`, `90s`. */
export function parseSpan(text: string): Result<number, Problem> {
  const [, days, rest = ""] = DAYS.exec(text) ?? [];
  if (rest === "" && days !== undefined) return ok(Number(days) * DAY_MS);
  const tail = parseDuration(days === undefined ? text : rest);
  return tail.ok ? ok(Number(days ?? 0) * DAY_MS + tail.value) : err(withDays(tail.error));
}

/** A duration has no days; here there are. */
function withDays(problem: Problem): Problem {
  if (problem.hint === UNITS_HINT) return { ...problem, hint: "units are d, h, m, s and ms" };
  return problem.hint === DAYS_HINT ? { ...problem, hint: "write whole days first: 1d12h" } : problem;
}

/** `7d`, `1d12h`, `1m30s`. */
export function formatSpan(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  if (days === 0) return formatDuration(ms);
  return rest === 0 ? `${days}d` : `${days}d${formatDuration(rest)}`;
}
