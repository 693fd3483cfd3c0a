/**
 * One active stretch of a scheduler, from `initialize` to `stop`: one identifier, one list of tasks, one loop. What is
 * decided is pure (`reconcile`, `claims`, `completions`); here it is carried out: claim durably, start, write the end.
 */
import { type EpochMs, MINUTE_MS } from "../core/time/instant.js";
import { ChartDriver } from "../machines/chart-driver.js";
import { type PollingEffect, pollingMachine } from "../machines/polling.machine.js";
import { Agenda } from "./agenda.js";
import { recordsAhead } from "./ahead.js";
import { type Claim, type Evaluation, evaluateTasks } from "./claims.js";
import { undoClaims } from "./completions.js";
import { startOfMinute } from "./cron.js";
import { TaskStoreError, TaskUnavailableError } from "./errors.js";
import { nextMacrotask } from "./host.js";
import type { Inspector } from "./inspector.js";
import { SCHEDULER_LIMITS } from "./limits.js";
import { PollingLoop } from "./polling-loop.js";
import type { Ports } from "./ports.js";
import { type QuarantinedRecord, type Reconciliation, reconcile } from "./reconcile.js";
import { accessTo, type RecordAccess } from "./record-access.js";
import type { RegisteredTask, TaskList } from "./registrations.js";
import type { Reporter } from "./reporter.js";
import { announceStart } from "./run-events.js";
import { Runs } from "./runs.js";
import { StoreBackoff } from "./store-backoff.js";
import { Triggers } from "./triggers.js";
import type { TaskRecord, TriggerOutcome } from "./types.js";

interface Claimed extends Evaluation {
  /** Not only the portion was looked at, but every task. */
  readonly isEverything: boolean;
}

export class Session {
  readonly schedulerId: string;
  readonly #ports: Ports;
  readonly #reporter: Reporter;
  readonly #inspector: Inspector;
  readonly #tasks: readonly RegisteredTask[];
  readonly #agenda: Agenda;
  readonly #records: RecordAccess;
  readonly #backoff = new StoreBackoff();
  readonly #triggers = new Triggers();
  readonly #runs: Runs;
  readonly #loop: PollingLoop;
  readonly #chart: ChartDriver<typeof pollingMachine, PollingEffect>;
  #slotOf: ReadonlyMap<string, number> = new Map();
  #activeSince: EpochMs = 0;
  #lastNow: EpochMs = Number.NEGATIVE_INFINITY;
  /** The zone changed: every task is planned anew, and stays to be until that has succeeded. */
  #mustLookAtAll = false;
  /** Claims come first: ends that are known meanwhile are written together afterwards. */
  #isClaiming = false;
  #isStopping = false;
  /** End of the sleep under way, as planned. */
  #plannedWakeAt: EpochMs = Number.NEGATIVE_INFINITY;

  constructor(ports: Ports, reporter: Reporter, inspector: Inspector, tasks: readonly RegisteredTask[]) {
    this.#ports = ports;
    this.#reporter = reporter;
    this.#inspector = inspector;
    this.#tasks = tasks;
    this.schedulerId = ports.newId();
    this.#agenda = new Agenda(tasks);
    this.#records = accessTo(ports.store);
    this.#runs = new Runs({
      records: this.#records,
      reporter,
      now: () => ports.lenientNow(),
      isStoreReserved: () => this.#isClaiming || this.#backoff.remainingMs(ports.lenientNow()) > 0,
      storeSucceeded: () => this.#backoff.succeeded(),
      storeFailed: (operation, error) => this.#storeFailed(operation, error),
      ended: (run) => inspector.ended(run),
      settled: (slot, record) => this.#settled(slot, record),
    });
    this.#loop = new PollingLoop({
      evaluate: () => this.#evaluate(),
      sleepMs: () => this.#sleepMs(),
      sleeper: () => ports.sleeper,
      faulted: (err, what) => reporter.log("error", { err }, what),
      sleepless: () => reporter.log("warn", {}, "the sleeper returns at once"),
    });
    this.#chart = new ChartDriver(
      pollingMachine,
      (effect) => this.#carryOut(effect),
      (event, before, state) => inspector.polled(event, before, state),
    );
  }

  /** Brings the store in line with the list, in one transaction. Rejects with a TaskStoreError, and then nothing changed. */
  async reconcile(list: TaskList): Promise<void> {
    const now = this.#ports.now();
    this.#activeSince = now;
    this.#slotOf = list.slotOf;
    this.#followZone();
    const { names, changes, quarantined, records } = await this.#reconcileStore(list, now);
    this.#mustLookAtAll = false;
    this.#quarantined(quarantined);
    this.#reporter.emit({ type: "Reconciled", ...names, changes });
    const ahead = recordsAhead(records, now, SCHEDULER_LIMITS.recordAheadMs);
    if (ahead !== null) this.#reporter.emit({ type: "TaskRecordsAhead", ...ahead });
    this.#agenda.planAll(records);
    this.#inspector.registered(this.#tasks, records);
  }

  async #reconcileStore(list: TaskList, now: EpochMs): Promise<Reconciliation> {
    const context = { now, schedulerId: this.schedulerId };
    try {
      return await this.#records.transact((view) => {
        const result = reconcile(view.all(), list, context);
        return { put: result.put, remove: result.remove, result };
      });
    } catch (error) {
      this.#reporter.emit({ type: "StoreFailed", operation: "reconcile", error, retryInMs: null });
      throw new TaskStoreError("reconcile", error);
    }
  }

  start(): void {
    this.#activeSince = this.#ports.lenientNow();
    this.#chart.send({ type: "SCHEDULED", taskCount: this.#tasks.length });
  }

  /** From the call on nothing is started. Resolves when nothing runs and the store is let go. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#triggers.refuseAll((slot) => this.#unavailable(slot, "the scheduler was stopped before it could start"));
    this.#chart.send({ type: "STOP_REQUESTED" });
    await this.#loop.stop();
    await this.#runs.drain();
    this.#chart.send({ type: "DRAINED" });
    await this.release();
  }

  nextRun(name: string): EpochMs | null {
    const at = this.#agenda.nextRunAt(this.#slot(name), this.#ports.lenientNow());
    return Number.isFinite(at) ? at : null;
  }

  async trigger(name: string): Promise<TriggerOutcome> {
    const slot = this.#slot(name);
    if (this.#agenda.isRunning(slot)) return "running";
    const outcome = this.#triggers.ask(slot);
    this.#agenda.plan(slot, Number.NEGATIVE_INFINITY);
    this.#wakeBy(Number.NEGATIVE_INFINITY);
    return outcome;
  }

  #slot(name: string): number {
    const slot = this.#slotOf.get(name);
    if (slot === undefined) throw new TaskUnavailableError(name, "no task of this name is registered");
    return slot;
  }

  #unavailable(slot: number, reason: string): TaskUnavailableError {
    return new TaskUnavailableError(this.#tasks[slot]?.name ?? "", reason);
  }

  async release(): Promise<void> {
    try {
      await this.#ports.store.release?.();
    } catch (error) {
      this.#reporter.emit({ type: "StoreFailed", operation: "release", error, retryInMs: null });
    }
  }

  #carryOut(effect: PollingEffect): void {
    if (effect === "startLoop") this.#loop.start();
    else if (effect === "stopLoop") void this.#loop.stop();
    else this.#reporter.emit({ type: effect });
  }

  /** One `now`, before any I/O, for everything that is due. */
  async #evaluate(): Promise<void> {
    const now = this.#ports.now();
    this.#noticeStepBack(now);
    if (this.#backoff.remainingMs(now) > 0) return;
    this.#followZone();
    this.#isClaiming = true;
    try {
      await this.#startDue(now);
    } finally {
      this.#isClaiming = false;
    }
    this.#runs.flush();
  }

  /**
   * What the timeline calls due, or everything after the zone changed, in portions: the first callbacks need not wait for
   * the claims of the last. What a failing store leaves unclaimed stays due.
   */
  async #startDue(now: EpochMs): Promise<void> {
    const slots = this.#mustLookAtAll ? [...this.#tasks.keys()] : this.#agenda.due(now);
    if (slots.length === 0 && this.#records.isUndisturbed()) return;
    const { tasksPerTransaction } = this.#records;
    let from = 0;
    do {
      // A store that needs no I/O would keep everybody else waiting for all portions.
      if (from > 0) await nextMacrotask();
      if (this.#isStopping) return;
      const claimed = await this.#claim(now, slots.slice(from, from + tasksPerTransaction));
      if (claimed === null) return;
      const unbegun = this.#start(claimed.claims);
      if (unbegun.length > 0) await this.#undo(unbegun, now);
      from = claimed.isEverything ? slots.length : from + tasksPerTransaction;
    } while (from < slots.length && !this.#isStopping);
    if (from >= slots.length) this.#mustLookAtAll = false;
  }

  /** One transaction. When records may have changed behind our back it looks at everything. Null: the store failed. */
  async #claim(now: EpochMs, portion: readonly number[]): Promise<Claimed | null> {
    let claimed: Claimed;
    try {
      claimed = await this.#records.transact((view) => {
        const slots = view.isForeign ? this.#tasks.keys() : portion;
        const result = this.#evaluateTasks(now, slots, (name) => view.get(name));
        return { put: result.put, result: { ...result, isEverything: view.isForeign } };
      });
    } catch (error) {
      this.#storeFailed("claim", error);
      this.#triggers.refuseAll(() => new TaskStoreError("claim", error));
      return null;
    }
    this.#backoff.succeeded();
    for (const slot of claimed.takenElsewhere) this.#refuseTaken(slot);
    for (const { slot, at } of claimed.plans) this.#plan(slot, at);
    this.#quarantined(claimed.quarantined);
    return claimed;
  }

  /** What was triggered while the claims were being written stays due. */
  #plan(slot: number, at: EpochMs): void {
    this.#agenda.plan(slot, this.#triggers.has(slot) ? Number.NEGATIVE_INFINITY : at);
  }

  #refuseTaken(slot: number): void {
    if (!this.#triggers.has(slot)) return;
    this.#triggers.refused(slot, this.#unavailable(slot, "another scheduler on the same store has taken it over"));
  }

  #evaluateTasks(now: EpochMs, slots: Iterable<number>, get: (name: string) => unknown): Evaluation {
    return evaluateTasks({
      now,
      slots,
      get,
      schedulerId: this.schedulerId,
      activeSince: this.#activeSince,
      tasks: this.#tasks,
      crons: this.#agenda.crons,
      isBusy: (slot) => this.#agenda.isBusy(slot),
      isTriggered: (slot) => this.#triggers.has(slot),
    });
  }

  /** All in one go, unless a callback or a listener stops the scheduler meanwhile: the rest is returned (P4). */
  #start(claims: readonly Claim[]): readonly Claim[] {
    if (claims.length === 0) return claims;
    const startedAt = this.#ports.lenientNow();
    for (const [i, claim] of claims.entries()) {
      if (this.#isStopping) return claims.slice(i);
      this.#agenda.begin(claim.slot);
      announceStart(this.#reporter, claim, startedAt, this.#tasks.length);
      this.#inspector.started(claim, startedAt);
      if (this.#isStopping) {
        this.#inspector.withdrawn(claim, startedAt);
        this.#reporter.emit({ type: "TaskRunWithdrawn", name: claim.task.name });
        return claims.slice(i);
      }
      this.#runs.begin(claim, startedAt);
      this.#triggers.started(claim.slot);
    }
    return [];
  }

  /** What cannot be taken back is recognised as orphaned by the next `initialize`. */
  async #undo(claims: readonly Claim[], now: EpochMs): Promise<void> {
    for (let left = SCHEDULER_LIMITS.storeAttemptsAtStop; left > 0; left--) {
      try {
        await this.#records.transact((view) => undoClaims(claims, (name) => view.get(name), now));
        return;
      } catch (error) {
        this.#storeFailed("undo", error);
        await nextMacrotask();
      }
    }
  }

  #settled(slot: number, record: TaskRecord | null): void {
    if (this.#isStopping) return;
    const at = this.#agenda.rest(slot, record, this.#ports.lenientNow());
    this.#wakeBy(at);
  }

  /** At most one wake for each sleep, however many runs end during it. */
  #wakeBy(at: EpochMs): void {
    if (at >= this.#plannedWakeAt) return;
    this.#plannedWakeAt = Number.NEGATIVE_INFINITY;
    this.#loop.wake();
  }

  /** To the next minute at most: the zone, the clock and the store are looked at again even when nothing is planned. */
  #sleepMs(): number {
    this.#agenda.releaseHeld();
    const now = this.#ports.now();
    const boundaryAt = startOfMinute(now) + MINUTE_MS;
    const pauseMs = this.#backoff.remainingMs(now);
    const wantedAt = pauseMs > 0 ? now + pauseMs : this.#agenda.earliestAt();
    this.#plannedWakeAt = Math.min(boundaryAt, wantedAt);
    return Math.max(0, this.#plannedWakeAt - now);
  }

  #storeFailed(operation: string, error: unknown): void {
    const now = this.#ports.lenientNow();
    const pauseMs = this.#backoff.failed(now);
    const retryInMs = this.#isStopping ? null : pauseMs;
    this.#reporter.emit({ type: "StoreFailed", operation, error, retryInMs });
    if (!this.#isStopping) this.#wakeBy(now + pauseMs);
  }

  #quarantined(records: readonly QuarantinedRecord[]): void {
    for (const { name, error, raw } of records) {
      this.#reporter.emit({ type: "TaskRecordQuarantined", name, error, record: raw });
    }
  }

  /**
   * A zone that cannot be had leaves the last one in force. At first there is none: one that was asked for is an error
   * then, and a host that does not know its own keeps UTC.
   */
  #followZone(): void {
    const { crons } = this.#agenda;
    try {
      if (crons.moveTo(this.#ports.timeZone())) this.#mustLookAtAll = true;
    } catch (err) {
      const isInjected = this.#ports.isZoneInjected;
      if (isInjected && !crons.hasZone) throw err;
      this.#reporter.log("error", { err }, `the time zone ${isInjected ? "given" : "of the host"} is unknown`);
      if (!crons.hasZone) crons.moveTo("UTC");
    }
  }

  /** Nothing to correct: what is due follows from the records. But whoever wonders why nothing runs should know. */
  #noticeStepBack(now: EpochMs): void {
    const backMs = this.#lastNow - now;
    this.#lastNow = now;
    if (backMs > SCHEDULER_LIMITS.clockStepBackMs) this.#reporter.log("warn", { backMs }, "clock_jump");
  }
}
