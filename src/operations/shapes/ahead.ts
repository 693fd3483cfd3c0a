/** What lies ahead of a job, and how a second was chosen. */
import { z } from "zod";
import { count, identity, listOf, time } from "./words.js";

export const UPCOMING_ANSWER = z.strictObject({
  identity,
  timezone: z.string(),
  rows: listOf(
    z.strictObject({
      /** null: an interval has none. */
      periodId: z.string().nullable(),
      nominal: time,
      windowStart: time.nullable(),
      windowEnd: time.nullable(),
      /** null: its constraints leave no second of the window. */
      chosen: time.nullable(),
    }),
  ),
});
export type UpcomingAnswer = z.output<typeof UPCOMING_ANSWER>;

export const EXPLAIN_ANSWER = z.strictObject({
  identity,
  timezone: z.string(),
  periodId: z.string(),
  nominal: time,
  nominalWallTime: z.string(),
  windowStart: time,
  windowEnd: time,
  windowSeconds: count,
  distribution: z.string(),
  /** Exactly what was hashed. */
  hashInput: z.string(),
  seedHash: z.string(),
  state0: z.string(),
  draws: listOf(
    z.strictObject({
      attempt: count,
      u: z.number().nullable(),
      x: z.number().nullable(),
      second: count,
      at: time,
      wallTime: z.string(),
      /** null: it was taken. */
      rejectedBy: z.string().nullable(),
    }),
  ),
  chosen: time.nullable(),
});
export type ExplainAnswer = z.output<typeof EXPLAIN_ANSWER>;

export const DEFINITION_ANSWER = z.strictObject({
  identity,
  description: z.string().nullable(),
  tags: listOf(z.string()),
  schedule: z.string(),
  timezone: z.string(),
  window: z.strictObject({ mode: z.string(), durationMs: count }),
  distribution: z.string(),
  only: z.string(),
  avoid: z.string(),
  concurrency: z.string(),
  /** After the chosen time. */
  deadline: z.string(),
  isSuspended: z.boolean(),
  /** Of a command its program, of a request its method and host: nothing that could be a secret. */
  target: z.string(),
});
export type DefinitionAnswer = z.output<typeof DEFINITION_ANSWER>;

export const LOG_ANSWER = z.strictObject({
  /** null: nothing is kept. */
  file: z.string().nullable(),
  text: z.string(),
  from: count,
  /** Where to go on. */
  next: count,
  size: count,
});
export type LogAnswer = z.output<typeof LOG_ANSWER>;

export interface OutputAsked {
  readonly identity: string;
  readonly periodAt?: number | undefined;
  readonly from?: number | undefined;
  readonly bytes: number;
}
