/**
 * The library: everything that computes, exported by name. Daemon and commands are programs of their own; the in-process
 * scheduler is also reachable as `kron/scheduler`.
 */
export { type CronFields, isImpossible } from "./core/cron/fields.js";
export { parseKronCron } from "./core/cron/kron-dialect.js";
export { type PosixCronProblem, parsePosixCron } from "./core/cron/posix-dialect.js";
export { compileSchedule, type Schedule } from "./core/cron/schedule.js";
export { compileRule } from "./core/decision/compile.js";
export { formatClauses, parseConstraintText } from "./core/decision/constraints.js";
export { decide } from "./core/decision/decide.js";
export { type CandidateStep, type Explanation, explainDecision } from "./core/decision/explain.js";
export type { CompiledRule, Decision, DecisionRecord } from "./core/decision/model.js";
export { type RecordVersions, toDecisionRecord } from "./core/decision/record.js";
export { readDecisionRecord } from "./core/decision/record-reader.js";
export { type Verification, verifyRecord } from "./core/decision/verify.js";
export { ERRORS, type ErrorCategory, type ErrorCode, errorKind } from "./core/errors/registry.js";
export type {
  Clause,
  Constraints,
  Distribution,
  DstRule,
  JobDefinition,
  Policy,
  SchedulingRule,
  SeedRule,
  Target,
  WindowRule,
} from "./core/job/definition.js";
export { jobJsonSchema, readJobDefinition } from "./core/job/schema.js";
export { currentPeriod, nextPeriod } from "./core/periods.js";
export type { Problem } from "./core/problem.js";
export type { Result } from "./core/result.js";
export { formatDuration, parseDuration } from "./core/time/duration.js";
export { type EpochMs, formatInstant, parseInstant } from "./core/time/instant.js";
export { type Zone, type ZoneSpan, zoneOf } from "./core/time/zone.js";
export { ENGINE_VERSION } from "./core/version.js";
export {
  CronCalculationError,
  type CronExpression,
  CronExpressionInvalidError,
  createScheduler,
  FieldParseError,
  InvalidCronExpressionError,
  InvalidRegistrationError,
  lmdbStore,
  matchesCron,
  memoryStore,
  NegativeRetryDelayError,
  nextOccurrence,
  parseCron,
  previousOccurrence,
  type Registration,
  RegistrationShapeError,
  RegistrationsNotArrayError,
  ScheduleDuplicateTaskError,
  type Scheduler,
  SchedulerAlreadyActiveError,
  SchedulerError,
  type SchedulerEvent,
  SchedulerInitializationError,
  type SchedulerOptions,
  TaskInvalidStructureError,
  TaskInvalidTypeError,
  TaskInvalidValueError,
  TaskMissingFieldError,
  type TaskRecord,
  type TaskStore,
  TaskStoreError,
  TaskTryDeserializeError,
  validateRegistrations,
} from "./scheduler/index.js";
