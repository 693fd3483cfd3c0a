/** The one place where a scheduler speaks: every event goes to `onEvent` and, by its weight, to the log. */

import type { Frame } from "../machines/inspection-frames.js";
import type { Ports } from "./ports.js";
import type { SchedulerEvent, SchedulerLogger } from "./types.js";

type Unstamped<T> = T extends { readonly at: number } ? Omit<T, "at"> : never;
type UnstampedEvent = Unstamped<SchedulerEvent>;
type Level = keyof SchedulerLogger;

const LEVELS: Readonly<Record<SchedulerEvent["type"], Level>> = {
  SchedulerInitializationStarted: "debug",
  SchedulerInitializationCompleted: "info",
  SchedulerInitializationFailed: "info",
  SchedulerStopRequested: "debug",
  SchedulerStopped: "info",
  Reconciled: "info",
  TaskRecordsAhead: "warn",
  PollingStarted: "debug",
  PollingStopRequested: "debug",
  PollingStopped: "debug",
  TaskRunStarted: "debug",
  TaskRunWithdrawn: "debug",
  TaskRunCompleted: "debug",
  TaskRunFailed: "warn",
  TaskRetryStarted: "debug",
  TaskRetryPreempted: "debug",
  EvaluationLate: "warn",
  StoreFailed: "error",
  TaskRecordQuarantined: "warn",
};

/** What the caller of `initialize` is told by its rejection need not be shouted as well. */
function levelOf(event: UnstampedEvent): Level {
  return event.type === "StoreFailed" && event.operation === "reconcile" ? "info" : LEVELS[event.type];
}

/** Loggers print an error that is called `err`, and often nothing of one that is called otherwise. */
function loggedFields(event: SchedulerEvent): object {
  if (!("error" in event)) return event;
  const { error: err, ...fields } = event;
  return { ...fields, err };
}

function nobodyLeftToTell(): void {}

/** What was called may be an async function although nobody waits for it: its rejection must not end the process. */
function catchRejection(returned: unknown, caught: (error: unknown) => void): void {
  if (typeof returned === "object" && returned !== null && "then" in returned) {
    Promise.resolve(returned).catch(caught);
  }
}

export class Reporter {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Never throws: a listener's or logger's mistake is not the scheduler's. */
  emit(event: UnstampedEvent, at = this.#ports.lenientNow()): void {
    const stamped = { at, ...event } as SchedulerEvent;
    try {
      catchRejection(this.#ports.onEvent?.(stamped), (err) => this.log("error", { err }, "an event listener rejected"));
    } catch (err) {
      this.log("error", { err, event: event.type }, "an event listener threw");
    }
    this.log(levelOf(event), loggedFields(stamped), event.type);
  }

  /** An inspector's mistake is not the scheduler's either. */
  inspect(frame: Frame): void {
    try {
      catchRejection(this.#ports.inspect?.(frame), (err) => this.log("error", { err }, "an inspector rejected"));
    } catch (err) {
      this.log("error", { err }, "an inspector threw");
    }
  }

  log(level: Level, fields: object, message: string): void {
    try {
      catchRejection(this.#ports.logger[level](fields, message), nobodyLeftToTell);
    } catch {
      nobodyLeftToTell();
    }
  }
}
