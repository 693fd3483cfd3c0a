/**
 * The vocabulary of the Declarative Scheduler: what its user hands in, what its user gets told. Types only.
 */

/** Anything that says how long: milliseconds, an ISO 8601 text, a Temporal.Duration, or an object with `toMillis()`. */
export type DurationLike = number | string | { toMillis(): number } | { total(unit: "millisecond"): number };

export type Callback = () => Promise<void>;

export type Registration = readonly [name: string, cron: string, callback: Callback, retryDelay: DurationLike];

/** Exactly two methods: everything else is data. */
export interface Scheduler {
  initialize(registrations: readonly Registration[]): Promise<void>;
  stop(): Promise<void>;
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
  readonly retryDelayMs: number;
  /** Start of the minute of first sight, or of the last change of the expression, minus 1 ms. */
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

/** `at` is the reading of the injected clock when it happened. */
export type SchedulerEvent = { readonly at: number } & (
  | { readonly type: "SchedulerInitializationStarted" }
  | { readonly type: "SchedulerInitializationCompleted"; readonly schedulerId: string }
  | { readonly type: "SchedulerInitializationFailed"; readonly error: unknown }
  | { readonly type: "SchedulerStopRequested" }
  | { readonly type: "SchedulerStopped" }
  | ({ readonly type: "Reconciled" } & ReconciledNames)
  | { readonly type: "PollingStarted" }
  | { readonly type: "PollingStopRequested" }
  | { readonly type: "PollingStopped" }
  | { readonly type: "TaskRunStarted"; readonly name: string; readonly cause: RunCause; readonly dueAt: number }
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

/** Why a run was owed. One start consumes all causes (P10); the strongest is named: orphan, boot, cron, retry. */
export type RunCause = "orphan" | "boot" | "cron" | "retry";

export interface SchedulerLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Everything may be left out; everything given is looked at only when it is first needed. */
export interface SchedulerOptions {
  readonly clock?: SchedulerClock;
  readonly sleeper?: Sleeper;
  /** Default: `lmdbStore(directory)`. */
  readonly store?: TaskStore;
  /** Where the default store lives. Default: `./kron-scheduler`. */
  readonly directory?: string;
  readonly newId?: () => string;
  readonly onEvent?: (event: SchedulerEvent) => void;
  readonly logger?: SchedulerLogger;
}
