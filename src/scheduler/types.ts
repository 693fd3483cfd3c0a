/**
 * The vocabulary of the Declarative Scheduler: what its user hands in, what its user gets told. Types only.
 */

import type { Frame } from "../machines/inspection-frames.js";

/** What an inspector is sent: one JSON text each. */
export type InspectionFrame = Frame;

/** Anything that says how long: milliseconds, an ISO 8601 text, a Temporal.Duration, or an object with `toMillis()`. */
export type DurationLike = number | string | { toMillis(): number } | { total(unit: "millisecond"): number };

/** Usually an async function. What it returns does not matter: only whether it throws, or rejects. */
export type Callback = () => unknown;

export type Registration = readonly [name: string, cron: string, callback: Callback, retryDelay: DurationLike];

/** What the `kron` dialect lets a task have beyond the four. */
export interface KronTaskOptions {
  /** IANA id of the zone in which its expression is read. Default: that of the scheduler. */
  readonly timeZone?: string | undefined;
}

export type KronRegistration = readonly [
  name: string,
  cron: string,
  callback: Callback,
  retryDelay: DurationLike,
  options?: KronTaskOptions,
];

/** `running`: it was running already, so nothing was started and nothing is owed. */
export type TriggerOutcome = "started" | "running";

/** Exactly two methods: everything else is data. */
export interface Scheduler {
  initialize(registrations: readonly Registration[]): Promise<void>;
  stop(): Promise<void>;
}

/** What `createKronScheduler` returns: the two methods, and what goes beyond the specification. */
export interface KronScheduler {
  initialize(registrations: readonly KronRegistration[]): Promise<void>;
  stop(): Promise<void>;
  /**
   * When the task is to be started next, as things stand, in epoch milliseconds; null: never. While it runs: its next
   * occurrence.
   *
   * @throws TaskUnavailableError
   */
  nextRun(name: string): number | null;
  /**
   * Runs the task now, whatever its expression says, unless it is running already. Resolves once the start is durable and
   * the callback called, rejects with a TaskUnavailableError or, when the start cannot be written, a TaskStoreError.
   */
  trigger(name: string): Promise<TriggerOutcome>;
}

export interface SchedulerClock {
  /** Epoch milliseconds of the wall clock. */
  now(): number;
  /** IANA id of the zone in which expressions are read. Asked again at every use, so a travelling host is followed. */
  timeZone(): string;
}

export interface Sleeper {
  /** Resolves after `ms`, or at once when `wake()` is called; early and late wake-ups are both allowed. */
  sleep(ms: number): Promise<void>;
  wake(): void;
}

/** What is persisted for one task. All instants are epoch milliseconds; null: never. */
export interface TaskRecord {
  readonly name: string;
  readonly cron: string;
  /** A zone of the task's own (`createKronScheduler`); absent: it follows the scheduler's. */
  readonly timeZone?: string;
  readonly retryDelayMs: number;
  /** Start of the minute of first sight, or of the last change of expression or zone, minus 1 ms. */
  readonly cronSince: number;
  readonly lastAttemptAt: number | null;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly pendingRetryUntil: number | null;
  /**
   * Identifier of the scheduler that is running the task; absent while it rests. When it is not that of a run alive in
   * this process, the run was cut off and the task is orphaned: owed at once (P19).
   */
  readonly runningBy?: string;
  /**
   * Set on what is left of a task that is no longer listed but was attempted in the very minute in which it was
   * removed: listing it again within that minute must not run it twice. Gone at the next `initialize`.
   */
  readonly removedAt?: number;
}

export interface TaskStoreUpdate<T> {
  /** The complete new set; absent: nothing changes. */
  readonly records?: readonly TaskRecord[];
  readonly result: T;
}

/**
 * Serialised transactions over all task records. The returned promise resolves once the change is durable; when it
 * rejects, nothing changed.
 */
export interface TaskStore {
  transact<T>(update: (records: readonly TaskRecord[]) => TaskStoreUpdate<T>): Promise<T>;
  /** Called when a scheduler lets go of the store; it may be used again afterwards. */
  release?(): Promise<void>;
  /**
   * Offered by stores that reach one record without reading all. The scheduler then reads and writes only what is due;
   * without it every evaluation is one `transact` over all records, which is right as well, only slower.
   */
  readonly byName?: TaskRecordsByName;
}

/** Access to single records, in the same line of transactions as `transact`. */
export interface TaskRecordsByName {
  /**
   * Grows by one with every committed change of the records, through whichever of the two doors it came. A scheduler
   * that sees another number than its own changes explain reads everything anew.
   */
  revision(): number;
  transact<T>(update: (view: TaskRecordView) => TaskRecordChanges<T>): Promise<T>;
}

/** What lies in a store may be anything, whatever the types say: `raw` is checked by whoever reads it. */
export interface StoredTaskRecord {
  /** Null where the store cannot tell to which task it belongs. */
  readonly name: string | null;
  readonly raw: unknown;
}

/** The records as they are inside one transaction. */
export interface TaskRecordView {
  readonly revision: number;
  /** The stored record, undefined when there is none. */
  get(name: string): unknown;
  all(): Iterable<StoredTaskRecord>;
}

/** Without `put` and `remove`, or with empty ones, nothing changes and the revision stays. */
export interface TaskRecordChanges<T> {
  readonly put?: readonly TaskRecord[];
  readonly remove?: readonly string[];
  readonly result: T;
}

export interface ReconciledNames {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
  readonly orphaned: readonly string[];
}

/** What makes two tasks of one name the same, or not. */
export interface TaskConfiguration {
  readonly cron: string;
  readonly timeZone?: string;
  readonly retryDelayMs: number;
}

/** A task, orphaned or not, that is registered otherwise than before. */
export interface TaskModification {
  readonly name: string;
  readonly before: TaskConfiguration;
  readonly after: TaskConfiguration;
}

/** `at` is the reading of the injected clock when it happened. */
export type SchedulerEvent = { readonly at: number } & (
  | { readonly type: "SchedulerInitializationStarted" }
  | { readonly type: "SchedulerInitializationCompleted"; readonly schedulerId: string }
  | { readonly type: "SchedulerInitializationFailed"; readonly error: unknown }
  | { readonly type: "SchedulerStopRequested" }
  | { readonly type: "SchedulerStopped" }
  | ({ readonly type: "Reconciled"; readonly changes: readonly TaskModification[] } & ReconciledNames)
  | {
      readonly type: "TaskRecordsAhead";
      /** Tasks that remember something later than the clock reads, and are silent until it gets there. */
      readonly names: readonly string[];
      /** The latest instant that one of them remembers. */
      readonly untilAt: number;
    }
  | { readonly type: "PollingStarted" }
  | { readonly type: "PollingStopRequested" }
  | { readonly type: "PollingStopped" }
  | { readonly type: "TaskRunStarted"; readonly name: string; readonly cause: RunCause; readonly dueAt: number }
  | {
      /** A listener of its start stopped the scheduler: the callback is not called, and the run stays owed. */
      readonly type: "TaskRunWithdrawn";
      readonly name: string;
    }
  | { readonly type: "TaskRunCompleted"; readonly name: string; readonly startedAt: number }
  | {
      readonly type: "TaskRunFailed";
      readonly name: string;
      readonly startedAt: number;
      readonly error: unknown;
      readonly pendingRetryUntil: number;
    }
  | { readonly type: "TaskRetryStarted"; readonly name: string; readonly dueAt: number }
  | { readonly type: "TaskRetryPreempted"; readonly name: string; readonly pendingRetryUntil: number }
  | {
      readonly type: "EvaluationLate";
      readonly name: string;
      /** From when on it could have started: it was due, the scheduler was active and no earlier run was in the way. */
      readonly dueAt: number;
      readonly lateByMs: number;
    }
  | {
      readonly type: "StoreFailed";
      readonly operation: string;
      readonly error: unknown;
      readonly retryInMs: number | null;
    }
  | {
      readonly type: "TaskRecordQuarantined";
      readonly name: string | null;
      readonly error: unknown;
      /** What was found in the store. */
      readonly record: unknown;
    }
);

/**
 * Why a run was owed. One start consumes all causes (P10); the strongest is named: orphan, boot, cron, retry, and
 * `trigger` where nothing but a call of it asked for the run.
 */
export type RunCause = "orphan" | "boot" | "cron" | "retry" | "trigger";

/** As Pino has it. An error is the field `err`, which is what Pino prints with its message and stack. */
export interface SchedulerLogger {
  debug(fields: object, message: string): unknown;
  info(fields: object, message: string): unknown;
  warn(fields: object, message: string): unknown;
  error(fields: object, message: string): unknown;
}

/** Everything may be left out, or undefined; everything given is looked at only when it is first needed. */
export interface SchedulerOptions {
  readonly clock?: SchedulerClock | undefined;
  /** IANA id of the zone in which expressions are read. Default: what the clock says. */
  readonly timeZone?: string | undefined;
  readonly sleeper?: Sleeper | undefined;
  /** Default: `lmdbStore(directory)`. */
  readonly store?: TaskStore | undefined;
  /** Where the default store lives. Default: `./kron-scheduler`. */
  readonly directory?: string | undefined;
  readonly newId?: (() => string) | undefined;
  readonly onEvent?: ((event: SchedulerEvent) => unknown) | undefined;
  /** Told of every step of its charts, as frames that inspectors of XState understand. */
  readonly inspect?: ((frame: InspectionFrame) => unknown) | undefined;
  readonly logger?: SchedulerLogger | undefined;
}
