/** Reads which failed runs are tried again (S43): how often, how long after, and after which endings. */
import { LIMITS } from "../base/limits.js";
import { memoised } from "../base/memo.js";
import { type Problem, problemAt } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { formatDuration, parseDuration } from "../time/duration.js";
import { type Policy, RETRY_CAUSES, type RetryCause, type RetryRule } from "./definition.js";
import { quote } from "./issues.js";
import type { PartialRawJob } from "./shape.js";
import { oneOf } from "./suggest.js";

type RawRetry = NonNullable<PartialRawJob["retry"]>;

/** What is seen to have failed. A run that nobody saw the end of may have succeeded: that is to be asked for. */
const RETRY_DEFAULTS = {
  backoffMs: 30_000,
  maxBackoffMs: 600_000,
  on: ["exit", "timeout", "answered", "failed"],
} as const;

const MOST_EXIT_CODE = 255;

/** null: nothing is. An interval runs again by itself: a default for all jobs gives way there, a job that says so is wrong. */
export function readRetry(
  raw: PartialRawJob,
  own: PartialRawJob,
  isInterval: boolean,
  problems: Problem[],
): RetryRule | null {
  if (raw.retry === undefined) return null;
  if (isInterval) {
    if (own.retry !== undefined) {
      const message = "a job with an interval is not retried: it runs again when the interval has passed";
      problems.push({
        code: "field-conflict",
        message,
        path: ["retry"],
        hint: "leave it out, or write a cron schedule",
      });
    }
    return null;
  }
  const rule = ruleOf(JSON.stringify(raw.retry));
  if (rule.ok) return rule.value;
  // What has the wrong shape is left out by now, and was told: it is not missing.
  const told = new Set(problems.map(({ path }) => path.slice(0, 2).join(".")));
  const found = rule.error.map((problem) => problemAt(problem, "retry"));
  problems.push(...found.filter(({ code, path }) => code !== "field-missing" || !told.has(path.join("."))));
  return null;
}

/** Policies are shared: of each one and each rule there is one pair. */
const retried = new WeakMap<Policy, WeakMap<RetryRule, Policy>>();

/** `retry` null: the policy as it is. */
export function withRetry(policy: Policy, retry: RetryRule | null): Policy {
  if (retry === null) return policy;
  const known = retried.get(policy) ?? new WeakMap<RetryRule, Policy>();
  retried.set(policy, known);
  const joined = known.get(retry) ?? Object.freeze({ ...policy, retry });
  known.set(retry, joined);
  return joined;
}

const ruleOf = memoised((key): Result<RetryRule, readonly Problem[]> => {
  const raw = JSON.parse(key) as Partial<RawRetry>;
  const problems: Problem[] = [];
  if (raw.limit === undefined) {
    const hint = "write retry: { limit: 3 }";
    problems.push({ code: "field-missing", message: "missing field limit", path: ["limit"], hint });
  }
  const delays = readBackoff(raw, problems);
  const on = readCauses(raw.on ?? [...RETRY_DEFAULTS.on], problems);
  return problems.length > 0 ? err(problems) : ok(Object.freeze({ limit: raw.limit ?? 1, ...delays, on }));
});

/** Who says one of the two alone means it: the other one's default gives way to it. */
function readBackoff(
  { backoff, max_backoff }: Partial<RawRetry>,
  problems: Problem[],
): Pick<RetryRule, "backoffMs" | "maxBackoffMs"> {
  const { backoffMs, maxBackoffMs } = RETRY_DEFAULTS;
  const first = backoff === undefined ? null : readDelay(backoff, "backoff", problems);
  const longest = max_backoff === undefined ? null : readDelay(max_backoff, "max_backoff", problems);
  if (first !== null && longest !== null && longest < first) {
    const message = `max_backoff ${formatDuration(longest)} is shorter than backoff ${formatDuration(first)}`;
    const hint = "the backoff doubles from backoff up to max_backoff";
    problems.push({ code: "duration-range", message, path: ["max_backoff"], hint });
  }
  return {
    backoffMs: first ?? Math.min(backoffMs, longest ?? backoffMs),
    maxBackoffMs: longest ?? Math.max(maxBackoffMs, first ?? maxBackoffMs),
  };
}

function readDelay(text: string, field: "backoff" | "max_backoff", problems: Problem[]): number | null {
  const delay = parseDuration(text);
  const { min, max } = LIMITS.retryDelayMs;
  if (!delay.ok) {
    problems.push({ ...delay.error, path: [field], hint: "write it like 30s or 10m" });
    return null;
  }
  if (delay.value >= min && delay.value <= max && delay.value % min === 0) return delay.value;
  const message = `a retry comes whole seconds after the failure, from ${formatDuration(min)} to ${formatDuration(max)}`;
  problems.push({ code: "duration-range", message, path: [field], span: { start: 0, end: text.length } });
  return null;
}

/** One text for lines: `exit;timeout`. Numbers are exit codes. */
function readCauses(raw: NonNullable<RawRetry["on"]>, problems: Problem[]): RetryRule["on"] {
  const words = typeof raw === "string" ? raw.split(/[\s,;]+/).filter((word) => word !== "") : raw;
  if (words.length === 0) {
    const hint = `write one of ${RETRY_CAUSES.join(", ")}, or exit codes; or leave retry out`;
    problems.push({ code: "field-range", message: "nothing is retried", path: ["on"], hint });
  }
  const causes = words.flatMap((word, index): (RetryCause | number)[] => {
    const cause = causeOf(word);
    const path = typeof raw === "string" ? ["on"] : ["on", index];
    if (cause === null) problems.push(unknownCause(word, path));
    return cause === null ? [] : [cause];
  });
  return Object.freeze([...new Set(causes)]);
}

function causeOf(word: string | number): RetryCause | number | null {
  const known = RETRY_CAUSES.find((cause) => cause === word);
  if (known !== undefined) return known;
  const code = typeof word === "number" || /^[0-9]{1,3}$/.test(word) ? Number(word) : Number.NaN;
  return Number.isInteger(code) && code >= 1 && code <= MOST_EXIT_CODE ? code : null;
}

function unknownCause(word: string | number, path: readonly (string | number)[]): Problem {
  if (typeof word === "number" || /^[0-9]+$/.test(word)) {
    const message = `${word} is no exit code of a failure`;
    return { code: "field-range", message, path, hint: `an exit code is from 1 to ${MOST_EXIT_CODE}` };
  }
  return { code: "field-range", message: `${quote(word)} is no way to end`, path, hint: oneOf(word, RETRY_CAUSES) };
}
