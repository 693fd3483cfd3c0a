/**
 * Reads what a store hands out. Records of an older version, or with parts missing, are repaired from the registration;
 * what contradicts its own field cannot be trusted and is set aside, without consequence for any other task.
 */
import { type Fields, isFields } from "../core/base/fields.js";
import type { EpochMs } from "../core/time/instant.js";
import { startOfMinute } from "./cron.js";
import {
  TaskInvalidStructureError,
  TaskInvalidTypeError,
  TaskInvalidValueError,
  TaskMissingFieldError,
  TaskTryDeserializeError,
  typeNameOf,
} from "./record-errors.js";
import type { RegisteredTask } from "./registrations.js";
import type { TaskRecord } from "./types.js";

type RecordReading =
  | { readonly kind: "sound" | "repaired"; readonly record: TaskRecord }
  | { readonly kind: "unreadable"; readonly error: TaskTryDeserializeError };

/** The part of a task, or of its record, that says when: without a zone where it has none of its own. */
export function scheduleOf({
  cron,
  timeZone,
}: Pick<TaskRecord, "cron" | "timeZone">): Pick<TaskRecord, "cron" | "timeZone"> {
  return timeZone === undefined ? { cron } : { cron, timeZone };
}

/** First sight: owed at once if and only if the current minute matches (P17). */
export function freshRecord(task: RegisteredTask, now: EpochMs): TaskRecord {
  return {
    name: task.name,
    ...scheduleOf(task),
    retryDelayMs: task.retryDelayMs,
    cronSince: startOfMinute(now) - 1,
    lastAttemptAt: null,
    lastSuccessAt: null,
    lastFailureAt: null,
    pendingRetryUntil: null,
  };
}

/**
 * In place of a record that was lost or cannot be read. What it would have said about the current minute is unknown, so
 * nothing up to now is owed: a damaged record never causes a second run.
 */
export function fencedRecord(task: RegisteredTask, now: EpochMs): TaskRecord {
  return { ...freshRecord(task, now), cronSince: now };
}

function checkText(field: string, value: unknown): void {
  if (typeof value !== "string") throw new TaskInvalidTypeError(field, value, "string");
  if (value === "") throw new TaskInvalidValueError(field, value, "must not be empty");
}

function checkWhole(field: string, value: unknown): void {
  if (typeof value !== "number") throw new TaskInvalidTypeError(field, value, "number");
  if (!Number.isSafeInteger(value)) throw new TaskInvalidValueError(field, value, "must be a whole number");
}

function checkDelay(value: unknown): void {
  checkWhole("retryDelayMs", value);
  if ((value as number) < 0) throw new TaskInvalidValueError("retryDelayMs", value, "must not be negative");
}

const NULLABLE_INSTANTS = ["lastAttemptAt", "lastSuccessAt", "lastFailureAt", "pendingRetryUntil"] as const;

function fieldsOf(raw: unknown): Fields {
  if (isFields(raw)) return raw;
  throw new TaskInvalidStructureError(`Task state must be an object, got ${typeNameOf(raw)}`, raw);
}

/** Throws at the first field that says something impossible; fields that say nothing are left to the repair. */
function checkFields(fields: Fields): void {
  checkText("name", fields["name"]);
  if (fields["cron"] !== undefined) checkText("cron", fields["cron"]);
  if (fields["timeZone"] !== undefined) checkText("timeZone", fields["timeZone"]);
  if (fields["retryDelayMs"] !== undefined) checkDelay(fields["retryDelayMs"]);
  if (fields["cronSince"] !== undefined) checkWhole("cronSince", fields["cronSince"]);
  for (const field of NULLABLE_INSTANTS) {
    const value = fields[field];
    if (value !== undefined && value !== null) checkWhole(field, value);
  }
  const runningBy = fields["runningBy"];
  if (runningBy !== undefined && runningBy !== null) checkText("runningBy", runningBy);
  if (fields["removedAt"] !== undefined) checkWhole("removedAt", fields["removedAt"]);
}

function isComplete(fields: Fields): boolean {
  for (const field of NULLABLE_INSTANTS) if (fields[field] === undefined) return false;
  const { cron, retryDelayMs, cronSince, runningBy } = fields;
  return cron !== undefined && retryDelayMs !== undefined && cronSince !== undefined && runningBy !== null;
}

/** Where it is unknown since when the task is known, what was attempted counts, and else the present minute. */
function repaired(fields: Fields, task: RegisteredTask, now: EpochMs): TaskRecord {
  const { runningBy, ...rest } = fields;
  const partial = rest as Partial<TaskRecord>;
  const fresh = freshRecord(task, now);
  return {
    ...partial,
    name: task.name,
    cron: partial.cron ?? fresh.cron,
    retryDelayMs: partial.retryDelayMs ?? fresh.retryDelayMs,
    cronSince: partial.cronSince ?? partial.lastAttemptAt ?? fresh.cronSince,
    lastAttemptAt: partial.lastAttemptAt ?? null,
    lastSuccessAt: partial.lastSuccessAt ?? null,
    lastFailureAt: partial.lastFailureAt ?? null,
    pendingRetryUntil: partial.pendingRetryUntil ?? null,
    ...(typeof runningBy === "string" ? { runningBy } : {}),
  };
}

export function readTaskRecord(raw: unknown, task: RegisteredTask, now: EpochMs): RecordReading {
  try {
    const fields = fieldsOf(raw);
    if (fields["name"] === undefined) throw new TaskMissingFieldError("name");
    checkFields(fields);
    if (fields["name"] !== task.name)
      throw new TaskInvalidValueError("name", fields["name"], "is that of another task");
    if (isComplete(fields)) return { kind: "sound", record: raw as TaskRecord };
    return { kind: "repaired", record: repaired(fields, task, now) };
  } catch (error) {
    if (error instanceof TaskTryDeserializeError) return { kind: "unreadable", error };
    throw error;
  }
}

/** Whether it is a complete record, whatever task it belongs to. */
export function isWellFormed(raw: unknown): raw is TaskRecord {
  try {
    const fields = fieldsOf(raw);
    checkFields(fields);
    return isComplete(fields);
  } catch (error) {
    if (error instanceof TaskTryDeserializeError) return false;
    throw error;
  }
}

/** The error of a record that names no task: nothing else of it matters. */
export function strayError(raw: unknown): TaskTryDeserializeError {
  try {
    const { name } = fieldsOf(raw);
    if (name === undefined) return new TaskMissingFieldError("name");
    checkText("name", name);
    return new TaskInvalidStructureError("Task state has a name that is taken", raw);
  } catch (error) {
    if (error instanceof TaskTryDeserializeError) return error;
    throw error;
  }
}

/** The instant of the last attempt, if that much can be read. */
export function lastAttemptOf(raw: unknown): EpochMs | null {
  const at = typeof raw === "object" && raw !== null && "lastAttemptAt" in raw ? raw.lastAttemptAt : null;
  return typeof at === "number" && Number.isSafeInteger(at) ? at : null;
}

/** Whether the record is only what is left of a task that is no longer listed. */
export function isTombstone(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "removedAt" in raw && raw.removedAt !== undefined;
}
