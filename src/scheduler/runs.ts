/**
 * Runs callbacks, and makes their ends durable. Ends that are known when a transaction begins share it, up to a bound. An
 * end that could not be written is tried again; until it is durable its task stays busy.
 */
import type { EpochMs } from "../core/time/instant.js";
import type { Claim } from "./claims.js";
import { type Completion, completeRuns } from "./completions.js";
import { nextMacrotask } from "./host.js";
import type { EndedRun } from "./inspector.js";
import { SCHEDULER_LIMITS } from "./limits.js";
import type { RecordAccess } from "./record-access.js";
import type { Reporter } from "./reporter.js";
import { stepTask } from "./task-rules.js";
import type { TaskRecord } from "./types.js";

interface RunsWork {
  readonly records: RecordAccess;
  readonly reporter: Reporter;
  /** Never throws: a clock that fails must not lose the end of a run. */
  now(): EpochMs;
  /** Whether ends are to wait, because the store fails or because claims come first. `flush` is called afterwards. */
  isStoreReserved(): boolean;
  storeSucceeded(): void;
  storeFailed(operation: string, error: unknown): void;
  /** For whoever looks on: the record is not written yet. */
  ended(run: EndedRun): void;
  /** The end of the run is durable, or given up; null: the record was not ours to change. */
  settled(slot: number, record: TaskRecord | null): void;
}

type Outcome = EndedRun["outcome"];

export class Runs {
  readonly #work: RunsWork;
  #running = 0;
  /** In the order in which they came. */
  #unwritten: Completion[] = [];
  #writing: Promise<void> | null = null;
  #idle: (() => void) | null = null;

  constructor(work: RunsWork) {
    this.#work = work;
  }

  /** Calls the callback at once. */
  begin(claim: Claim, startedAt: EpochMs): void {
    this.#running++;
    void this.#call(claim).then((outcome) => this.#ended(claim, startedAt, outcome));
  }

  /** Writes what is not written yet, unless that is under way or the store is to be left alone. */
  flush(): void {
    if (this.#writing !== null || !this.#hasPending() || this.#work.isStoreReserved()) return;
    // In a micro-task: ends that come in the same turn are written together.
    this.#writing = Promise.resolve().then(() => this.#writeAll());
  }

  /** Resolves when every callback has ended and its end is written or, after named attempts, given up. */
  async drain(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    while (this.#writing !== null) await this.#writing;
    let attemptsLeft: number = SCHEDULER_LIMITS.storeAttemptsAtStop;
    while (attemptsLeft > 0 && this.#hasPending()) {
      if (await this.#writeBatch()) continue;
      attemptsLeft--;
      await nextMacrotask();
    }
  }

  #hasPending(): boolean {
    return this.#unwritten.length > 0;
  }

  async #call(claim: Claim): Promise<Outcome> {
    try {
      await claim.task.callback();
      return { type: "SUCCEEDED" };
    } catch (error) {
      return { type: "FAILED", error };
    }
  }

  #ended(claim: Claim, startedAt: EpochMs, outcome: Outcome): void {
    const endedAt = this.#work.now();
    const { state, effects } = stepTask("Running", { type: outcome.type });
    this.#unwritten.push({ claim, endedAt, effects });
    this.#work.ended({ claim, outcome, state, effects, endedAt });
    this.#announce(claim, outcome, startedAt, endedAt);
    this.#running--;
    if (this.#running === 0) this.#idle?.();
    this.flush();
  }

  #announce(claim: Claim, outcome: Outcome, startedAt: EpochMs, endedAt: EpochMs): void {
    const { name, retryDelayMs } = claim.task;
    if (outcome.type === "SUCCEEDED") {
      this.#work.reporter.emit({ type: "TaskRunCompleted", name, startedAt }, endedAt);
      return;
    }
    const pendingRetryUntil = endedAt + retryDelayMs;
    const { error } = outcome;
    this.#work.reporter.emit({ type: "TaskRunFailed", name, startedAt, error, pendingRetryUntil }, endedAt);
  }

  async #writeAll(): Promise<void> {
    let isWriting = true;
    while (isWriting && this.#hasPending() && !this.#work.isStoreReserved()) {
      isWriting = await this.#writeBatch();
      // A store that needs no I/O would keep everybody else waiting for all portions.
      if (this.#hasPending()) await nextMacrotask();
    }
    this.#writing = null;
  }

  /** Returns whether it succeeded. */
  async #writeBatch(): Promise<boolean> {
    const batch = this.#unwritten.slice(0, this.#work.records.tasksPerTransaction);
    let records: readonly (TaskRecord | null)[];
    try {
      records = await this.#work.records.transact((view) => completeRuns(batch, (name) => view.get(name)));
    } catch (error) {
      this.#work.storeFailed("complete", error);
      return false;
    }
    this.#unwritten.splice(0, batch.length);
    this.#work.storeSucceeded();
    for (const [i, { claim }] of batch.entries()) this.#work.settled(claim.slot, records[i] ?? null);
    return true;
  }
}
