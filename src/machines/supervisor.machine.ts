/**
 * The life of the daemon: nothing is scheduled before everything is known to be sound, and nothing after it no longer
 * is. Effects are named here and carried out by the supervisor actor.
 */
import { assign, type SnapshotFrom, setup } from "xstate";
import { compiled } from "./advance.js";
import {
  FIRST,
  isFatal,
  type SupervisorContext,
  type SupervisorEvent,
  takeCode,
  takeDrain,
} from "./supervisor-logic.js";

const carriedOutByActor = () => {};

const definition = setup({
  types: { context: {} as SupervisorContext, events: {} as SupervisorEvent },
  guards: { isFatal: ({ event }) => isFatal(event) },
  actions: {
    takeCode: assign(({ event }) => takeCode(event)),
    takeDrain: assign(({ event }) => takeDrain(event)),
    readConfiguration: carriedOutByActor,
    takeLock: carriedOutByActor,
    openStore: carriedOutByActor,
    recoverRuns: carriedOutByActor,
    startScheduling: carriedOutByActor,
    reloadConfiguration: carriedOutByActor,
    stopScheduling: carriedOutByActor,
    closeGates: carriedOutByActor,
    closeStore: carriedOutByActor,
    reportError: carriedOutByActor,
  },
}).createMachine({
  id: "supervisor",
  context: FIRST,
  initial: "booting",
  states: {
    /** Invalid configuration, a held lock and unusable state each refuse the start: anything that fails here is final. */
    booting: {
      initial: "configuring",
      on: { FAILED: { target: "failed", actions: "takeCode" }, STOP: "stopped", DRAIN: "stopped" },
      states: {
        configuring: { entry: "readConfiguration", on: { CONFIGURED: "locking" } },
        locking: { entry: "takeLock", on: { LOCKED: "opening" } },
        opening: { entry: "openStore", on: { OPENED: "#supervisor.recovering" } },
      },
    },
    /** STATE crash recovery: every active execution on record is adopted or completed before anything is triggered. */
    recovering: {
      entry: "recoverRuns",
      on: {
        RECOVERED: { target: "running", actions: "startScheduling" },
        FAILED: [{ guard: "isFatal", target: "failed", actions: "takeCode" }, { actions: "reportError" }],
        DRAIN: "stopped",
        STOP: "stopped",
      },
    },
    running: {
      on: {
        RELOAD: "reloading",
        DRAIN: { target: "draining", actions: "takeDrain" },
        STOP: "stopped",
        FAILED: [{ guard: "isFatal", target: "failed", actions: "takeCode" }, { actions: "reportError" }],
      },
    },
    /** Scheduling goes on meanwhile, by the definitions in force. */
    reloading: {
      entry: "reloadConfiguration",
      on: {
        RELOADED: "running",
        REJECTED: { target: "running", actions: "reportError" },
        // Asked again while reading: what is being read may be out of date already.
        RELOAD: { target: "reloading", reenter: true },
        DRAIN: { target: "draining", actions: "takeDrain" },
        STOP: "stopped",
        FAILED: [{ guard: "isFatal", target: "failed", actions: "takeCode" }, { actions: "reportError" }],
      },
    },
    /** No new trigger; claims under way become durable and are released or closed. */
    draining: {
      entry: ["stopScheduling", "closeGates"],
      on: {
        DRAINED: "stopped",
        STOP: "stopped",
        FAILED: [{ guard: "isFatal", target: "failed", actions: "takeCode" }, { actions: "reportError" }],
      },
    },
    stopped: { type: "final", entry: ["stopScheduling", "closeGates", "closeStore"] },
    /** ERROR-MODEL: exit at once. Gates close with the process; what runs goes on and is adopted later. */
    failed: { type: "final", entry: ["stopScheduling", "closeGates", "reportError"] },
  },
});

export const supervisorMachine = compiled(definition);

export type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>;
