/** The figures of a simulation by name. Help prints them, so nothing is imported here. */

/** What can be asked for, and what it means. Durations are compared in milliseconds. */
export const METRICS = {
  periods: "periods that were due",
  executed: "periods that ended in a start",
  skipped: "periods skipped by a concurrency rule",
  missed: "periods whose deadline passed",
  unschedulable: "periods without an allowed instant",
  not_evaluated: "periods passed over after an interruption, or while a hint held",
  before_definition: "periods due before their definition",
  suspended: "periods of suspended jobs",
  paused: "periods of paused jobs",
  down: "periods due while no daemon ran, and never looked at",
  removed: "periods of jobs that were removed before they were handled",
  open: "periods still open at the end",
  unaccounted: "periods with no outcome and no reason",
  duplicates: "periods that ran more than once",
  violations: "broken promises of any kind",
  started: "commands that began, manual runs included",
  manual: "commands begun by hand",
  intervals: "commands begun because an interval, or a bound of the pace, asked for them",
  hinted: "commands begun because of a hint",
  at_boot: "commands begun because the machine had come up",
  retried: "commands begun again after an attempt of the same period failed",
  failed: "runs that ended with an exit code above zero or by a signal",
  unknown_exits: "runs whose end nobody saw",
  still_running: "runs still going at the end",
  refused: "attempts for which no process could be created",
  overlaps: "starts while another run of the same job was going",
  peak: "most runs at once",
  starts_per_second: "most starts in one second",
  max_lateness: "longest time between the chosen instant and the start",
  fatal: "ends of the daemon by a fatal error",
} as const;
export type Metric = keyof typeof METRICS;
export type Figures = Readonly<Record<Metric, number>>;
