/** Reads what happens when a run is due, and what is only for people. */
import { LIMITS } from "../base/limits.js";
import { memoised } from "../base/memo.js";
import type { Problem } from "../base/problem.js";
import { err, type Result } from "../base/result.js";
import { formatDuration } from "../time/duration.js";
import { type Concurrency, type DeadlineMs, type Policy, WINDOW_DEADLINE } from "./definition.js";
import { quote } from "./issues.js";
import { durationOf, take, twice } from "./reading.js";
import type { PartialRawJob } from "./shape.js";

const POLICY_DEFAULTS: Policy = Object.freeze({
  concurrency: "allow",
  deadlineMs: 0,
  suspend: false,
  maxActive: null,
});

const policyOf = memoised((key): Policy => {
  const [concurrency, deadlineMs, suspend, maxActive] = JSON.parse(key) as [
    Concurrency,
    DeadlineMs,
    boolean,
    number | null,
  ];
  return Object.freeze({ concurrency, deadlineMs, suspend, maxActive });
});

/** `raw` has defaults merged in; contradictions are only looked for in what the job itself says. */
export function readPolicy(raw: PartialRawJob, own: PartialRawJob, problems: Problem[]): Policy {
  if (raw.policy === undefined && raw.max_active === undefined) return POLICY_DEFAULTS;
  const { concurrency = POLICY_DEFAULTS.concurrency, suspend = POLICY_DEFAULTS.suspend } = raw.policy ?? {};
  const deadlineMs = readDeadline(raw.policy?.deadline, problems);
  const maxActive = readMaxActive(raw, own, concurrency, problems);
  return policyOf(JSON.stringify([concurrency, deadlineMs, suspend, maxActive]));
}

function readDeadline(text: string | undefined, problems: Problem[]): DeadlineMs {
  if (text === undefined) return POLICY_DEFAULTS.deadlineMs;
  if (text === WINDOW_DEADLINE) return WINDOW_DEADLINE;
  const deadlineMs = take(deadlineOf(text), ["policy", "deadline"], 0, problems);
  if (deadlineMs > LIMITS.deadlineMs) {
    const message = `a deadline is at most ${formatDuration(LIMITS.deadlineMs)}`;
    problems.push({ code: "duration-range", message, path: ["policy", "deadline"] });
  }
  return deadlineMs;
}

/** Who misspells the word is told of it. */
function deadlineOf(text: string): Result<number, Problem> {
  const read = durationOf(text);
  if (read.ok || !/^[a-z]+$/i.test(text)) return read;
  const hint = `write a duration such as 30m, or ${WINDOW_DEADLINE}: until the window ends`;
  return err({ ...read.error, hint });
}

/** S26: only concurrency `allow` ever has several runs active. A default for all jobs gives way silently. */
function readMaxActive(
  raw: PartialRawJob,
  own: PartialRawJob,
  concurrency: Concurrency,
  problems: Problem[],
): number | null {
  if (own.max_active !== undefined && own.policy?.max_active !== undefined) {
    problems.push(twice("max_active", "policy.max_active"));
  }
  const maxActive = raw.max_active ?? raw.policy?.max_active ?? null;
  if (maxActive === null || concurrency === "allow") return maxActive;
  const path = own.max_active !== undefined ? ["max_active"] : ["policy", "max_active"];
  if (own.max_active !== undefined || own.policy?.max_active !== undefined) {
    problems.push({ code: "field-conflict", message: `max_active does not go with concurrency ${concurrency}`, path });
  }
  return null;
}

const NO_TAGS: readonly string[] = Object.freeze([]);
const FORBIDDEN_IN_TAG = /[\p{Cc}\p{Cs}]/u;
const FORBIDDEN_IN_DESCRIPTION = /[^\P{Cc}\n\t]|\p{Cs}/u;

export function readDescription(text: string | undefined, problems: Problem[]): string {
  if (text === undefined || text === "") return "";
  const path = ["description"];
  if (text.length > LIMITS.descriptionChars) {
    const message = `the description is longer than ${LIMITS.descriptionChars} characters`;
    problems.push({ code: "limit-exceeded", message, path });
  }
  const at = text.search(FORBIDDEN_IN_DESCRIPTION);
  if (at >= 0) {
    const message = "the description contains a control character";
    problems.push({ code: "field-range", message, path, span: { start: at, end: at + 1 } });
  }
  return text;
}

export function readTags(tags: readonly string[] | undefined, problems: Problem[]): readonly string[] {
  if (tags === undefined || tags.length === 0) return NO_TAGS;
  if (tags.length > LIMITS.tags) {
    const message = `${tags.length} tags, more than the limit of ${LIMITS.tags}`;
    problems.push({ code: "limit-exceeded", message, path: ["tags"] });
    return NO_TAGS;
  }
  for (const [index, tag] of tags.entries()) {
    const wrong = tagTrouble(tag, tags.indexOf(tag) < index);
    if (wrong !== null) problems.push({ code: "field-range", message: wrong, path: ["tags", index] });
  }
  return Object.freeze([...tags]);
}

function tagTrouble(tag: string, isRepeated: boolean): string | null {
  if (tag.trim() === "") return "a tag cannot be empty";
  if (tag.length > LIMITS.tagChars) return `a tag has at most ${LIMITS.tagChars} characters`;
  if (FORBIDDEN_IN_TAG.test(tag)) return "a tag cannot contain control characters";
  return isRepeated ? `the tag ${quote(tag)} is written twice` : null;
}
