/**
 * Why a period did not run: every reason that goes on record, by name, and each with its text. Documents, ledger, metrics
 * and notifications all use these names, so a name keeps its meaning for good.
 */
import { ERRORS, type ErrorCode, isErrorCode } from "../base/errors/registry.js";
import { UNSCHEDULABLE_REASON } from "../decision/record.js";

/** Why the deadline passed. `deadline` stands for what nobody knows any more. */
export const MISSED_REASONS = [
  "deadline",
  "late_start",
  "superseded",
  "down",
  "stalled",
  "clock_jump",
  "paused",
] as const;
type PlainMissedReason = (typeof MISSED_REASONS)[number];

export const NOT_STARTED = "not_started:";
/** S24: a start was tried, and this is what stood in its way. */
type NotStartedReason = `${typeof NOT_STARTED}${ErrorCode}`;
export type MissedReason = PlainMissedReason | NotStartedReason;

/** Runs that go on are what kept it from running. */
const CONCURRENCY_REASONS = ["concurrency_forbid", "too_many_active"] as const;
/** It was due when what is on record may have been lost. */
const FENCE_REASONS = ["state_recovered", "failover_fenced"] as const;
export type FenceReason = (typeof FENCE_REASONS)[number];
export const SKIPPED_REASONS = [...CONCURRENCY_REASONS, ...FENCE_REASONS] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/** S13, S17, S41: why periods were passed over. A record without a reason is one that nobody knows it of. */
export const GAP_REASONS = ["hinted", "paused", "down", "stalled", "clock_jump", "failover_fenced"] as const;
export type GapReason = (typeof GAP_REASONS)[number];

/** Of what an operator or the definition did; no outcome goes with them, or one that was there before. */
export const OTHER_REASONS = ["rewound", "before_definition"] as const;

type PlainReason = PlainMissedReason | SkippedReason | (typeof OTHER_REASONS)[number];

const REASON_TEXTS: Readonly<Record<PlainReason, string>> = {
  deadline: "its deadline had passed when it could be judged",
  late_start: "its start took longer than the deadline and the grace for starting allow",
  superseded: "the next period came before it could be started",
  down: "the daemon was down when its deadline passed",
  stalled:
    "the daemon was there, but did not get to it before its deadline had passed: the machine was busy or stopped",
  clock_jump: "the clock went over its deadline: it was set forward, or the machine slept",
  paused: "its deadline passed while the job was paused",
  concurrency_forbid: "an earlier run was still going, and the job forbids concurrent runs",
  too_many_active: "as many runs as max_active allows were going already",
  state_recovered: "its state was lost, and repeating a run was ruled out",
  failover_fenced:
    "another database server had taken over, which may have forgotten that it ran, and repeating a run was ruled out",
  rewound: "an operator moved the state back",
  before_definition: "it was due before the definition came into force",
};

const GAP_TEXTS: Readonly<Record<GapReason, string>> = {
  hinted: "a hint stood in for the schedule",
  paused: "the job was paused",
  down: "the daemon was down",
  stalled: "the daemon was there and stood still: the machine was busy or stopped",
  clock_jump: "the clock went over them: it was set forward, or the machine slept",
  failover_fenced: "another database server had taken over, which may have forgotten that they ran",
};

/** Of a record: a reason that this version does not know is its own text. */
export function gapText(reason: string): string {
  return Object.hasOwn(GAP_TEXTS, reason) ? GAP_TEXTS[reason as GapReason] : reason;
}

export function notStarted(code: ErrorCode): NotStartedReason {
  return `${NOT_STARTED}${code}`;
}

/** What stood in the way of a start; null for every other reason. */
export function startFailureOf(reason: string | null): ErrorCode | null {
  if (reason === null || !reason.startsWith(NOT_STARTED)) return null;
  const code = reason.slice(NOT_STARTED.length);
  return isErrorCode(code) ? code : null;
}

/** For people. A reason that this version does not know is its own text. */
export function reasonText(reason: string): string {
  const code = startFailureOf(reason);
  if (code !== null) return `it could not be started: ${ERRORS[code].meaning} (${code})`;
  return isPlainReason(reason) ? REASON_TEXTS[reason] : reason;
}

/** The event of the log. Only of runs that were in the way it is called so: a fence skips a period too, and nothing was running then (S32). */
export function skippedEvent(reason: string | null): "skipped_concurrency" | "skipped" {
  return CONCURRENCY_REASONS.some((each) => each === reason) ? "skipped_concurrency" : "skipped";
}

/** One of a bounded set, whatever a store says: for the labels of metrics. */
export function knownReason(reason: string): string {
  const isKnown = reason === "" || reason === UNSCHEDULABLE_REASON || isPlainReason(reason);
  return isKnown || startFailureOf(reason) !== null ? reason : "other";
}

function isPlainReason(reason: string): reason is PlainReason {
  return Object.hasOwn(REASON_TEXTS, reason);
}
