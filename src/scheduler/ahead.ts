/**
 * Records that remember something later than now, because the clock ran ahead when they were written: until it gets there
 * again, their tasks are silent. Pure; whether the clock was wrong then or is wrong now, only a person can tell.
 */
import type { EpochMs } from "../core/time/instant.js";
import type { TaskRecord } from "./types.js";

const INSTANTS = ["cronSince", "lastAttemptAt", "lastSuccessAt", "lastFailureAt"] as const;

/** The latest instant that a record says has been. When a retry is due is no such instant. */
function latestOf(record: TaskRecord): EpochMs {
  return Math.max(...INSTANTS.map((field) => record[field] ?? Number.NEGATIVE_INFINITY));
}

interface RecordsAhead {
  readonly names: readonly string[];
  readonly untilAt: EpochMs;
}

/** Null when no record is ahead of `now` by more than `toleranceMs`. */
export function recordsAhead(records: readonly TaskRecord[], now: EpochMs, toleranceMs: number): RecordsAhead | null {
  const names: string[] = [];
  let untilAt = now;
  for (const record of records) {
    const latestAt = latestOf(record);
    if (latestAt <= now + toleranceMs) continue;
    names.push(record.name);
    untilAt = Math.max(untilAt, latestAt);
  }
  return names.length === 0 ? null : { names, untilAt };
}

function notAfter(now: EpochMs, at: EpochMs | null): EpochMs | null {
  return at === null ? null : Math.min(at, now);
}

/**
 * The record as if what lies ahead had happened now: what was due up to now stays settled, so nothing runs twice, and the
 * next occurrence counts again. The same object when nothing lies ahead.
 */
export function rewoundRecord(record: TaskRecord, now: EpochMs): TaskRecord {
  if (latestOf(record) <= now) return record;
  const { pendingRetryUntil, lastFailureAt, retryDelayMs } = record;
  const isRetryAhead = lastFailureAt !== null && lastFailureAt > now;
  return {
    ...record,
    cronSince: Math.min(record.cronSince, now),
    lastAttemptAt: notAfter(now, record.lastAttemptAt),
    lastSuccessAt: notAfter(now, record.lastSuccessAt),
    lastFailureAt: notAfter(now, lastFailureAt),
    pendingRetryUntil: isRetryAhead ? notAfter(now + retryDelayMs, pendingRetryUntil) : pendingRetryUntil,
  };
}
