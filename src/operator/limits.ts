import { MINUTE_MS, SECOND_MS } from "../core/time/instant.js";

/** Every bound of the operator, by name. */
export const OPERATOR_LIMITS = {
  /** A KronJob's active Jobs: all of them stand in its status. */
  active: 1_000,
  /** Outcomes kept in the status. */
  history: 20,
  /** Rounds of one look at a KronJob, and periods settled in it; the next look goes on where it ended. */
  rounds: 24,
  /** Requests under way at once. */
  inFlight: 32,
  pageItems: 500,
  decisionBytes: 2_048,
  eventMessageChars: 1_024,
  conditionMessageChars: 4_096,
  errorBodyBytes: 64 * 1024,
  /** A page of a list, at most: of 500 objects each may be large. */
  bodyBytes: 128 * 1024 * 1024,
  /** One object of a list or watch: what etcd can hold, and then some. */
  objectBytes: 4 * 1024 * 1024,
} as const;

export const OPERATOR_TIMES = {
  /** S20: how long after its deadline a Job may still be released. */
  startGraceMs: MINUTE_MS,
  /** The gate is made this long ahead, so that the chosen second costs two requests. */
  armAheadMs: 5 * SECOND_MS,
  /** S13: a wake that comes later than this is a return. */
  lateWakeMs: MINUTE_MS,
  /** Beyond the pods' own grace: how long a replaced Job may take to go. */
  clearingMs: 30 * SECOND_MS,
  defaultPodGraceMs: 30 * SECOND_MS,
  /** A wish to run now is granted this long after it was written. */
  runRequestMs: 10 * MINUTE_MS,
  runRequestAheadMs: MINUTE_MS,
  /** What is claimed or gated is looked at again, whatever the watch says. */
  lookAgainMs: 30 * SECOND_MS,
  /** What is not due is left to the holder of the Lease for so long; then whoever stands by does it. */
  standbyCalmMs: 30 * SECOND_MS,
  retryFirstMs: 100,
  retryLongestMs: 30 * SECOND_MS,
  /** A server that wishes for a longer pause is asked again nevertheless. */
  retryWishMs: 2 * MINUTE_MS,
  /** Refused for so long before anything was granted, it is no API server that is still starting. */
  refusedMs: 10 * SECOND_MS,
  /** A watch that lasted so long was of use: the next trouble is the first one again. */
  watchHealthyMs: 10 * SECOND_MS,
} as const;
