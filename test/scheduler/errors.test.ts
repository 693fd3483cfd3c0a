import { describe, expect, test } from "vitest";
import { ERRORS } from "../../src/core/base/errors/registry.js";
import {
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
  TaskInvalidStructureError,
  TaskInvalidTypeError,
  TaskInvalidValueError,
  TaskMissingFieldError,
  TaskStoreError,
  TaskTryDeserializeError,
  TaskUnavailableError,
} from "../../src/scheduler/index.js";

const cause = new Error("the reason below");
const place = { registrationIndex: 3, taskName: "backup" };
const syntax = new InvalidCronExpressionError("61 * * * *", "minute", "value 61 is out of range (0-59)");

describe("Error taxonomy: name, message, details and code", () => {
  test.each<[string, SchedulerError, string, object, string]>([
    [
      "RegistrationsNotArrayError",
      new RegistrationsNotArrayError(),
      "Registrations must be an array",
      {},
      "registrations-not-array",
    ],
    [
      "RegistrationShapeError",
      new RegistrationShapeError({ registrationIndex: 3 }, "x", "must be an array, got string"),
      "Invalid registration shape: expected [string, string, function, Duration]",
      { registrationIndex: 3, received: "x", reason: "must be an array, got string" },
      "registration-shape",
    ],
    [
      "InvalidRegistrationError",
      new InvalidRegistrationError("name", "", "must be a non-empty string", { registrationIndex: 3 }),
      "Invalid registration: name must be a non-empty string",
      { field: "name", value: "", reason: "must be a non-empty string", registrationIndex: 3 },
      "registration-invalid",
    ],
    [
      "ScheduleDuplicateTaskError",
      new ScheduleDuplicateTaskError("backup", 3),
      'Task with name "backup" is already scheduled',
      place,
      "task-duplicate",
    ],
    [
      "SchedulerAlreadyActiveError",
      new SchedulerAlreadyActiveError("initializing"),
      "Cannot initialize scheduler: scheduler is already initializing",
      { currentState: "initializing" },
      "scheduler-already-active",
    ],
    [
      "SchedulerAlreadyActiveError",
      new SchedulerAlreadyActiveError("running"),
      "Cannot initialize scheduler: scheduler is already running",
      { currentState: "running" },
      "scheduler-already-active",
    ],
    [
      "CronExpressionInvalidError",
      new CronExpressionInvalidError(syntax, place),
      'Invalid cron expression "61 * * * *": minute field value 61 is out of range (0-59)',
      { expression: "61 * * * *", field: "minute", reason: "value 61 is out of range (0-59)", ...place },
      "cron-expression-invalid",
    ],
    [
      "InvalidCronExpressionError",
      syntax,
      'Invalid cron expression "61 * * * *": minute field value 61 is out of range (0-59)',
      { expression: "61 * * * *", field: "minute", reason: "value 61 is out of range (0-59)" },
      "cron-expression-syntax",
    ],
    [
      "FieldParseError",
      new FieldParseError("minute field value 61 is out of range (0-59)", "61", "minute"),
      "minute field value 61 is out of range (0-59)",
      { fieldValue: "61", fieldName: "minute" },
      "cron-field-syntax",
    ],
    [
      "NegativeRetryDelayError",
      new NegativeRetryDelayError(-5, place),
      "Retry delay must be non-negative",
      { retryDelayMs: -5, ...place },
      "retry-delay-negative",
    ],
    [
      "TaskUnavailableError",
      new TaskUnavailableError("backup", "the scheduler is not running"),
      'Task "backup" is not available: the scheduler is not running',
      { taskName: "backup", reason: "the scheduler is not running" },
      "task-unavailable",
    ],
    [
      "CronCalculationError",
      new CronCalculationError("0 0 30 2 *", "2026-01-05T00:00:00.000Z", cause),
      "Failed to calculate next occurrence: the reason below",
      { expression: "0 0 30 2 *", currentTime: "2026-01-05T00:00:00.000Z", cause },
      "cron-no-occurrence",
    ],
    [
      "TaskTryDeserializeError",
      new TaskTryDeserializeError("cannot be read", { field: "cron", value: 1, expectedType: "string" }),
      "cannot be read",
      { field: "cron", value: 1, expectedType: "string" },
      "task-record-unreadable",
    ],
    [
      "TaskMissingFieldError",
      new TaskMissingFieldError("name"),
      "Missing required field: name",
      { field: "name" },
      "task-field-missing",
    ],
    [
      "TaskInvalidTypeError",
      new TaskInvalidTypeError("cronSince", null, "number"),
      "Invalid type for field 'cronSince': expected number, got null",
      { field: "cronSince", value: null, expectedType: "number", actualType: "null" },
      "task-field-type",
    ],
    [
      "TaskInvalidValueError",
      new TaskInvalidValueError("retryDelayMs", -1, "must not be negative"),
      "Invalid value for field 'retryDelayMs': must not be negative",
      { field: "retryDelayMs", value: -1, reason: "must not be negative" },
      "task-field-value",
    ],
    [
      "TaskInvalidStructureError",
      new TaskInvalidStructureError("Task state must be an object, got array", []),
      "Task state must be an object, got array",
      { value: [] },
      "task-structure",
    ],
    [
      "TaskStoreError",
      new TaskStoreError("reconcile", cause),
      "Task store failed to reconcile: the reason below",
      { operation: "reconcile", cause },
      "task-store-failed",
    ],
    [
      "SchedulerInitializationError",
      new SchedulerInitializationError(cause),
      "Cannot initialize scheduler: the reason below",
      { cause },
      "scheduler-initialization-failed",
    ],
  ])("%s", (name, error, message, details, code) => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(SchedulerError);
    expect([error.name, error.message, error.details, error.code]).toEqual([name, message, details, code]);
    expect(error).toMatchObject(details);
    expect(Object.keys(ERRORS)).toContain(code);
    expect(String(error)).toBe(`${name}: ${message}`);
  });

  test("the four deserialisation errors are found by their base class", () => {
    const errors = [
      new TaskMissingFieldError("name"),
      new TaskInvalidTypeError("name", 1, "string"),
      new TaskInvalidValueError("name", "", "must not be empty"),
      new TaskInvalidStructureError("no", null),
    ];
    for (const error of errors) expect(error).toBeInstanceOf(TaskTryDeserializeError);
  });

  test("wrapping keeps the original as cause", () => {
    expect(new CronExpressionInvalidError(syntax, place).cause).toBe(syntax);
    expect(new CronCalculationError("x", "y", cause).cause).toBe(cause);
    expect(new TaskStoreError("claim", cause).cause).toBe(cause);
  });
});
