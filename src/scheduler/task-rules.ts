/**
 * When a task is owed, and what a step does to its record. Pure: what happens is decided by the task chart, whose
 * effects are applied here.
 */
import type { EpochMs } from "../core/time/instant.js";
import { advance, resolve } from "../machines/advance.js";
import {
  type TaskEffect,
  type TaskEvent,
  type TaskFacts,
  type TaskState,
  taskMachine,
} from "../machines/task.machine.js";
import type { RunCause, TaskRecord } from "./types.js";
import type { ZonedCron } from "./zoned-crons.js";

interface TaskStep {
  readonly state: TaskState;
  readonly effects: readonly TaskEffect[];
}

export function stepTask(state: TaskState, event: TaskEvent): TaskStep {
  const resting = resolve(taskMachine, { value: state, context: {} });
  const { snapshot, effects } = advance<typeof taskMachine, { readonly type: TaskEffect }>(taskMachine, resting, event);
  return { state: snapshot.value, effects: effects.map(({ type }) => type) };
}

/** The state of a task that no run in this process is busy with. */
export function restingState(record: TaskRecord): TaskState {
  return record.pendingRetryUntil === null ? "AwaitingRun" : "AwaitingRetry";
}

/** Occurrences up to here are settled: attempted, or older than the first sight of the expression. */
export function settledUntil(record: TaskRecord): EpochMs {
  return Math.max(record.lastAttemptAt ?? Number.NEGATIVE_INFINITY, record.cronSince);
}

/** Facts about a task that no run in this process is busy with: a claim without such a run was cut off. */
export function factsOf(record: TaskRecord, cron: ZonedCron, now: EpochMs): TaskFacts {
  return {
    isOrphaned: record.runningBy !== undefined,
    isOccurrenceDue: cron.nextAfter(settledUntil(record)) <= now,
    isRetryReached: record.pendingRetryUntil !== null && record.pendingRetryUntil <= now,
  };
}

export function isOwed(facts: TaskFacts): boolean {
  return facts.isOrphaned || facts.isOccurrenceDue || facts.isRetryReached;
}

/** When to look at a resting task again; in the past: it is owed. Does not depend on the present, so no clock jump voids it. */
export function nextLookAt(record: TaskRecord, cron: ZonedCron): EpochMs {
  if (record.runningBy !== undefined) return Number.NEGATIVE_INFINITY;
  return Math.min(cron.nextAfter(settledUntil(record)), record.pendingRetryUntil ?? Number.POSITIVE_INFINITY);
}

/** One start consumes all causes (P10); the strongest is named. */
export function causeOf(record: TaskRecord, facts: TaskFacts, occurrenceAt: EpochMs | null): RunCause {
  if (facts.isOrphaned) return "orphan";
  if (!facts.isOccurrenceDue) return "retry";
  const isFirstMinute = record.lastAttemptAt === null && occurrenceAt === record.cronSince + 1;
  return isFirstMinute ? "boot" : "cron";
}

interface StepContext {
  readonly now: EpochMs;
  readonly schedulerId: string;
  readonly retryDelayMs: number;
}

type Change = (record: TaskRecord, context: StepContext) => TaskRecord;

function atRest({ runningBy: _, ...record }: TaskRecord): TaskRecord {
  return record;
}

const CHANGES: Partial<Record<TaskEffect, Change>> = {
  // An attempt never makes an older one the newest: after the clock went back, settled occurrences stay settled.
  recordAttempt: (record, { now, schedulerId }) => ({
    ...record,
    lastAttemptAt: Math.max(record.lastAttemptAt ?? now, now),
    runningBy: schedulerId,
  }),
  recordSuccess: (record, { now }) => ({ ...atRest(record), lastSuccessAt: now }),
  recordFailure: (record, { now, retryDelayMs }) => ({
    ...atRest(record),
    lastFailureAt: now,
    pendingRetryUntil: now + retryDelayMs,
  }),
  clearRetry: (record) => (record.pendingRetryUntil === null ? record : { ...record, pendingRetryUntil: null }),
};

export function applyEffects(record: TaskRecord, effects: readonly TaskEffect[], context: StepContext): TaskRecord {
  let changed = record;
  for (const effect of effects) changed = CHANGES[effect]?.(changed, context) ?? changed;
  return changed;
}
