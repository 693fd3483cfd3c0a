/**
 * The errors of the Declarative Scheduler specification, with its names and messages. Each carries its facts twice:
 * as own fields and together under `details`; `code` is the stable name of the error registry.
 */
import { messageOf } from "../core/base/errors/message.js";
import type { ErrorCode } from "../core/base/errors/registry.js";

export abstract class SchedulerError<Details extends object = object> extends Error {
  readonly code: ErrorCode;
  readonly details: Details;

  protected constructor(code: ErrorCode, message: string, details: Details) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.details = details;
    Object.assign(this, details);
  }
}

/** Which entry of a list is meant, as far as it says. */
export interface RegistrationPlace {
  readonly registrationIndex: number;
  readonly taskName?: string;
}

export class RegistrationsNotArrayError extends SchedulerError<Record<string, never>> {
  override readonly name = "RegistrationsNotArrayError";

  constructor() {
    super("registrations-not-array", "Registrations must be an array", {});
  }
}

/** `reason` says what the message, which the specification words, does not: which element is wrong, and how. */
interface ShapeDetails extends RegistrationPlace {
  readonly received: unknown;
  readonly reason: string;
}

export class RegistrationShapeError extends SchedulerError<ShapeDetails> {
  override readonly name = "RegistrationShapeError";
  declare readonly registrationIndex: number;
  declare readonly received: unknown;
  declare readonly reason: string;
  declare readonly taskName?: string;

  constructor(place: RegistrationPlace, received: unknown, reason: string) {
    const message = "Invalid registration shape: expected [string, string, function, Duration]";
    super("registration-shape", message, { ...place, received, reason });
  }
}

interface InvalidDetails extends RegistrationPlace {
  readonly field: string;
  readonly value: unknown;
  readonly reason: string;
}

export class InvalidRegistrationError extends SchedulerError<InvalidDetails> {
  override readonly name = "InvalidRegistrationError";
  declare readonly field: string;
  declare readonly value: unknown;
  declare readonly reason: string;
  declare readonly registrationIndex: number;
  declare readonly taskName?: string;

  constructor(field: string, value: unknown, reason: string, place: RegistrationPlace) {
    super("registration-invalid", `Invalid registration: ${field} ${reason}`, { field, value, reason, ...place });
  }
}

export class ScheduleDuplicateTaskError extends SchedulerError<{ taskName: string; registrationIndex: number }> {
  override readonly name = "ScheduleDuplicateTaskError";
  declare readonly taskName: string;
  declare readonly registrationIndex: number;

  constructor(taskName: string, registrationIndex: number) {
    super("task-duplicate", `Task with name "${taskName}" is already scheduled`, { taskName, registrationIndex });
  }
}

export class SchedulerAlreadyActiveError extends SchedulerError<{ currentState: string }> {
  override readonly name = "SchedulerAlreadyActiveError";
  declare readonly currentState: string;

  constructor(currentState: "initializing" | "running") {
    const message = `Cannot initialize scheduler: scheduler is already ${currentState}`;
    super("scheduler-already-active", message, { currentState });
  }
}

/** What both expression errors say. */
interface ExpressionDetails {
  readonly expression: string;
  readonly field: string;
  readonly reason: string;
}

function expressionMessage({ expression, field, reason }: ExpressionDetails): string {
  return `Invalid cron expression "${expression}": ${field} field ${reason}`;
}

/** A registration's expression is refused; `cause` is the error of the expression module. */
export class CronExpressionInvalidError extends SchedulerError<ExpressionDetails & RegistrationPlace> {
  override readonly name = "CronExpressionInvalidError";
  declare readonly expression: string;
  declare readonly field: string;
  declare readonly reason: string;
  declare readonly registrationIndex: number;
  declare readonly taskName?: string;

  constructor(cause: InvalidCronExpressionError, place: RegistrationPlace) {
    const { expression, field, reason } = cause;
    super("cron-expression-invalid", expressionMessage(cause), { expression, field, reason, ...place });
    this.cause = cause;
  }
}

/** Thrown by `parseCron`; `cause` is the error of the field, where one field is to blame. */
export class InvalidCronExpressionError extends SchedulerError<ExpressionDetails> {
  override readonly name = "InvalidCronExpressionError";
  declare readonly expression: string;
  declare readonly field: string;
  declare readonly reason: string;

  constructor(expression: string, field: string, reason: string, cause?: FieldParseError) {
    const details = { expression, field, reason };
    super("cron-expression-syntax", expressionMessage(details), details);
    if (cause !== undefined) this.cause = cause;
  }
}

export class FieldParseError extends SchedulerError<{ fieldValue: string; fieldName: string }> {
  override readonly name = "FieldParseError";
  declare readonly fieldValue: string;
  declare readonly fieldName: string;

  constructor(message: string, fieldValue: string, fieldName: string) {
    super("cron-field-syntax", message, { fieldValue, fieldName });
  }
}

export class NegativeRetryDelayError extends SchedulerError<{ retryDelayMs: number } & RegistrationPlace> {
  override readonly name = "NegativeRetryDelayError";
  declare readonly retryDelayMs: number;
  declare readonly registrationIndex: number;
  declare readonly taskName?: string;

  constructor(retryDelayMs: number, place: RegistrationPlace) {
    super("retry-delay-negative", "Retry delay must be non-negative", { retryDelayMs, ...place });
  }
}

/** A question about a task, or a wish to run it, that a scheduler cannot answer; only of the extended surface. */
export class TaskUnavailableError extends SchedulerError<{ taskName: string; reason: string }> {
  override readonly name = "TaskUnavailableError";
  declare readonly taskName: string;
  declare readonly reason: string;

  constructor(taskName: string, reason: string) {
    super("task-unavailable", `Task "${taskName}" is not available: ${reason}`, { taskName, reason });
  }
}

export class CronCalculationError extends SchedulerError<{ expression: string; currentTime: string; cause: Error }> {
  override readonly name = "CronCalculationError";
  declare readonly expression: string;
  declare readonly currentTime: string;

  constructor(expression: string, currentTime: string, cause: Error) {
    const message = `Failed to calculate next occurrence: ${cause.message}`;
    super("cron-no-occurrence", message, { expression, currentTime, cause });
  }
}

/** The store did not do what was asked; `details.cause` is what it threw. */
export class TaskStoreError extends SchedulerError<{ operation: string; cause: unknown }> {
  override readonly name = "TaskStoreError";
  declare readonly operation: string;

  constructor(operation: string, cause: unknown) {
    const reason = messageOf(cause);
    super("task-store-failed", `Task store failed to ${operation}: ${reason}`, { operation, cause });
  }
}

/** Something else went wrong, such as a clock that returns no instant; `details.cause` is what was thrown. */
export class SchedulerInitializationError extends SchedulerError<{ cause: unknown }> {
  override readonly name = "SchedulerInitializationError";

  constructor(cause: unknown) {
    const reason = messageOf(cause);
    super("scheduler-initialization-failed", `Cannot initialize scheduler: ${reason}`, { cause });
  }
}
