/**
 * What somebody who watches a job wants of its schedule for a while (S41): an interval until further notice, or one run.
 * Read here, whatever it comes from, so that a command, a request and a planner are held to the same rules.
 */

import { LIMITS } from "../base/limits.js";
import { plainText } from "../base/plain-text.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { formatDuration } from "../time/duration.js";
import { type EpochMs, formatInstant, formatSecond, HOUR_MS } from "../time/instant.js";
import { SUPPORTED_INSTANTS } from "../time/zone.js";
import { byText } from "./author.js";

export const HINT_KINDS = ["interval", "oneshot"] as const;
export type HintKind = (typeof HINT_KINDS)[number];

interface HintAbout {
  readonly expiresAt: EpochMs;
  readonly reason: string;
  /** Who wants it; absent: whoever runs the daemon. */
  readonly by?: string;
}

export type Hint =
  | ({ readonly kind: "interval"; readonly intervalMs: number } & HintAbout)
  | ({ readonly kind: "oneshot"; readonly nextRunAt: EpochMs } & HintAbout);

/** What was asked for. Exactly one of `intervalMs` and `nextRunAt` makes it a hint. */
export interface HintWish {
  readonly intervalMs?: number | null | undefined;
  readonly nextRunAt?: EpochMs | null | undefined;
  /** From now on. A one-shot without one is good for an hour after its instant. */
  readonly ttlMs?: number | null | undefined;
  readonly reason?: string | undefined;
}

/** How long a one-shot stays good when nobody says it. */
const ONESHOT_TTL_MS = HOUR_MS;

/** Every problem has the field in its path. A hint that is refused changes nothing. `by`: who wants it, as far as it is known. */
export function readHint(wish: HintWish, now: EpochMs, by?: string): Result<Hint, readonly Problem[]> {
  const { intervalMs = null, nextRunAt = null, ttlMs = null, reason = "" } = wish;
  const about = { reason, ...(by === undefined ? {} : { by }) };
  const problems = [...checkReason(reason), ...(ttlMs === null ? [] : checkTtl(ttlMs))];
  if (intervalMs !== null && nextRunAt !== null) {
    problems.unshift(refusal("field-conflict", "nextRunAt", "a hint is an interval or one instant, not both"));
  } else if (intervalMs !== null) {
    problems.unshift(...checkInterval(intervalMs, ttlMs));
    const expiresAt = now + (ttlMs ?? 0);
    if (problems.length === 0) return ok({ kind: "interval", intervalMs, expiresAt, ...about });
  } else if (nextRunAt !== null) {
    const expiresAt = ttlMs === null ? Math.max(now, nextRunAt) + ONESHOT_TTL_MS : now + ttlMs;
    problems.unshift(...checkInstant(nextRunAt, expiresAt, ttlMs, now));
    if (problems.length === 0) return ok({ kind: "oneshot", nextRunAt, expiresAt, ...about });
  } else {
    problems.unshift(refusal("field-missing", "intervalMs", "a hint needs an interval or an instant"));
  }
  return err(problems);
}

function checkInterval(intervalMs: number, ttlMs: number | null): Problem[] {
  const { min, max } = LIMITS.intervalMs;
  const problems: Problem[] = [];
  if (!(Number.isSafeInteger(intervalMs) && intervalMs >= min && intervalMs <= max)) {
    const message = `an interval is from ${formatDuration(min)} to ${formatDuration(max)}, in whole milliseconds`;
    problems.push(refusal("duration-range", "intervalMs", message));
  }
  if (ttlMs === null) {
    problems.push(refusal("field-missing", "ttlMs", "an interval hint says for how long it holds"));
  }
  return problems;
}

function checkInstant(nextRunAt: EpochMs, expiresAt: EpochMs, ttlMs: number | null, now: EpochMs): Problem[] {
  const { fromAt, untilAt } = SUPPORTED_INSTANTS;
  if (!(Number.isSafeInteger(nextRunAt) && nextRunAt >= fromAt && nextRunAt < untilAt)) {
    return [refusal("instant-range", "nextRunAt", "the instant lies outside the years that are known")];
  }
  const latestAt = now + LIMITS.hintTtlMs;
  if (expiresAt > latestAt && ttlMs === null) {
    const message = `an instant lies at most ${formatDuration(LIMITS.hintTtlMs - ONESHOT_TTL_MS)} ahead`;
    return [refusal("instant-range", "nextRunAt", message)];
  }
  // What is wrong with the time to live is said of that: then there is no end that could be told.
  if (ttlMs === null || checkTtl(ttlMs).length > 0 || nextRunAt < expiresAt) return [];
  const message = `${formatInstant(nextRunAt)} lies beyond the end of the hint, ${formatInstant(expiresAt)}`;
  return [refusal("instant-range", "nextRunAt", message)];
}

function checkTtl(ttlMs: number): Problem[] {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0 && ttlMs <= LIMITS.hintTtlMs) return [];
  const message = `a hint holds for more than 0s and at most ${formatDuration(LIMITS.hintTtlMs)}, in whole milliseconds`;
  return [refusal("duration-range", "ttlMs", message)];
}

function checkReason(reason: string): Problem[] {
  if (reason.length <= LIMITS.hintReasonChars) return [];
  return [refusal("limit-exceeded", "reason", `a reason has at most ${LIMITS.hintReasonChars} characters`)];
}

function refusal(code: Problem["code"], field: keyof HintWish, message: string): Problem {
  return { code, message, path: [field] };
}

/** For people: what it asks for, until when, who wants it and why. */
export function hintText(hint: Hint): string {
  const what =
    hint.kind === "interval" ? `every ${formatDuration(hint.intervalMs)}` : `once at ${formatInstant(hint.nextRunAt)}`;
  const why = hint.reason === "" ? "" : `: ${plainText(hint.reason)}`;
  return `the hint ${what}, until ${formatSecond(hint.expiresAt)}${byText(hint.by)}${why}`;
}
