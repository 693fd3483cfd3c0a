/**
 * Whether the polling loop of the Declarative Scheduler runs. The loop itself (its sleeps, its evaluations) is carried
 * out by the driver; the chart says when it is to begin and to end, and what its user is told.
 */
import { setup } from "xstate";
import { compiled } from "./advance.js";

export type PollingEvent =
  | { readonly type: "SCHEDULED" | "CANCELLED" /** Tasks scheduled after the change. */; readonly taskCount: number }
  | { readonly type: "STOP_REQUESTED" | "DRAINED" };

export type PollingEffect = "startLoop" | "stopLoop" | "PollingStarted" | "PollingStopRequested" | "PollingStopped";

function hasTasks(event: PollingEvent): boolean {
  return "taskCount" in event && event.taskCount > 0;
}

const carriedOutByDriver = () => {};

const definition = setup({
  types: { events: {} as PollingEvent },
  guards: {
    isFirstTask: ({ event }) => hasTasks(event),
    isLastTask: ({ event }) => !hasTasks(event),
  },
  actions: {
    startLoop: carriedOutByDriver,
    stopLoop: carriedOutByDriver,
    PollingStarted: carriedOutByDriver,
    PollingStopRequested: carriedOutByDriver,
    PollingStopped: carriedOutByDriver,
  },
}).createMachine({
  id: "polling",
  initial: "Inactive",
  states: {
    Inactive: {
      on: { SCHEDULED: { guard: "isFirstTask", target: "Active", actions: ["startLoop", "PollingStarted"] } },
    },
    Active: {
      on: {
        CANCELLED: { guard: "isLastTask", target: "Inactive", actions: ["stopLoop", "PollingStopped"] },
        STOP_REQUESTED: { target: "Stopping", actions: ["stopLoop", "PollingStopRequested"] },
      },
    },
    Stopping: {
      on: { DRAINED: { target: "Inactive", actions: ["PollingStopped"] } },
    },
  },
});

export const pollingMachine = compiled(definition);
