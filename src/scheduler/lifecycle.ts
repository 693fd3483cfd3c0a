/**
 * The life of what `createScheduler` returns. The chart says in which state a call meets the scheduler; this file answers
 * the calls, and lets one session after the other do the work.
 */
import type { Result } from "../core/base/result.js";
import { ChartDriver } from "../machines/chart-driver.js";
import { type SchedulerEffect, type SchedulerLifecycleEvent, schedulerMachine } from "../machines/scheduler.machine.js";
import type { CronDialect } from "./cron.js";
import {
  SchedulerAlreadyActiveError,
  SchedulerError,
  SchedulerInitializationError,
  TaskUnavailableError,
} from "./errors.js";
import { Inspector } from "./inspector.js";
import { Ports } from "./ports.js";
import { inNameOrder, readRegistrations, type TaskList } from "./registrations.js";
import { Reporter } from "./reporter.js";
import { Session } from "./session.js";
import type { SchedulerOptions, TriggerOutcome } from "./types.js";

function wrapped(error: unknown): SchedulerError {
  return error instanceof SchedulerError ? error : new SchedulerInitializationError(error);
}

/** A list may be anything, also something that throws when it is looked at. */
function readList(registrations: unknown, dialect: CronDialect): Result<TaskList, SchedulerError> {
  try {
    return readRegistrations(registrations, dialect);
  } catch (error) {
    return { ok: false, error: wrapped(error) };
  }
}

const NOT_RUNNING = "the scheduler is not running";

export class Lifecycle {
  readonly #dialect: CronDialect;
  readonly #ports: Ports;
  readonly #reporter: Reporter;
  readonly #inspector: Inspector;
  readonly #chart: ChartDriver<typeof schedulerMachine, SchedulerEffect>;
  #session: Session | null = null;
  /** The initialisation under way, or waiting for a stop to end; never rejects. */
  #initializing: Promise<void> | null = null;
  #stopping: Promise<void> = Promise.resolve();
  #sessionStopped: Promise<void> = Promise.resolve();
  /** `stop` was called during the initialisation under way. */
  #isStopWanted = false;
  #refused: SchedulerAlreadyActiveError | null = null;

  constructor(options: SchedulerOptions, dialect: CronDialect) {
    this.#dialect = dialect;
    this.#ports = new Ports(options);
    this.#reporter = new Reporter(this.#ports);
    this.#inspector = new Inspector(this.#ports, this.#reporter);
    this.#chart = new ChartDriver(
      schedulerMachine,
      (effect, event) => this.#carryOut(effect, event),
      (event, before, state) => this.#inspector.lived(event, before, state),
    );
  }

  initialize(registrations: unknown): Promise<void> {
    const { state } = this.#chart;
    if (state === "Running" || state === "Initializing") return Promise.reject(this.#refusal());
    if (this.#initializing !== null) return Promise.reject(new SchedulerAlreadyActiveError("initializing"));
    if (state === "Stopping") return this.#initializeAfterStop(registrations);
    const list = readList(registrations, this.#dialect);
    if (!list.ok) return this.#refuse(list.error);
    return this.#during(async () => {
      this.#enterInitializing();
      await this.#establish(list.value);
    });
  }

  stop(): Promise<void> {
    if (this.#chart.state === "Running") this.#stop();
    else if (this.#initializing !== null) {
      this.#isStopWanted = true;
      return this.#initializing.then(() => this.#stopping);
    }
    return this.#stopping;
  }

  nextRun(name: string): number | null {
    return this.#running(name).nextRun(name);
  }

  async trigger(name: string): Promise<TriggerOutcome> {
    return this.#running(name).trigger(name);
  }

  #running(name: string): Session {
    if (this.#chart.state === "Running" && this.#session !== null) return this.#session;
    throw new TaskUnavailableError(name, NOT_RUNNING);
  }

  /** The chart's answer to a call that comes too early: nothing else happens. */
  #refusal(): SchedulerAlreadyActiveError {
    this.#refused = null;
    this.#chart.send({ type: "INITIALIZE" });
    if (this.#refused === null) throw new Error("invariant broken: an active scheduler accepted a list");
    return this.#refused;
  }

  /** Over before the call returns: a valid list may follow in the same breath. */
  #refuse(error: SchedulerError): Promise<void> {
    this.#enterInitializing();
    this.#chart.send({ type: "INITIALIZATION_FAILED", error });
    return Promise.reject(error);
  }

  /** A valid list is never refused because a stop takes its time: it waits. */
  #initializeAfterStop(registrations: unknown): Promise<void> {
    const list = readList(registrations, this.#dialect);
    if (!list.ok) return Promise.reject(list.error);
    return this.#during(async () => {
      await this.#stopping;
      this.#enterInitializing();
      await this.#establish(list.value);
    });
  }

  /** Marks the initialisation as under way before its first event is told, because a listener may call back. */
  #during(initialize: () => Promise<void>): Promise<void> {
    let end = (): void => {};
    this.#initializing = new Promise((resolve) => {
      end = resolve;
    });
    this.#isStopWanted = false;
    const outcome = initialize();
    const over = (): void => {
      this.#initializing = null;
      end();
    };
    outcome.then(over, over);
    return outcome;
  }

  #enterInitializing(): void {
    if (this.#chart.state === "Stopped") this.#chart.send({ type: "DESTROYED" });
    this.#chart.send({ type: "INITIALIZE" });
  }

  async #establish(accepted: TaskList): Promise<void> {
    try {
      const list = inNameOrder(accepted);
      this.#session = new Session(this.#ports, this.#reporter, this.#inspector, list.tasks);
      await this.#session.reconcile(list);
    } catch (cause) {
      const error = wrapped(cause);
      await this.#session?.release();
      this.#session = null;
      this.#chart.send({ type: "INITIALIZATION_FAILED", error });
      throw error;
    }
    this.#chart.send({ type: "INITIALIZED", schedulerId: this.#session.schedulerId });
    if (this.#isStopWanted && this.#chart.state === "Running") this.#stop();
  }

  /** The promise is there before the first event is told, because a listener may ask for it. */
  #stop(): void {
    let end = (): void => {};
    this.#stopping = new Promise((resolve) => {
      end = resolve;
    });
    this.#chart.send({ type: "STOP" });
    void this.#sessionStopped.then(() => {
      this.#session = null;
      this.#chart.send({ type: "DRAINED" });
      end();
    });
  }

  #carryOut(effect: SchedulerEffect, event: SchedulerLifecycleEvent): void {
    switch (effect) {
      case "startPolling":
        this.#session?.start();
        break;
      case "stopPolling":
        this.#sessionStopped = this.#session?.stop() ?? Promise.resolve();
        break;
      case "SchedulerInitializationCompleted":
        this.#reporter.emit({ type: effect, schedulerId: this.#session?.schedulerId ?? "" });
        break;
      case "SchedulerInitializationFailed":
        this.#reporter.emit({ type: effect, error: event.type === "INITIALIZATION_FAILED" ? event.error : null });
        break;
      case "refuseAlreadyActive":
        this.#refused = new SchedulerAlreadyActiveError(this.#chart.state === "Running" ? "running" : "initializing");
        break;
      default:
        this.#reporter.emit({ type: effect });
    }
  }
}
