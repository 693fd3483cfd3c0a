/**
 * The way in for job definitions, from whatever source: raw data that is shaped like `JOB_SHAPE` becomes one validated,
 * defaulted, deep-frozen `JobDefinition`, or a list of everything that is wrong with it.
 */
import type { z } from "zod";
import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { isEvery } from "../cron/every.js";
import { type JobDefaults, jobDefaults, withDefaults } from "./defaults.js";
import type { JobDefinition } from "./definition.js";
import { problemsOfIssues, valueAt } from "./issues.js";
import { readNotify } from "./notify-reader.js";
import { readDescription, readPolicy, readTags } from "./policy-reader.js";
import { readPool } from "./pool-reader.js";
import { canonicalDefinitionText } from "./raw.js";
import { readRetry, withRetry } from "./retry-reader.js";
import { type ReadOptions, readRule } from "./rule-reader.js";
import { DEFAULTS_SHAPE, JOB_SHAPE, PARTIAL_JOB_SHAPE, type PartialRawJob } from "./shape.js";
import { readStop, withStop } from "./stop-reader.js";
import { readTarget } from "./target-reader.js";

export { canonicalDefinitionText, canonicalRuleText, definitionToRaw } from "./raw.js";
export type { ReadOptions } from "./rule-reader.js";
export type { RawDefaults, RawJob } from "./shape.js";

type Path = readonly (string | number)[];

/** Reads one job. All problems are collected, each with the path of the value and, inside a text, the span. */
export function readJobDefinition(
  raw: unknown,
  defaults?: JobDefaults,
  options: ReadOptions = {},
): Result<JobDefinition, readonly Problem[]> {
  const shaped = JOB_SHAPE.safeParse(raw);
  const problems = [
    ...hiddenKeys(raw),
    ...(shaped.success ? [] : problemsOfIssues(shaped.error.issues, raw, JOB_SHAPE)),
  ];
  const own = shaped.success ? shaped.data : soundPart(raw, shaped.error.issues);
  if (own === null) return err(problems.slice(0, LIMITS.problemsPerJob));
  const definition = readSound(own, defaults, options, problems);
  return problems.length === 0 ? ok(definition) : err(withoutRepeats(problems));
}

/**
 * S16: a definition as an earlier version of the program wrote it down, with what this one has against it; null when this
 * one cannot read it without changing it.
 */
export function readDefinitionInForce(
  text: string,
): { readonly definition: JobDefinition; readonly problems: readonly Problem[] } | null {
  const shaped = JOB_SHAPE.safeParse(JSON.parse(text));
  if (!shaped.success) return null;
  const problems: Problem[] = [];
  const definition = readSound(shaped.data, undefined, { mayUseReservedPrefix: true }, problems);
  return canonicalDefinitionText(definition) === text ? { definition, problems } : null;
}

/** Reads `defaults`, which are checked once and by themselves, not again in every job. */
export function readJobDefaults(raw: unknown): Result<JobDefaults, readonly Problem[]> {
  const { defaults, problems } = readSoundDefaults(raw);
  return problems.length === 0 ? ok(defaults) : err(problems);
}

/** As `readJobDefaults`, with what can be kept in spite of the problems: so that jobs are not blamed for them. */
export function readSoundDefaults(
  raw: unknown,
  options: ReadOptions = {},
): {
  readonly defaults: JobDefaults;
  readonly problems: readonly Problem[];
} {
  const shaped = DEFAULTS_SHAPE.safeParse(raw);
  const problems = [
    ...hiddenKeys(raw),
    ...(shaped.success ? [] : problemsOfIssues(shaped.error.issues, raw, DEFAULTS_SHAPE)),
  ];
  const own = shaped.success ? shaped.data : soundPart(raw, shaped.error.issues);
  if (own === null) return { defaults: jobDefaults({}), problems: problems.slice(0, LIMITS.problemsPerJob) };
  // A stand-in for what every job must say itself; with a yearly schedule no window can be too long for it.
  const job = { ...own, identity: "defaults", schedule: "@yearly", command: own.shell === true ? "true" : ["true"] };
  readSound(job, undefined, options, problems);
  const faulty = new Set(problems.map(({ path }) => path[0]));
  const kept = Object.entries(own).filter(([name]) => !faulty.has(name));
  return { defaults: jobDefaults(Object.fromEntries(kept)), problems: withoutRepeats(problems) };
}

/** What is of the right shape: its meaning, in the one form in which definitions travel. */
export function readSound(
  own: PartialRawJob,
  defaults: JobDefaults | undefined,
  options: ReadOptions,
  problems: Problem[],
): JobDefinition {
  const job = withDefaults(own, defaults);
  const rule = readRule(job, own, options, problems);
  const retry = readRetry(job, own, isEvery(rule.schedule), problems);
  const pool = readPool(job, problems);
  return Object.freeze({
    ...rule,
    policy: withStop(withRetry(readPolicy(job, own, problems), retry), readStop(job, problems)),
    ...(pool === null ? null : { pool }),
    target: readTarget(job, own, problems),
    notify: readNotify(job.notify, problems),
    description: readDescription(job.description, problems),
    tags: readTags(job.tags, problems),
  });
}

/** zod drops a key named `__proto__` from records without a word; here nothing is dropped silently. */
function hiddenKeys(raw: unknown): Problem[] {
  const records: readonly Path[] = [["env"], ["http", "headers"], ["http", "header_files"], ["http", "header_env"]];
  return records.flatMap((path) => {
    const record = valueAt(raw, path);
    if (typeof record !== "object" || record === null || !Object.hasOwn(record, "__proto__")) return [];
    return [{ code: "field-unknown", message: 'a field cannot be named "__proto__"', path: [...path, "__proto__"] }];
  });
}

/** What is left when every value with a wrong shape is taken out: the rest is judged all the same. */
function soundPart(raw: unknown, issues: readonly z.core.$ZodIssue[]): PartialRawJob | null {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return null;
  if (faultCount(issues) > LIMITS.problemsPerJob) return null;
  const faulty = issues.flatMap((issue): Path[] => {
    const path = issue.path.map((key) => (typeof key === "number" ? key : String(key)));
    return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
  });
  const rest = faulty.reduce<unknown>((value, path) => without(value, path), raw);
  const shaped = PARTIAL_JOB_SHAPE.safeParse(rest);
  return shaped.success ? shaped.data : null;
}

function faultCount(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
}

/** A copy without the value at `path`; a list is taken out whole, because its elements mean something by their place. */
function without(value: unknown, path: Path): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const copy = Object.fromEntries(Object.entries(value).filter(([name]) => name !== String(key)));
  const inner = rest.length === 0 ? undefined : without(valueAt(value, [key]), rest);
  return inner === undefined ? copy : { ...copy, [key]: inner };
}

/** A missing command is seen twice when its value has the wrong shape: once as such, once as missing. So is a schedule. */
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const wrongPlaces = new Set(problems.filter(({ code }) => code !== "field-missing").map(({ path }) => path[0]));
  return problems
    .filter(({ code, path }) => code !== "field-missing" || path.length > 1 || !wrongPlaces.has(path[0]))
    .filter(
      ({ code, path }) =>
        code !== "field-missing" || path[0] !== "schedule" || !(wrongPlaces.has("every") || wrongPlaces.has("at")),
    )
    .slice(0, LIMITS.problemsPerJob);
}
