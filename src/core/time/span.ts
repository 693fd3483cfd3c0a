/** Lengths of time as people say them on a command line: durations that may begin with days. */
import type { Problem } from "../base/problem.js";
import { ok, type Result } from "../base/result.js";
import { formatDuration, parseDuration } from "./duration.js";
import { DAY_MS } from "./instant.js";

/** A day of a length of time has 24 hours, whatever clocks do. */
const DAYS = /^(\d{1,6})d(.*)$/;

/** A duration that may begin with whole days: `7d`, `1d12h`, `90s`. */
export function parseSpan(text: string): Result<number, Problem> {
  const [, days, rest = ""] = DAYS.exec(text) ?? [];
  if (days === undefined) return parseDuration(text);
  if (rest === "") return ok(Number(days) * DAY_MS);
  const tail = parseDuration(rest);
  return tail.ok ? ok(Number(days) * DAY_MS + tail.value) : tail;
}

/** `7d`, `1d12h`, `1m30s`. */
export function formatSpan(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  if (days === 0) return formatDuration(ms);
  return rest === 0 ? `${days}d` : `${days}d${formatDuration(rest)}`;
}
