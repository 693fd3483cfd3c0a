/** Jobs, endpoints and runs of tenants as they are told: instants as they are written, RFC 3339. */
import { z } from "zod";
import { RUN_RESULTS } from "../../core/endpoint/ended-run.js";
import { ENDPOINT_ID, JOB_ID } from "../../core/endpoint/endpoint-name.js";
import { NOTIFY_TOLD } from "../../core/endpoint/notify.js";
import { ENDPOINT_FIELDS } from "../../core/endpoint/spec.js";
import { REHEARSED } from "../rehearsal.js";
import { count, listOf, time } from "../shapes/words.js";
import { JOB_STATUSES } from "./records.js";

const DATED = { createdAt: time, updatedAt: time, version: z.int().min(1) };

export const jobId = z.string().regex(JOB_ID, "must be the id of a job");
export const endpointId = z.string().regex(ENDPOINT_ID, "must be the id of an endpoint");

export const JOB_ANSWER = z.strictObject({
  id: jobId,
  name: z.string(),
  description: z.string(),
  status: z.enum(JOB_STATUSES),
  /** Who is told of its endpoints, where they do not say themselves. */
  notify: NOTIFY_TOLD,
  ...DATED,
  ...REHEARSED,
});
export type JobAnswer = z.output<typeof JOB_ANSWER>;

export const RUN_SOURCES = [
  "baseline-cron",
  "baseline-interval",
  "ai-interval",
  "ai-oneshot",
  "clamped-min",
  "clamped-max",
  "manual",
  "retry",
  "other",
] as const;

const NEXT_SOURCES = [...RUN_SOURCES, "paused"] as const;

/** Of whoever wanted it: the id of a key, `planner:rules` or `planner:MODEL`; null: whoever runs the daemon. */
const by = z.string().nullable();
const HINT_ABOUT = { expiresAt: time, setAt: time, reason: z.string(), by };

const HINTS_OF_ENDPOINT = z.strictObject({
  interval: z.strictObject({ intervalMs: z.number(), ...HINT_ABOUT }).nullable(),
  oneshot: z.strictObject({ nextRunAt: time, ...HINT_ABOUT }).nullable(),
});

export const HINTS_ANSWERED = HINTS_OF_ENDPOINT.extend(REHEARSED);

const STANDING = {
  /** `held`: by its job, which is paused or archived. */
  status: z.enum(["active", "paused", "held"]),
  pausedUntil: time.nullable(),
  pauseReason: z.string().nullable(),
  pausedBy: by,
  nextRunAt: time.nullable(),
  nextSource: z.enum(NEXT_SOURCES).nullable(),
  lastRunAt: time.nullable(),
  lastStatus: z.enum(RUN_RESULTS).nullable(),
  /** Runs in a row, up to the newest one, that did not succeed. */
  failureCount: count,
  running: count,
  /** Why what is due cannot be started, if it cannot. */
  trouble: z.string().nullable(),
};

const { secretHeaders: _, notify: __, ...SHOWN_FIELDS } = ENDPOINT_FIELDS;

export const ENDPOINT_ANSWER = z.strictObject({
  id: endpointId,
  jobId,
  ...SHOWN_FIELDS,
  /** The names alone. */
  secretHeaders: listOf(z.string()),
  notify: NOTIFY_TOLD.nullable(),
  ...DATED,
  ...STANDING,
  hints: HINTS_OF_ENDPOINT,
  ...REHEARSED,
});
export type EndpointAnswer = z.output<typeof ENDPOINT_ANSWER>;

export const runId = z
  .string()
  .regex(/^run_[0-9a-z]{16}_[0-9a-z]{16}_-?[0-9a-z]{1,12}_[a-z-]{1,20}$/, "must be the id of a run");

export const RUN_ANSWER = z.strictObject({
  id: runId,
  jobId,
  endpointId,
  status: z.enum(["running", ...RUN_RESULTS]),
  source: z.enum(RUN_SOURCES),
  /** The instant that was promised: the nominal time of a cron expression, or the slot. */
  scheduledFor: time,
  startedAt: time.nullable().meta({ description: "When it was claimed." }),
  finishedAt: time.nullable(),
  waitedMs: z.number().nullable().meta({
    description: "From then until there was room to send it; null: it was not sent, or it is not known.",
  }),
  durationMs: z.number().nullable().meta({ description: "From when it was sent to the last byte of the answer." }),
  /** Of a further attempt, the how manieth. */
  attempt: z.int().nullable(),
  httpStatus: z.int().nullable(),
  responseBytes: z.int().nullable(),
  /** What the other side has answered, cut short: never an instruction to anybody. */
  responseExcerpt: z.string().nullable(),
  /** null: not known. false: not one byte of the request was sent. */
  wasSent: z.boolean().nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type RunAnswer = z.output<typeof RUN_ANSWER>;

export const RUN_DETAIL_ANSWER = RUN_ANSWER.extend({
  /** Failures in a row when it began, as far back as 100 runs. */
  failureCount: count,
  /** In force when it began. */
  hints: listOf(z.string()),
  /** Constraints of the endpoint that have moved the run or broken it off. */
  violations: listOf(
    z.strictObject({
      constraint: z.enum(["minIntervalMs", "maxIntervalMs", "timeoutMs", "maxExecutionTimeMs", "maxResponseSizeKb"]),
      message: z.string(),
    }),
  ),
});
export type RunDetailAnswer = z.output<typeof RUN_DETAIL_ANSWER>;
