/**
 * The Declarative Scheduler: `createScheduler`, its stores, its cron language, its errors. How it works, from the
 * outside in:
 *
 * - `lifecycle` answers the calls; `session` is one active stretch, from `initialize` to `stop`. `create-scheduler` shows
 *   what the specification describes, `create-kron-scheduler` what goes beyond it.
 * - `registrations`, `reconcile`, `claims`, `completions` and `task-rules` decide, and are pure.
 * - `agenda` and `timeline` say which records to read; `record-access` reads and writes them in transactions; the store
 *   alone is true.
 * - `polling-loop` evaluates and sleeps; `runs` calls the callbacks and makes their ends durable.
 */

export { createKronScheduler } from "./create-kron-scheduler.js";
export { createScheduler } from "./create-scheduler.js";
export {
  type CronDialect,
  type CronExpression,
  type DialectChoice,
  matchesCron,
  nextOccurrence,
  parseCron,
  previousOccurrence,
} from "./cron.js";
export {
  CronCalculationError,
  CronExpressionInvalidError,
  FieldParseError,
  InvalidCronExpressionError,
  InvalidRegistrationError,
  NegativeRetryDelayError,
  type RegistrationPlace,
  RegistrationShapeError,
  RegistrationsNotArrayError,
  ScheduleDuplicateTaskError,
  SchedulerAlreadyActiveError,
  SchedulerError,
  SchedulerInitializationError,
  TaskStoreError,
  TaskUnavailableError,
} from "./errors.js";
export {
  TaskInvalidStructureError,
  TaskInvalidTypeError,
  TaskInvalidValueError,
  TaskMissingFieldError,
  TaskTryDeserializeError,
} from "./record-errors.js";
export { type RegisteredTask, validateRegistrations } from "./registrations.js";
export { rewindTasks } from "./rewind.js";
export { lmdbStore } from "./stores/lmdb.js";
export { memoryStore } from "./stores/memory.js";
export type {
  Callback,
  DurationLike,
  InspectionFrame,
  KronRegistration,
  KronScheduler,
  KronTaskOptions,
  ReconciledNames,
  Registration,
  RunCause,
  Scheduler,
  SchedulerClock,
  SchedulerEvent,
  SchedulerLogger,
  SchedulerOptions,
  Sleeper,
  StoredTaskRecord,
  TaskConfiguration,
  TaskModification,
  TaskRecord,
  TaskRecordChanges,
  TaskRecordsByName,
  TaskRecordView,
  TaskStore,
  TaskStoreUpdate,
  TriggerOutcome,
} from "./types.js";
