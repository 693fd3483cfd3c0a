/** What is on record of periods and runs, in the spelling that everything of ours has in JSON. */
import { z } from "zod";
import { HOLDER_KINDS } from "../../core/state/ending.js";
import { identity, listOf, time } from "./words.js";

const duration = z.number().nullable();

const ENDING_FIELDS = {
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  holder: z.enum(HOLDER_KINDS).optional(),
  status: z.int().nullable().optional(),
  success: z.boolean().optional(),
  sent: z.boolean().optional(),
  detail: z.string().optional(),
  duration_ms: z.number().optional(),
  /** Before that, for room. */
  waited_ms: z.number().optional(),
  bytes: z.int().optional(),
  timings: z
    .strictObject({ dns_ms: duration, connect_ms: duration, tls_ms: duration, first_byte_ms: duration })
    .optional(),
  excerpt: z.string().optional(),
  condition: z.string().optional(),
};

/** Published by itself: `docs/decision-contract.md`. */
const DECISION = z.looseObject({ identity, period_id: z.string(), seed_hash: z.string(), chosen_time: z.string() });

const HISTORY_ROW = z.strictObject({
  period_id: time,
  source: z.string().nullable(),
  outcome: z.string(),
  chosen_time: time.nullable(),
  refused_by: z.string().optional(),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  attempt_id: z.string().optional(),
  node: z.string().optional(),
  decision: DECISION.nullable().optional(),
  retry_of: time.optional(),
  attempt: z.int().optional(),
  ...ENDING_FIELDS,
});

export const HISTORY_ANSWER = listOf(HISTORY_ROW);
export type HistoryAnswer = z.output<typeof HISTORY_ANSWER>;

export const ALL_HISTORY_ANSWER = z.strictObject({
  rows: listOf(HISTORY_ROW.extend({ identity, called: z.string().optional() })),
  next: z.string().nullable(),
});

const WHY_RUN = z.strictObject({
  pid: z.int().nullable(),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  node: z.string().optional(),
  ...ENDING_FIELDS,
});

export const WHY_ANSWER = z.strictObject({
  identity,
  period_id: time,
  kind: z.string(),
  reason: z.string().nullable(),
  text: z.string(),
  chosen_time: z.string().nullable(),
  window_start: time.nullable(),
  window_end: time.nullable(),
  run: WHY_RUN.nullable(),
  attempts: listOf(WHY_RUN).optional(),
  from: time.nullable(),
  until: time.nullable(),
  nearest: listOf(time),
  decision: DECISION.nullable(),
});
export type WhyShape = z.output<typeof WHY_ANSWER>;
