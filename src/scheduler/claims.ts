/**
 * One evaluation: which of the looked-at tasks are owed, and their records as claimed. Pure, so that a store may compute
 * it more than once; nothing is started before the claims are durable.
 */
import type { EpochMs } from "../core/time/instant.js";
import type { TaskEffect, TaskFacts } from "../machines/task.machine.js";
import type { QuarantinedRecord } from "./reconcile.js";
import { fencedRecord, readTaskRecord } from "./records.js";
import type { RegisteredTask } from "./registrations.js";
import {
  applyEffects,
  causeOf,
  factsOf,
  isOwed,
  nextLookAt,
  restingState,
  settledUntil,
  stepTask,
} from "./task-rules.js";
import type { RunCause, TaskRecord } from "./types.js";
import type { ZonedCron, ZonedCrons } from "./zoned-crons.js";

/** A task that will start once its claim is durable. */
export interface Claim {
  readonly slot: number;
  readonly task: RegisteredTask;
  readonly before: TaskRecord;
  readonly after: TaskRecord;
  readonly effects: readonly TaskEffect[];
  readonly cause: RunCause;
  readonly dueAt: EpochMs;
  /** From when on it could have started: owed, the scheduler active, no earlier run in the way. */
  readonly startableSince: EpochMs;
}

export interface Evaluation {
  readonly claims: readonly Claim[];
  readonly put: readonly TaskRecord[];
  /** Looked at and not owed: when to look again. */
  readonly plans: readonly { readonly slot: number; readonly at: EpochMs }[];
  /** Left to another scheduler, which has taken over. */
  readonly takenElsewhere: readonly number[];
  readonly quarantined: readonly QuarantinedRecord[];
}

interface EvaluationInput {
  readonly now: EpochMs;
  readonly schedulerId: string;
  readonly activeSince: EpochMs;
  readonly tasks: readonly RegisteredTask[];
  readonly crons: ZonedCrons;
  /** Slots to look at; those that are busy in this process are left alone. */
  readonly slots: Iterable<number>;
  isBusy(slot: number): boolean;
  /** Whether somebody asked for a run now, whatever the expression says. */
  isTriggered(slot: number): boolean;
  get(name: string): unknown;
}

interface Collected {
  readonly claims: Claim[];
  readonly put: TaskRecord[];
  readonly plans: { slot: number; at: EpochMs }[];
  readonly takenElsewhere: number[];
  readonly quarantined: QuarantinedRecord[];
}

/** The stored record, or what takes its place when it was lost or damaged since the list was accepted. */
function soundRecord(task: RegisteredTask, input: EvaluationInput, found: Collected): TaskRecord {
  const raw = input.get(task.name);
  const reading = raw === undefined ? null : readTaskRecord(raw, task, input.now);
  if (reading?.kind === "sound") return reading.record;
  if (reading?.kind === "unreadable") found.quarantined.push({ name: task.name, error: reading.error, raw });
  const record = reading?.kind === "repaired" ? reading.record : fencedRecord(task, input.now);
  found.put.push(record);
  return record;
}

/**
 * Claimed by somebody else after we became active, so not by a predecessor of ours: another scheduler on the same store
 * is alive, and has taken over. The task is left to it.
 */
function isTakenElsewhere(record: TaskRecord, { schedulerId, activeSince }: EvaluationInput): boolean {
  if (record.runningBy === undefined || record.runningBy === schedulerId) return false;
  return record.lastAttemptAt !== null && record.lastAttemptAt > activeSince;
}

function lastEndOf(record: TaskRecord): EpochMs {
  return Math.max(record.lastSuccessAt ?? Number.NEGATIVE_INFINITY, record.lastFailureAt ?? Number.NEGATIVE_INFINITY);
}

interface Owed {
  readonly cause: RunCause;
  /** Of several occurrences the most recent. */
  readonly dueAt: EpochMs;
  /** Of several occurrences the first. */
  readonly owedSince: EpochMs;
}

function owedTimes(record: TaskRecord, facts: TaskFacts, cron: ZonedCron, input: EvaluationInput): Owed {
  if (!isOwed(facts)) return { cause: "trigger", dueAt: input.now, owedSince: input.now };
  const occurrenceAt = facts.isOccurrenceDue ? cron.latestAt(input.now) : null;
  const cause = causeOf(record, facts, occurrenceAt);
  if (cause === "orphan") return { cause, dueAt: input.activeSince, owedSince: input.activeSince };
  const firstAt = cause === "retry" ? record.pendingRetryUntil : cron.nextAfter(settledUntil(record));
  const owedSince = firstAt ?? input.now;
  return { cause, dueAt: occurrenceAt ?? owedSince, owedSince };
}

function claimOf(
  slot: number,
  task: RegisteredTask,
  record: TaskRecord,
  cron: ZonedCron,
  input: EvaluationInput,
): Claim | null {
  const { now, schedulerId, activeSince } = input;
  const facts = factsOf(record, cron, now);
  const isTriggered = input.isTriggered(slot);
  if (!isOwed(facts) && !isTriggered) return null;
  // What is asked for by hand starts as an occurrence does: it takes the place of a retry.
  const isOccurrenceDue = facts.isOccurrenceDue || isTriggered;
  const { state, effects } = stepTask(restingState(record), { type: "POLL", ...facts, isOccurrenceDue });
  if (state !== "Running") throw new Error(`invariant broken: the owed task "${task.name}" does not start`);
  const { cause, dueAt, owedSince } = owedTimes(record, facts, cron, input);
  return {
    slot,
    task,
    before: record,
    after: applyEffects(record, effects, { now, schedulerId, retryDelayMs: task.retryDelayMs }),
    effects,
    cause,
    dueAt,
    startableSince: Math.max(owedSince, activeSince, lastEndOf(record)),
  };
}

function lookAt(slot: number, input: EvaluationInput, found: Collected): void {
  const task = input.tasks[slot] as RegisteredTask;
  const cron = input.crons.of(task);
  const record = soundRecord(task, input, found);
  if (isTakenElsewhere(record, input)) {
    found.plans.push({ slot, at: Number.POSITIVE_INFINITY });
    found.takenElsewhere.push(slot);
    return;
  }
  const claim = claimOf(slot, task, record, cron, input);
  if (claim === null) {
    found.plans.push({ slot, at: nextLookAt(record, cron) });
    return;
  }
  found.claims.push(claim);
  found.put.push(claim.after);
}

export function evaluateTasks(input: EvaluationInput): Evaluation {
  const found: Collected = { claims: [], put: [], plans: [], takenElsewhere: [], quarantined: [] };
  for (const slot of input.slots) if (!input.isBusy(slot)) lookAt(slot, input, found);
  return found;
}
