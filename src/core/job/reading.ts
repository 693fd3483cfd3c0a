/** What all readers of fields share: a value that could not be read becomes a problem at its path, and a stand-in. */

import { memoised } from "../base/memo.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { Result } from "../base/result.js";
import { formatDuration, parseDuration } from "../time/duration.js";

/** The value, or `fallback` and a problem at `path`. */
export function take<T, F>(
  result: Result<T, Problem>,
  path: readonly string[],
  fallback: F,
  problems: Problem[],
): T | F {
  if (result.ok) return result.value;
  problems.push(problemAt(result.error, ...path));
  return fallback;
}

export const durationOf = memoised(parseDuration);

/** A duration that ends something: above zero, at most `limitMs`. */
export function readTimeout(text: string, path: readonly string[], limitMs: number, problems: Problem[]): number {
  const duration = take(durationOf(text), path, limitMs, problems);
  if (duration === 0) {
    const hint = "leave it out for none";
    problems.push({ code: "duration-range", message: "a timeout is longer than 0s", path, hint });
  } else if (duration > limitMs) {
    const message = `a timeout is at most ${formatDuration(limitMs)}`;
    problems.push({ code: "duration-range", message, path });
  }
  return duration;
}

/** A field and its short form say the same thing twice. */
export function twice(field: string, other: string, path: readonly string[] = [field]): Problem {
  return { code: "field-conflict", message: `${field} and ${other} say the same: write one of them`, path };
}

const PLAIN = /^[\x20-\x7e]*$/;

export function byteLength(text: string): number {
  return PLAIN.test(text) ? text.length : Buffer.byteLength(text);
}
