/** Bounds of planners, by name. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";

export const PLANNER_LIMITS = {
  /** A hint of a planner holds no longer: a person may say more. */
  ttlMinutes: DAY_MS / MINUTE_MS,
  /** Nor does a pause. */
  pauseMs: DAY_MS,
  reasonChars: 300,
  /** How long an endpoint is left alone after it was looked at; its own baseline where that is longer, but never beyond the second. */
  coolDownMs: 15 * MINUTE_MS,
  longestCoolDownMs: 6 * HOUR_MS,
  /** Where there was no evidence, or the rules have found nothing. */
  nothingFoundMs: MINUTE_MS,
  siblings: 50,
  nameChars: 200,
  /** Of a hint or a pause in force, as a planner is shown it. */
  shownReasonChars: 1_000,
  situationBytes: 4 * 1024 * 1024,
  runsOfSituation: 10_000,
  sessionChars: 128 * 1024,
} as const;

export const EVIDENCE_LIMITS = {
  /** The median of an hour is so many times that of a day. */
  slowedTimes: 1.25,
  /** All runs of four hours had nothing to do, and there were so many. */
  idleRuns: 10,
} as const;

/** Of what is on record of planners. */
export const SESSION_LIMITS = {
  ofEndpoint: 20,
  ofTenant: 10_000,
  ageMs: 30 * DAY_MS,
  /** Too old, and taken out along with one that is written. */
  takenOutAtOnce: 64,
  /** After so many new ones those of a tenant are counted. */
  countedEvery: 500,
} as const;

export const CHAT_LIMITS = {
  /** Over a whole session, whatever the server does. */
  deadlineMs: 60 * SECOND_MS,
  responseBytes: 1024 * 1024,
  rounds: 8,
  callsPerRound: 4,
  /** Of one call's arguments. */
  argumentChars: 4_000,
  /** Of them, and of the result, on record. */
  recordedChars: 500,
  /** Of what somebody else has written, in what the model gets to read. */
  quotedBytes: 500,
  /** A request that was put off is made once more, after this long or what the server says, as long as that is no longer than the second. */
  retryAfterMs: 2 * SECOND_MS,
  longestRetryMs: 20 * SECOND_MS,
  /** Of an answer. */
  maxTokens: 1_024,
  /** A token is no fewer bytes, for want of a count. */
  bytesPerToken: 3,
  /** More than this nobody has used: what a server says beyond it is not believed. */
  believableTokens: 10_000_000,
} as const;

export const BREAKER_LIMITS = {
  /** Sessions in a row that failed. */
  failures: 3,
  firstMs: MINUTE_MS,
  longestMs: HOUR_MS,
  /** Up to so much of it is added, so that many do not come back at once. */
  jitter: 0.2,
} as const;
