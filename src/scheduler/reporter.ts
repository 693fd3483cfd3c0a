/** The one place where a scheduler speaks: every event goes to `onEvent` and, by its weight, to the log. */
import type { Ports } from "./ports.js";
import type { SchedulerEvent, SchedulerLogger } from "./types.js";

type Unstamped<T> = T extends { readonly at: number } ? Omit<T, "at"> : never;
export type UnstampedEvent = Unstamped<SchedulerEvent>;
type Level = keyof SchedulerLogger;

const LEVELS: Readonly<Record<SchedulerEvent["type"], Level>> = {
  SchedulerInitializationStarted: "debug",
  SchedulerInitializationCompleted: "info",
  SchedulerInitializationFailed: "error",
  SchedulerStopRequested: "debug",
  SchedulerStopped: "info",
  Reconciled: "info",
  PollingStarted: "debug",
  PollingStopRequested: "debug",
  PollingStopped: "debug",
  TaskRunStarted: "debug",
  TaskRunCompleted: "debug",
  TaskRunFailed: "warn",
  TaskRetryStarted: "debug",
  TaskRetryPreempted: "debug",
  EvaluationLate: "warn",
  StoreFailed: "error",
  TaskRecordQuarantined: "warn",
};

export class Reporter {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Never throws: a listener's or logger's mistake is not the scheduler's. */
  emit(event: UnstampedEvent, at = this.#ports.lenientNow()): void {
    const stamped = { at, ...event } as SchedulerEvent;
    try {
      this.#watch(this.#ports.onEvent?.(stamped));
    } catch (error) {
      this.log("error", { error, event: event.type }, "an event listener threw");
    }
    this.log(LEVELS[event.type], stamped, event.type);
  }

  log(level: Level, fields: object, message: string): void {
    try {
      this.#ports.logger[level](fields, message);
    } catch {
      // There is nobody left to tell.
    }
  }

  /** A listener may be an async function although nobody waits for it: its rejection must not end the process. */
  #watch(returned: unknown): void {
    if (!(returned instanceof Promise)) return;
    returned.catch((error: unknown) => this.log("error", { error }, "an event listener rejected"));
  }
}
