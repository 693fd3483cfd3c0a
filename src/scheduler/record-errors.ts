/** What can be wrong with a persisted task record, in the words of the Declarative Scheduler specification. */
import type { ErrorCode } from "../core/base/errors/registry.js";
import { SchedulerError } from "./errors.js";

interface DeserializeDetails {
  readonly field?: string;
  readonly value?: unknown;
  readonly expectedType?: string;
}

/** Base of the four below, so that one `instanceof` finds them all. */
export class TaskTryDeserializeError<
  Details extends DeserializeDetails = DeserializeDetails,
> extends SchedulerError<Details> {
  override readonly name: string = "TaskTryDeserializeError";
  declare readonly field?: string;
  declare readonly value?: unknown;
  declare readonly expectedType?: string;

  constructor(message: string, details: Details, code: ErrorCode = "task-record-unreadable") {
    super(code, message, details);
  }
}

export class TaskMissingFieldError extends TaskTryDeserializeError<{ field: string }> {
  override readonly name = "TaskMissingFieldError";
  declare readonly field: string;

  constructor(field: string) {
    super(`Missing required field: ${field}`, { field }, "task-field-missing");
  }
}

interface InvalidTypeDetails {
  readonly field: string;
  readonly value: unknown;
  readonly expectedType: string;
  readonly actualType: string;
}

export class TaskInvalidTypeError extends TaskTryDeserializeError<InvalidTypeDetails> {
  override readonly name = "TaskInvalidTypeError";
  declare readonly field: string;
  declare readonly value: unknown;
  declare readonly expectedType: string;
  declare readonly actualType: string;

  constructor(field: string, value: unknown, expectedType: string) {
    const actualType = typeNameOf(value);
    const message = `Invalid type for field '${field}': expected ${expectedType}, got ${actualType}`;
    super(message, { field, value, expectedType, actualType }, "task-field-type");
  }
}

export class TaskInvalidValueError extends TaskTryDeserializeError<{ field: string; value: unknown; reason: string }> {
  override readonly name = "TaskInvalidValueError";
  declare readonly field: string;
  declare readonly value: unknown;
  declare readonly reason: string;

  constructor(field: string, value: unknown, reason: string) {
    super(`Invalid value for field '${field}': ${reason}`, { field, value, reason }, "task-field-value");
  }
}

export class TaskInvalidStructureError extends TaskTryDeserializeError<{ value: unknown }> {
  override readonly name = "TaskInvalidStructureError";
  declare readonly value: unknown;

  constructor(message: string, value: unknown) {
    super(message, { value }, "task-structure");
  }
}

/** `typeof`, with null and arrays told apart from objects. */
export function typeNameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
