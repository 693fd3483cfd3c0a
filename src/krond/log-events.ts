/**
 * Every event of the log, in one table: which part of Kron it comes from, and its level as the error model has it. Field
 * names are as stable as the names of the events.
 */
import type { DecisionRecord } from "../core/decision/model.js";
import type { ErrorComponent } from "../core/errors/kron-error.js";
import type { LogLevel } from "../core/errors/registry.js";

export const LOG_COMPONENTS = [
  "scheduler",
  "executor",
  "policy",
  "constraints",
  "seed",
  "persist",
  "config",
  "api",
  "governor",
  "planner",
] as const satisfies readonly ErrorComponent[];

export interface LogEventKind {
  readonly component: ErrorComponent;
  readonly level: LogLevel;
}

function kind(component: ErrorComponent, level: LogLevel): LogEventKind {
  return { component, level };
}

export const LOG_EVENTS = {
  // What becomes of periods and runs.
  decision: kind("scheduler", "info"),
  reschedule: kind("scheduler", "debug"),
  trigger: kind("policy", "info"),
  started: kind("executor", "info"),
  completed: kind("executor", "info"),
  skipped_concurrency: kind("policy", "info"),
  missed_deadline: kind("policy", "info"),
  unschedulable: kind("scheduler", "warn"),
  replaced: kind("policy", "info"),
  constraint_reject: kind("constraints", "debug"),
  /** S13: a gap is one line, whatever its length. */
  periods_not_evaluated: kind("scheduler", "info"),
  /** S14 */
  before_definition: kind("scheduler", "info"),
  /** S29 */
  adopted: kind("executor", "info"),
  // What becomes of definitions.
  config_reloaded: kind("config", "info"),
  removed: kind("config", "info"),
  paused: kind("scheduler", "info"),
  resumed: kind("scheduler", "info"),
  // The world underneath.
  clock_jump: kind("scheduler", "warn"),
  /** The event loop was held up. */
  loop_delay: kind("scheduler", "warn"),
  /** S16: this version of the program would reject it. */
  definition_kept: kind("config", "warn"),
  /** S5 */
  zone_data_changed: kind("scheduler", "warn"),
  /** S32 */
  state_ahead_of_clock: kind("persist", "warn"),
  state_recovered: kind("persist", "warn"),
  // The daemon itself.
  /** Something takes long: how far it is. */
  progress: kind("planner", "info"),
  ready: kind("scheduler", "info"),
  draining: kind("scheduler", "info"),
  stopped: kind("scheduler", "info"),
  // Trouble: component and level are those of the error; what is fatal is written at level error, before the exit.
  error: kind("scheduler", "error"),
  fatal: kind("scheduler", "error"),
} as const satisfies Record<string, LogEventKind>;

export type LogEventName = keyof typeof LOG_EVENTS;

interface OfPeriod {
  readonly identity: string;
  readonly period_id: string;
}

interface OfRun extends OfPeriod {
  readonly attempt_id: string;
  readonly pid: number;
  /** null for the job's own cron periods (S40). */
  readonly source: string | null;
}

interface Outcome extends OfPeriod {
  readonly outcome: string;
  readonly reason: string | null;
  /** So that the decision can be reproduced from the log alone. */
  readonly decision: DecisionRecord | null;
}

/** What each event carries, trouble aside: that has the fields of every error line. */
export interface LogEventFields {
  readonly decision: OfPeriod & { readonly decision: DecisionRecord };
  readonly reschedule: { readonly identity: string };
  readonly trigger: Outcome;
  readonly started: OfRun;
  readonly completed: Omit<OfRun, "attempt_id"> & {
    readonly exit_code: number | null;
    readonly signal: string | null;
    readonly reason: string | null;
  };
  readonly skipped_concurrency: Outcome;
  readonly missed_deadline: Outcome;
  readonly unschedulable: Outcome;
  readonly replaced: OfPeriod & { readonly pid: number };
  readonly constraint_reject: OfPeriod & { readonly candidate_time: string };
  readonly periods_not_evaluated: {
    readonly identity: string;
    readonly count: number;
    readonly is_count_exact: boolean;
    readonly first: string;
    readonly last: string;
  };
  readonly before_definition: OfPeriod;
  readonly adopted: OfPeriod & { readonly pid: number };
  readonly config_reloaded: {
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly rejected: number;
  };
  readonly removed: { readonly identity: string };
  readonly paused: { readonly identity: string; readonly until: string; readonly reason: string };
  readonly resumed: { readonly identity: string };
  readonly clock_jump: { readonly drift_ms: number };
  readonly loop_delay: { readonly delay_ms: number; readonly during: readonly string[]; readonly untold: number };
  readonly zone_data_changed: {
    readonly from: string;
    readonly to: string;
    readonly zones: readonly string[];
    readonly jobs: number;
  };
  readonly definition_kept: { readonly identity: string; readonly message: string };
  readonly state_ahead_of_clock: OfPeriod;
  readonly state_recovered: { readonly identity: string };
  readonly ready: {
    readonly pid: number;
    readonly jobs: number;
    readonly files: readonly string[];
    readonly state: string;
  };
  readonly draining: { readonly graceful: boolean; readonly signal?: string };
  readonly stopped: { readonly signal?: string; readonly reason?: string };
}
