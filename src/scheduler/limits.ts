/** Every bound of the Declarative Scheduler's loops and retries, by name. */
export const SCHEDULER_LIMITS = {
  /**
   * Tasks whose claims, or ends, share a transaction: many enough that syncing costs little for each, few enough that the
   * first callbacks start soon and the event loop gets its turn in between.
   */
  tasksPerTransaction: 1_000,
  /** First pause after a failed transaction while polling; it doubles with every further failure. */
  storeRetryFirstMs: 1_000,
  /** Longest pause after a failed transaction: short enough that a store that is back delays no start for a minute. */
  storeRetryMaxMs: 30_000,
  /** How often `stop` tries to write what is still unwritten; what remains is recognised as orphaned later. */
  storeAttemptsAtStop: 3,
  /** Pause of the loop when the injected sleeper or clock fails. */
  faultPauseMs: 1_000,
  /** A start may be this late however few tasks there are (R1, R2) ... */
  lateStartMs: 60_000,
  /** ... and later by this much for each task: 100,000 tasks, 10 minutes. */
  lateStartMsPerTask: 6,
  /** Longest retry delay: beyond it an instant could leave the range of dates. */
  retryDelayMs: 100 * 365 * 86_400_000,
  /** Records that are ahead of the clock by more than this are told of: a clock that was corrected a little is no news. */
  recordAheadMs: 60_000,
  /** A sleeper that ends so many sleeps in a row at once, unasked, does not sleep: that is told of ... */
  sleeplessCycles: 1_000,
  /** ... if they were to last this long at least: a timer of a moment may well come first. */
  sleeplessMs: 1_000,
  /** A wall clock that went back by more than this between two evaluations is reported. */
  clockStepBackMs: 1_000,
} as const;
