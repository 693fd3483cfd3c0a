/**
 * One task of the Declarative Scheduler: waiting for its cron occurrence, running, or waiting to be tried again. Whether
 * something is due is decided outside and comes with the event as a fact, so the chart holds no context and a step
 * depends on nothing but the state and the event. Effects are named, in order; whoever drives the chart carries them out.
 */
import { raise, setup } from "xstate";
import { compiled } from "./advance.js";

/** What is owed at one poll. Latches, not counters: many missed occurrences are one fact (P11). */
export interface TaskFacts {
  /** A run was cut off by the death of its scheduler (P19). */
  readonly isOrphaned: boolean;
  /** The most recent occurrence is later than the last attempt and than the first sight of the expression. */
  readonly isOccurrenceDue: boolean;
  /** The delay after the last failure has passed (P13). */
  readonly isRetryReached: boolean;
}

export type TaskState = "AwaitingRun" | "Running" | "AwaitingRetry";
export type TaskEvent = ({ readonly type: "POLL" } & TaskFacts) | { readonly type: "SUCCEEDED" | "FAILED" };

/** Changes of the record, and the events that its user is told, by their names. */
export type TaskEffect =
  | "recordAttempt"
  | "recordSuccess"
  | "recordFailure"
  | "clearRetry"
  | "TaskRunStarted"
  | "TaskRunCompleted"
  | "TaskRunFailed"
  | "TaskRetryStarted"
  | "TaskRetryPreempted";

/** An orphaned task is owed whatever cron or back-off say. */
function isRunOwed(event: TaskEvent): boolean {
  return event.type === "POLL" && (event.isOrphaned || event.isOccurrenceDue);
}

function isRetryReached(event: TaskEvent): boolean {
  return event.type === "POLL" && event.isRetryReached;
}

const carriedOutByDriver = () => {};

const definition = setup({
  types: { events: {} as TaskEvent },
  guards: {
    isRunOwed: ({ event }) => isRunOwed(event),
    isRetryReached: ({ event }) => isRetryReached(event),
  },
  actions: {
    recordAttempt: carriedOutByDriver,
    recordSuccess: carriedOutByDriver,
    recordFailure: carriedOutByDriver,
    clearRetry: carriedOutByDriver,
    TaskRunStarted: carriedOutByDriver,
    TaskRunCompleted: carriedOutByDriver,
    TaskRunFailed: carriedOutByDriver,
    TaskRetryStarted: carriedOutByDriver,
    TaskRetryPreempted: carriedOutByDriver,
    pollAgain: raise(({ event }) => event),
  },
}).createMachine({
  id: "task",
  initial: "AwaitingRun",
  states: {
    AwaitingRun: {
      on: {
        POLL: { guard: "isRunOwed", target: "Running", actions: ["clearRetry", "recordAttempt", "TaskRunStarted"] },
      },
    },
    Running: {
      on: {
        SUCCEEDED: { target: "AwaitingRun", actions: ["recordSuccess", "clearRetry", "TaskRunCompleted"] },
        FAILED: { target: "AwaitingRetry", actions: ["recordFailure", "TaskRunFailed"] },
      },
    },
    AwaitingRetry: {
      on: {
        POLL: [
          // A new occurrence supersedes the retry and is run in the same poll (P14, P15).
          { guard: "isRunOwed", target: "AwaitingRun", actions: ["clearRetry", "TaskRetryPreempted", "pollAgain"] },
          {
            guard: "isRetryReached",
            target: "Running",
            actions: ["clearRetry", "recordAttempt", "TaskRetryStarted"],
          },
        ],
      },
    },
  },
});

export const taskMachine = compiled(definition);
