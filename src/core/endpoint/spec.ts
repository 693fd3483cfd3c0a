/**
 * What an endpoint is as people and programs write it, and the job definition that it means. Names and units are those of
 * the API; what they mean is judged where every definition is, and what is wrong is told at the field that was written.
 */
import { z } from "zod";
import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { HTTP_METHODS, PLANNER_CHOICES, REQUEST_CARRIERS, WINDOW_SIDES } from "../job/choices.js";
import type { JobDefinition } from "../job/definition.js";
import { readJobDefinition } from "../job/schema.js";
import { formatDuration } from "../time/duration.js";
import { type KeptNotify, NOTIFY_KEPT, notifyPath, rawNotify } from "./notify.js";

const name = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must have no control characters")
  .meta({ description: "Unique among the endpoints of a job." });
const milliseconds = z.int().min(0).max(LIMITS.windowMs);
const interval = z.int().min(LIMITS.intervalMs.min).max(LIMITS.intervalMs.max);
const headers = z.record(z.string(), z.string());
const KIB = 1024;

/** Every field with what it is when nobody says it. */
export const ENDPOINT_FIELDS = {
  name,
  description: z.string().max(LIMITS.descriptionChars).default(""),
  tags: z.array(z.string().max(LIMITS.tagChars)).max(LIMITS.tags).default([]),
  url: z.string().max(LIMITS.urlChars).meta({ description: "http or https." }),
  method: z.enum(HTTP_METHODS).default("GET"),
  headers: headers.default({}).meta({ description: "Sent as they are, and shown to whoever may read." }),
  secretHeaders: headers
    .default({})
    .meta({ description: "Sent as they are, kept sealed and never shown again: of each only that there is one." }),
  body: z.string().nullable().default(null),
  baselineCron: z
    .string()
    .nullable()
    .default(null)
    .meta({
      description: "A cron expression of five fields; or baselineIntervalMs, one of the two.",
      examples: ["*/5 * * * *"],
    }),
  baselineIntervalMs: interval.nullable().default(null).meta({ description: "From the start of one run to the next." }),
  timezone: z.string().max(64).default("UTC").meta({ description: "IANA zone of the expression." }),
  windowMs: milliseconds.default(0).meta({
    description: "How far a run may lie from its nominal time; which second of it, the endpoint's name decides.",
  }),
  windowMode: z.enum(WINDOW_SIDES).default("after"),
  minIntervalMs: interval.nullable().default(null).meta({ description: "No two runs are closer, whatever hints say." }),
  maxIntervalMs: interval.nullable().default(null).meta({ description: "No two runs are farther apart." }),
  timeoutMs: z
    .int()
    .min(1)
    .max(LIMITS.httpTimeoutMs)
    .default(30_000)
    .meta({ description: "From connecting to the last byte." }),
  maxExecutionTimeMs: z
    .int()
    .min(1)
    .max(LIMITS.httpTimeoutMs)
    .nullable()
    .default(null)
    .meta({ description: "How long a run may hold its endpoint; where it is shorter than timeoutMs, it counts." }),
  maxResponseSizeKb: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .meta({ description: "In KiB: an answer that is longer is broken off, and the run has failed." }),
  by: z.enum(REQUEST_CARRIERS).default("krond").meta({
    description: "worker: a worker of one's own claims the run and sends the request; krond sends it itself.",
  }),
  successStatuses: z
    .array(z.union([z.int(), z.string().max(16)]))
    .min(1)
    .max(LIMITS.statusRanges)
    .default(["2xx"]),
  successBody: z
    .union([
      z.strictObject({ contains: z.string().min(1).max(LIMITS.bodyRuleBytes) }),
      z.strictObject({
        pointer: z.string().max(LIMITS.bodyRuleBytes),
        equals: z.union([z.string().max(LIMITS.bodyRuleBytes), z.number(), z.boolean(), z.null()]),
      }),
    ])
    .nullable()
    .default(null)
    .meta({
      description: "What the body of such an answer must be: a text in it, or a value at a JSON pointer (RFC 6901).",
      examples: [{ contains: "ok" }, { pointer: "/status", equals: "ok" }],
    }),
  deadlineMs: z
    .int()
    .min(0)
    .max(LIMITS.deadlineMs)
    .nullable()
    .default(null)
    .meta({ description: "How late a run of the cron expression may begin; a minute if nobody says it." }),
  retry: z
    .strictObject({
      limit: z.int().min(1).max(LIMITS.retries),
      backoffMs: z.int().min(LIMITS.retryDelayMs.min).max(LIMITS.retryDelayMs.max),
    })
    .nullable()
    .default(null)
    .meta({ description: "Further attempts of a failed run, as runs of their own; the delay doubles each time." }),
  autoPause: z
    .strictObject({ afterFailures: z.int().min(1).max(LIMITS.stopAfterFailures) })
    .nullable()
    .default(null)
    .meta({ description: "After so many failed runs in a row it is paused, until somebody resumes it." }),
  maxRuns: z
    .int()
    .min(1)
    .max(LIMITS.stopAfterRuns)
    .nullable()
    .default(null)
    .meta({ description: "So many runs begin by themselves, further attempts included; then it is paused for good." }),
  endAt: z.iso
    .datetime({ offset: true })
    .nullable()
    .default(null)
    .meta({ description: "From then on nothing of it begins by itself; in whole seconds." }),
  notify: NOTIFY_KEPT.nullable().default(null).meta({
    description: "Who is told when it fails and when it recovers; null: as its job has it, []: nobody.",
  }),
  planner: z.enum(PLANNER_CHOICES).nullable().default(null).meta({
    description: "Who looks at how it is doing and may run it otherwise for a while; null: as the daemon has it.",
  }),
  fasterOnErrors: z
    .boolean()
    .default(false)
    .meta({ description: "true: when errors begin, the rules may run it more often for a while." }),
} as const;

/** Unknown fields are refused. */
export const ENDPOINT_SPEC = z.strictObject(ENDPOINT_FIELDS);
export type EndpointSpec = z.output<typeof ENDPOINT_SPEC>;

type Field = keyof EndpointSpec;

const DEADLINE_MS = 60_000;

/** Where the reader of definitions finds what each field says. */
const FIELD_OF: readonly (readonly [path: string, field: Field])[] = [
  ["http.url", "url"],
  ["http.method", "method"],
  ["http.headers", "headers"],
  ["http.body", "body"],
  ["http.timeout", "timeoutMs"],
  ["http.max_response", "maxResponseSizeKb"],
  ["http.success_body", "successBody"],
  ["http.success", "successStatuses"],
  ["schedule", "baselineCron"],
  ["every", "baselineIntervalMs"],
  ["timezone", "timezone"],
  ["window.mode", "windowMode"],
  ["window", "windowMs"],
  ["min_interval", "minIntervalMs"],
  ["max_interval", "maxIntervalMs"],
  ["policy.deadline", "deadlineMs"],
  ["retry", "retry"],
  ["stop.after_failures", "autoPause"],
  ["stop.after_runs", "maxRuns"],
  ["stop.at", "endAt"],
  ["tags", "tags"],
  ["description", "description"],
];

/** The job that the endpoint is. Secrets have been sealed before: what is read here is what is kept. */
export function definitionOf(
  spec: EndpointSpec,
  { identity, isHeld, notify = [] }: Place,
): Result<JobDefinition, readonly Problem[]> {
  const conflicts = baselineProblems(spec);
  if (conflicts.length > 0) return err(conflicts);
  const rules = spec.notify ?? notify;
  const raw = { ...rawOf(spec, identity, isHeld), ...(rules.length === 0 ? {} : { notify: rawNotify(rules) }) };
  const read = readJobDefinition(raw, undefined, { mayUseReservedPrefix: true });
  return read.ok ? ok(read.value) : err(read.error.map((problem) => atField(problem, spec, rules)));
}

interface Place {
  readonly identity: string;
  readonly isHeld: boolean;
  /** Of its job: whom that has told, unless it says itself. */
  readonly notify?: readonly KeptNotify[];
}

function baselineProblems({ baselineCron, baselineIntervalMs, windowMs }: EndpointSpec): Problem[] {
  if (baselineCron !== null && baselineIntervalMs !== null) {
    const message = "an endpoint has a cron expression or an interval, not both";
    return [{ code: "field-conflict", message, path: ["baselineIntervalMs"], hint: "set one of them to null" }];
  }
  if (baselineCron === null && baselineIntervalMs === null) {
    const message = "an endpoint needs a baseline: baselineCron or baselineIntervalMs";
    return [{ code: "field-missing", message, path: ["baselineCron"] }];
  }
  if (baselineCron === null && windowMs > 0) {
    return [{ code: "field-conflict", message: "an interval has no window", path: ["windowMs"] }];
  }
  return [];
}

function rawOf(spec: EndpointSpec, identity: string, isHeld: boolean): object {
  const { baselineCron, baselineIntervalMs, minIntervalMs, maxIntervalMs, retry, body, method } = spec;
  const isCron = baselineCron !== null;
  const timeoutMs = Math.min(spec.timeoutMs, spec.maxExecutionTimeMs ?? Number.POSITIVE_INFINITY);
  return {
    identity,
    ...(isCron ? { schedule: baselineCron, timezone: spec.timezone } : {}),
    ...(baselineIntervalMs === null ? {} : { every: formatDuration(baselineIntervalMs) }),
    ...(isCron ? { window: { mode: spec.windowMode, duration: formatDuration(spec.windowMs) } } : {}),
    ...(minIntervalMs === null ? {} : { min_interval: formatDuration(minIntervalMs) }),
    ...(maxIntervalMs === null ? {} : { max_interval: formatDuration(maxIntervalMs) }),
    policy: {
      concurrency: "forbid",
      suspend: isHeld,
      ...(isCron ? { deadline: formatDuration(spec.deadlineMs ?? DEADLINE_MS) } : {}),
    },
    ...(retry === null ? {} : { retry: { limit: retry.limit, backoff: formatDuration(retry.backoffMs) } }),
    ...stopOf(spec),
    http: {
      url: spec.url,
      method,
      headers: { ...spec.headers, ...spec.secretHeaders },
      ...(body === null ? {} : { body }),
      timeout: formatDuration(timeoutMs),
      max_response: `${spec.maxResponseSizeKb * KIB}B`,
      success: spec.successStatuses,
      ...(spec.successBody === null ? {} : { success_body: spec.successBody }),
      ...(spec.by === "krond" ? {} : { by: spec.by }),
    },
    description: spec.description,
    tags: spec.tags,
  };
}

/** S51. */
function stopOf({ autoPause, maxRuns, endAt }: EndpointSpec): object {
  const stop = {
    ...(autoPause === null ? {} : { after_failures: autoPause.afterFailures }),
    ...(maxRuns === null ? {} : { after_runs: maxRuns }),
    ...(endAt === null ? {} : { at: endAt }),
  };
  return Object.keys(stop).length === 0 ? {} : { stop };
}

/** What a definition calls its fields, where that is no word of the language: of an endpoint they have other names. */
const OWN_WORDS: ReadonlyMap<string, string> = new Map(
  FIELD_OF.map(([path, field]) => [path.slice(path.lastIndexOf(".") + 1), field] as const).filter(([word]) =>
    word.includes("_"),
  ),
);

function inOwnWords(text: string): string {
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => OWN_WORDS.get(word) ?? word);
}

/** A problem of the definition as one of the field that it comes from. */
function atField(
  { span: _, ...problem }: Problem,
  { secretHeaders }: EndpointSpec,
  rules: readonly KeptNotify[],
): Problem {
  const { message, hint } = problem;
  const told = { ...problem, message: inOwnWords(message), ...(hint === undefined ? {} : { hint: inOwnWords(hint) }) };
  if (problem.path[0] === "notify") return { ...told, path: ["notify", ...notifyPath(problem.path.slice(1), rules)] };
  const text = problem.path.join(".");
  const [path, field] = FIELD_OF.find(([known]) => text === known || text.startsWith(`${known}.`)) ?? [text, null];
  if (field === null) return told;
  const rest = problem.path.slice(path.split(".").length);
  const isSecret = field === "headers" && rest[0] !== undefined && Object.hasOwn(secretHeaders, rest[0]);
  if (field === "windowMs" || field === "retry") return { ...told, path: [field] };
  return { ...told, path: [isSecret ? "secretHeaders" : field, ...rest] };
}
