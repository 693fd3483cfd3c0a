/**
 * The Declarative Scheduler: `createScheduler`, its stores, its cron language, its errors. How it works, from the
 * outside in:
 *
 * - `create-scheduler` answers the two calls; `session` is one active stretch, from `initialize` to `stop`.
 * - `registrations`, `reconcile`, `claims`, `completions` and `task-rules` decide, and are pure.
 * - `agenda` and `timeline` say which records to read; `record-access` reads and writes them in transactions; the store
 *   alone is true.
 * - `polling-loop` evaluates and sleeps; `runs` calls the callbacks and makes their ends durable.
 */

export { createScheduler } from "./create-scheduler.js";
export {
  type CronExpression,
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
  RegistrationShapeError,
  RegistrationsNotArrayError,
  ScheduleDuplicateTaskError,
  SchedulerAlreadyActiveError,
  SchedulerError,
  SchedulerInitializationError,
  TaskStoreError,
} from "./errors.js";
export {
  TaskInvalidStructureError,
  TaskInvalidTypeError,
  TaskInvalidValueError,
  TaskMissingFieldError,
  TaskTryDeserializeError,
} from "./record-errors.js";
export { type RegisteredTask, validateRegistrations } from "./registrations.js";
export { lmdbStore } from "./stores/lmdb.js";
export { memoryStore } from "./stores/memory.js";
export type {
  Callback,
  DurationLike,
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
  TaskRecord,
  TaskRecordChanges,
  TaskRecordsByName,
  TaskRecordView,
  TaskStore,
  TaskStoreUpdate,
} from "./types.js";
