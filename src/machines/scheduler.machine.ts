/**
 * The life of one Declarative Scheduler, from created to stopped and back: a stopped scheduler may be initialised again.
 * Nothing is validated, stored or waited for here; the driver does that and reports how it went.
 */
import { setup } from "xstate";
import { compiled } from "./advance.js";

export type SchedulerLifecycleEvent =
  | { readonly type: "INITIALIZE" | "STOP" | "DRAINED" | "DESTROYED" }
  | { readonly type: "INITIALIZED"; readonly schedulerId: string }
  | { readonly type: "INITIALIZATION_FAILED"; readonly error: unknown };

export type SchedulerEffect =
  | "refuseAlreadyActive"
  | "startPolling"
  | "stopPolling"
  | "SchedulerInitializationStarted"
  | "SchedulerInitializationCompleted"
  | "SchedulerInitializationFailed"
  | "SchedulerStopRequested"
  | "SchedulerStopped";

const carriedOutByDriver = () => {};

const definition = setup({
  types: { events: {} as SchedulerLifecycleEvent },
  actions: {
    refuseAlreadyActive: carriedOutByDriver,
    startPolling: carriedOutByDriver,
    stopPolling: carriedOutByDriver,
    SchedulerInitializationStarted: carriedOutByDriver,
    SchedulerInitializationCompleted: carriedOutByDriver,
    SchedulerInitializationFailed: carriedOutByDriver,
    SchedulerStopRequested: carriedOutByDriver,
    SchedulerStopped: carriedOutByDriver,
  },
}).createMachine({
  id: "scheduler",
  initial: "Uninitialized",
  states: {
    Uninitialized: {
      on: { INITIALIZE: { target: "Initializing", actions: "SchedulerInitializationStarted" } },
    },
    Initializing: {
      on: {
        INITIALIZE: { actions: "refuseAlreadyActive" },
        INITIALIZED: { target: "Running", actions: ["startPolling", "SchedulerInitializationCompleted"] },
        INITIALIZATION_FAILED: { target: "Uninitialized", actions: "SchedulerInitializationFailed" },
      },
    },
    Running: {
      on: {
        INITIALIZE: { actions: "refuseAlreadyActive" },
        STOP: { target: "Stopping", actions: ["SchedulerStopRequested", "stopPolling"] },
      },
    },
    Stopping: {
      on: { DRAINED: { target: "Stopped", actions: "SchedulerStopped" } },
    },
    Stopped: {
      on: { DESTROYED: "Uninitialized" },
    },
  },
});

export const schedulerMachine = compiled(definition);
