/** A job as a list tells it. Over the wire instants in force are numbers, and what is on record is told as it is written. */
import { z } from "zod";
import { STANDINGS } from "../../actors/supervisor/rows/job-query.js";
import { HOLDER_KINDS } from "../../core/state/ending.js";
import { REHEARSED } from "../rehearsal.js";
import { count, identity, instant, listOf, time } from "./words.js";

const reason = z.string().nullable();
const measured = z.number().min(0).nullable();

const EXCHANGE = {
  durationMs: z.number(),
  bytes: count,
  timings: z.strictObject({ dnsMs: measured, connectMs: measured, tlsMs: measured, firstByteMs: measured }),
  excerpt: z.string().nullable(),
};

const ENDING = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("exited"), code: z.int().nullable(), signal: z.string().nullable(), reason }),
  z.strictObject({ kind: z.literal("answered"), status: z.int(), isExpected: z.boolean(), reason, ...EXCHANGE }),
  z.strictObject({ kind: z.literal("job"), condition: z.string(), reason }),
  z.strictObject({
    kind: z.literal("failed"),
    status: z.int().nullable(),
    isSent: z.boolean(),
    detail: z.string(),
    reason: z.string(),
    ...EXCHANGE,
  }),
  z.strictObject({ kind: z.literal("unseen"), reason: z.string() }),
  z.strictObject({ kind: z.literal("not-run"), reason: z.string() }),
]);

const ENDED_RUN = z.strictObject({
  periodId: time,
  source: z.string().nullable(),
  startedAt: time.nullable(),
  endedAt: time,
  durationMs: measured,
  lateMs: measured,
  result: z.enum(["success", "failure", "signal", "unknown"]),
  ending: ENDING,
});

const HINTS = z.strictObject({
  interval: z.strictObject({ intervalMs: z.number(), expiresAt: instant }).nullable(),
  oneshot: z.strictObject({ nextRunAt: instant, expiresAt: instant }).nullable(),
});

const ACTIVE_RUN = z.strictObject({
  attemptId: z.string(),
  periodId: time,
  source: z.string().nullable(),
  pid: z.int(),
  holder: z.enum(HOLDER_KINDS).optional(),
  startedAt: time,
});

/** What people call the endpoint of a tenant whose job it is, and by what it is asked for. */
export const ENDPOINT_TOLD = z.strictObject({ tenant: z.string(), id: z.string(), job: z.string(), name: z.string() });
export type EndpointTold = z.output<typeof ENDPOINT_TOLD>;

export const JOB_STATUS = z.strictObject({
  identity,
  /** Of jobs of endpoints alone. */
  endpoint: ENDPOINT_TOLD.optional(),
  /** Of the job of a crontab alone: its file, and what its line runs. */
  called: z.string().optional(),
  schedule: z.string(),
  timezone: z.string(),
  standing: z.enum(STANDINGS),
  /** Among several nodes: where no node looks after it now, the pool that it lies in. It is as it is on record. */
  unserved: z.string().optional(),
  pausedUntil: time.nullable(),
  pauseReason: z.string().nullable(),
  pausedBy: z.string().nullable(),
  nextPeriodId: time.nullable(),
  nextChosenTime: time.nullable(),
  nextSource: z.string().nullable(),
  once: z.enum(["ahead", "done", "never"]).nullable(),
  lastPeriodId: time.nullable(),
  lastOutcome: z.string().nullable(),
  lastReason: z.string().nullable(),
  startFailure: z.strictObject({ source: z.string(), slot: time, reason: z.string(), since: time }).nullable(),
  lastRun: ENDED_RUN.nullable(),
  lastPeriodRun: ENDED_RUN.nullable(),
  failures: count,
  usual: z.strictObject({ medianMs: z.number(), longestMs: z.number(), runs: count }).nullable(),
  lastRunAt: time.nullable(),
  hints: HINTS,
  active: listOf(ACTIVE_RUN),
});

export type JobRow = z.output<typeof JOB_STATUS>;

export const LIST_ANSWER = z.strictObject({
  rows: listOf(JOB_STATUS),
  total: count.nullable(),
  next: z.string().nullable(),
  /** Nodes that did not answer: their jobs are neither among the rows nor counted. */
  absent: listOf(z.string()).optional(),
});

export const STARTED = z.strictObject({
  ok: z.literal(true),
  slot: time,
  attemptId: z.string(),
  pid: z.int(),
  holder: z.enum(HOLDER_KINDS),
});

/** `by`: who wanted it; null: whoever runs the daemon. */
const HINT_ABOUT = { expires_at: time, set_at: time, reason: z.string(), by: z.string().nullable() };

export const HINTS_ANSWER = z.strictObject({
  identity,
  interval: z.strictObject({ interval_ms: z.number(), ...HINT_ABOUT }).nullable(),
  oneshot: z.strictObject({ next_run_at: time, ...HINT_ABOUT }).nullable(),
});
export const HINTS_ANSWERED = HINTS_ANSWER.extend(REHEARSED);
