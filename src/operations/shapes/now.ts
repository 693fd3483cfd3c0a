/** How things are, on one page. */
import { z } from "zod";
import { ENDPOINT_TOLD, JOB_STATUS } from "./job.js";
import { count, identity, listOf, time } from "./words.js";

const ENDED = z.strictObject({
  at: time,
  identity,
  endpoint: ENDPOINT_TOLD.optional(),
  periodId: z.string().nullable(),
  /** `executed`, `failed`, `missed`, `skipped` or `unschedulable`. */
  outcome: z.string(),
  reason: z.string().nullable(),
});
export type Ended = z.output<typeof ENDED>;

const LANE = z.strictObject({
  identity,
  endpoint: ENDPOINT_TOLD.optional(),
  standing: z.string(),
  pausedUntil: time.nullable(),
  /** The same job starts so often that single starts say nothing. */
  isFrequent: z.boolean(),
  starts: listOf(
    z.strictObject({
      nominal: time,
      windowStart: time.nullable(),
      windowEnd: time.nullable(),
      chosen: time.nullable(),
    }),
  ),
});

const OUTCOME_COUNTS = z.strictObject({
  executed: count,
  failed: count,
  missed: count,
  skipped: count,
  unschedulable: count,
});
export type OutcomeCounts = z.output<typeof OUTCOME_COUNTS>;

/** A job that needs a look; of a period that nobody could look at, from when to when that was. */
const PROBLEM = JOB_STATUS.extend({ lost: z.strictObject({ from: time, to: time }).optional() });

export const NOW_ANSWER = z.strictObject({
  at: time,
  /** Nodes that did not answer: what they look after is none of this. */
  absent: listOf(z.string()).optional(),
  counts: z.strictObject({ jobs: count, running: count, failing: count, held: count }),
  /** Of the last hour, as far as the daemon was there; absent where several share a store, each of which knows its own. */
  outcomes: OUTCOME_COUNTS.optional(),
  problems: listOf(PROBLEM),
  running: listOf(JOB_STATUS),
  /** Newest first; what a daemon remembers since its start. */
  ended: listOf(ENDED),
  /** What starts within the next 24 hours, soonest first; of many, those that start seldom, and what starts all the time. */
  lanes: listOf(LANE),
});
export type NowAnswer = z.output<typeof NOW_ANSWER>;
