/**
 * The library: everything that computes, exported by name. Daemon and commands are programs of their own; the in-process
 * scheduler is also reachable as `kron/scheduler`.
 */

export { ERRORS, type ErrorCategory, type ErrorCode, errorKind } from "./core/base/errors/registry.js";
export type { Problem } from "./core/base/problem.js";
export type { Result } from "./core/base/result.js";
export { ENGINE_VERSION } from "./core/base/version.js";
export { jobJsonSchema } from "./core/config/json-schema.js";
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
export type { Clause, Constraints, Distribution, SchedulingRule, SeedRule, WindowRule } from "./core/decision/rule.js";
export { type Verification, verifyRecord } from "./core/decision/verify.js";
export { type ForecastStart, forecastStarts, type JobStarts, type LastRuns } from "./core/forecast/starts.js";
export {
  type EndpointHints,
  type GovernedEndpoint,
  type NextRun,
  type NextRunInput,
  nextRun,
  type RunSource,
} from "./core/governor/next-run.js";
export type { JobDefinition, Policy, Target } from "./core/job/definition.js";
export { readJobDefinition } from "./core/job/schema.js";
export { currentPeriod, nextPeriod } from "./core/period/periods.js";
export type { DstRule } from "./core/time/dst.js";
export { formatDuration, parseDuration } from "./core/time/duration.js";
export { type EpochMs, formatInstant, parseInstant } from "./core/time/instant.js";
export { type Zone, type ZoneSpan, zoneOf } from "./core/time/zone.js";
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
export { scenarioJsonSchema } from "./simulation/scenario-shape.js";
