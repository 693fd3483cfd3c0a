/**
 * Compares a new list of tasks with what is stored: new, preserved, overridden, orphaned, removed. Pure, and applied in
 * one transaction, so either all of it holds or nothing changed.
 *
 * An orphaned record is put in the new scheduler's name at once, before it is run again: a late completion by the dead
 * instance no longer finds its own name and changes nothing (P26), and until the run begins the claim without a run
 * keeps saying that one is owed.
 */
import type { EpochMs } from "../core/time/instant.js";
import { startOfMinute } from "./cron.js";
import { TaskInvalidStructureError, type TaskTryDeserializeError } from "./record-errors.js";
import {
  fencedRecord,
  freshRecord,
  isTombstone,
  lastAttemptOf,
  readTaskRecord,
  scheduleOf,
  strayError,
} from "./records.js";
import type { RegisteredTask, TaskList } from "./registrations.js";
import type { ReconciledNames, StoredTaskRecord, TaskConfiguration, TaskModification, TaskRecord } from "./types.js";

export interface QuarantinedRecord {
  readonly name: string | null;
  readonly error: TaskTryDeserializeError;
  readonly raw: unknown;
}

export interface Reconciliation {
  readonly put: readonly TaskRecord[];
  readonly remove: readonly string[];
  readonly names: ReconciledNames;
  readonly changes: readonly TaskModification[];
  readonly quarantined: readonly QuarantinedRecord[];
  /** The records as they will be, by slot. */
  readonly records: readonly TaskRecord[];
}

interface ReconcileContext {
  readonly now: EpochMs;
  readonly schedulerId: string;
}

type Classification = "added" | "preserved" | "modified" | "orphaned";

class Reconciler {
  readonly #list: TaskList;
  readonly #context: ReconcileContext;
  readonly #put: TaskRecord[] = [];
  readonly #names = {
    added: [] as string[],
    removed: [] as string[],
    modified: [] as string[],
    orphaned: [] as string[],
  };
  readonly #changes: TaskModification[] = [];
  readonly #quarantined: QuarantinedRecord[] = [];
  readonly #records: TaskRecord[];
  readonly #remove = new Set<string>();

  constructor(list: TaskList, context: ReconcileContext) {
    this.#list = list;
    this.#context = context;
    this.#records = new Array<TaskRecord>(list.tasks.length);
  }

  run(stored: Iterable<StoredTaskRecord>): Reconciliation {
    for (const { name, raw } of stored) this.#look(name, raw);
    for (const [slot, task] of this.#list.tasks.entries()) {
      if (this.#records[slot] === undefined) this.#decide(slot, "added", freshRecord(task, this.#context.now), true);
    }
    return {
      put: this.#put,
      remove: [...this.#remove],
      names: this.#names,
      changes: this.#changes,
      quarantined: this.#quarantined,
      records: this.#records,
    };
  }

  #look(name: string | null, raw: unknown): void {
    if (name === null || name === "") {
      this.#quarantined.push({ name: null, error: strayError(raw), raw });
      return;
    }
    const slot = this.#list.slotOf.get(name);
    if (slot === undefined) this.#leave(name, raw);
    else if (this.#records[slot] !== undefined) this.#repeat(slot, name, raw);
    else this.#compare(slot, this.#list.tasks[slot] as RegisteredTask, raw);
  }

  /** No longer listed: its causes are forgotten (P16), but not that it was attempted in this very minute. */
  #leave(name: string, raw: unknown): void {
    if (!isTombstone(raw)) this.#names.removed.push(name);
    const attemptedAt = lastAttemptOf(raw);
    if (attemptedAt === null || attemptedAt < startOfMinute(this.#context.now)) this.#remove.add(name);
    else if (!isTombstone(raw)) this.#put.push(tombstoneOf(name, attemptedAt, this.#context.now));
  }

  /** Two records of one task: the first counts, and writing it drops the others. */
  #repeat(slot: number, name: string, raw: unknown): void {
    const error = new TaskInvalidStructureError("Task state appears more than once", raw);
    this.#quarantined.push({ name, error, raw });
    this.#put.push(this.#records[slot] as TaskRecord);
  }

  #compare(slot: number, task: RegisteredTask, raw: unknown): void {
    const { now } = this.#context;
    const reading = readTaskRecord(raw, task, now);
    if (reading.kind === "unreadable") {
      this.#quarantined.push({ name: task.name, error: reading.error, raw });
      this.#decide(slot, "added", fencedRecord(task, now), true);
      return;
    }
    const { record } = reading;
    if (record.removedAt !== undefined) {
      this.#decide(slot, "added", { ...freshRecord(task, now), lastAttemptAt: record.lastAttemptAt }, true);
      return;
    }
    const configured = withConfiguration(record, task, now);
    const isOrphaned = record.runningBy !== undefined;
    const next = isOrphaned ? { ...configured, runningBy: this.#context.schedulerId } : configured;
    const isModified = configured !== record;
    if (isModified) this.#changes.push(modificationOf(record, configured));
    const classification = isOrphaned ? "orphaned" : isModified ? "modified" : "preserved";
    this.#decide(slot, classification, next, next !== record || reading.kind === "repaired");
  }

  #decide(slot: number, classification: Classification, record: TaskRecord, isChanged: boolean): void {
    this.#records[slot] = record;
    if (isChanged) this.#put.push(record);
    if (classification !== "preserved") this.#names[classification].push(record.name);
  }
}

/** The same object when nothing differs. A changed expression never fires its own past. */
function withConfiguration(record: TaskRecord, task: RegisteredTask, now: EpochMs): TaskRecord {
  const isSameSchedule = record.cron === task.cron && record.timeZone === task.timeZone;
  if (isSameSchedule && record.retryDelayMs === task.retryDelayMs) return record;
  const { timeZone: _, ...rest } = record;
  return {
    ...rest,
    ...scheduleOf(task),
    retryDelayMs: task.retryDelayMs,
    cronSince: isSameSchedule ? record.cronSince : startOfMinute(now) - 1,
  };
}

function configurationOf(record: TaskRecord): TaskConfiguration {
  return { ...scheduleOf(record), retryDelayMs: record.retryDelayMs };
}

function modificationOf(before: TaskRecord, after: TaskRecord): TaskModification {
  return { name: after.name, before: configurationOf(before), after: configurationOf(after) };
}

/** Only the attempt is remembered; the expression is there because every record has one. */
function tombstoneOf(name: string, lastAttemptAt: EpochMs, now: EpochMs): TaskRecord {
  return {
    name,
    cron: "* * * * *",
    retryDelayMs: 0,
    cronSince: now,
    lastAttemptAt,
    lastSuccessAt: null,
    lastFailureAt: null,
    pendingRetryUntil: null,
    removedAt: now,
  };
}

export function reconcile(
  stored: Iterable<StoredTaskRecord>,
  list: TaskList,
  context: ReconcileContext,
): Reconciliation {
  return new Reconciler(list, context).run(stored);
}
