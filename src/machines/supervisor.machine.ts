/**
 * The life of the daemon: nothing is scheduled before everything is known to be sound, and nothing after it no longer
 * is. Effects are named here and carried out by whoever has taken that on (`actors/phase.ts`); what a phase allows is asked
 * in `supervisor-phase.ts`.
 */
import { assign, type SnapshotFrom, setup } from "xstate";
import { compiled } from "./advance.js";
import {
  FIRST,
  isBroken,
  isFatal,
  type SupervisorContext,
  type SupervisorEffect,
  type SupervisorEvent,
  takeCode,
  takeDrain,
} from "./supervisor-logic.js";

const byCarriers = () => {};

const CARRIED_OUT = {
  readConfiguration: byCarriers,
  takeLock: byCarriers,
  openStore: byCarriers,
  recoverRuns: byCarriers,
  startScheduling: byCarriers,
  reloadConfiguration: byCarriers,
  changeDefinitions: byCarriers,
  stopScheduling: byCarriers,
  drain: byCarriers,
  halt: byCarriers,
  closeGates: byCarriers,
  closeStore: byCarriers,
  reportError: byCarriers,
  end: byCarriers,
} satisfies Readonly<Record<SupervisorEffect, () => void>>;

const definition = setup({
  types: { context: {} as SupervisorContext, events: {} as SupervisorEvent },
  guards: { isBroken: ({ event }) => isBroken(event), isFatal: ({ event }) => isFatal(event) },
  actions: {
    takeCode: assign(({ event }) => takeCode(event)),
    takeDrain: assign(({ event }) => takeDrain(event)),
    ...CARRIED_OUT,
  },
}).createMachine({
  id: "supervisor",
  context: FIRST,
  initial: "booting",
  states: {
    /** Invalid configuration, a held lock and unusable state each refuse the start: anything that fails here is final. */
    booting: {
      initial: "configuring",
      on: { FAILED: { target: "failed", actions: "takeCode" }, STOP: "stopped" },
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
        RECOVERED: { target: "introducing", actions: "startScheduling" },
        FAILED: { target: "failed", actions: "takeCode" },
        DRAIN: { target: "draining", actions: "takeDrain" },
        // Nothing was triggered yet: the next start continues from what is on record, as after a crash.
        STOP: "stopped",
      },
    },
    /** Jobs that are new or have changed are being told so (S14, S16); the others run already. */
    introducing: {
      on: {
        READY: "running",
        FAILED: { target: "failed", actions: "takeCode" },
        DRAIN: { target: "draining", actions: "takeDrain" },
        STOP: "stopped",
      },
    },
    running: {
      on: {
        RELOAD: "reloading",
        DRAIN: { target: "draining", actions: "takeDrain" },
        STOP: "draining",
        FAILED: { target: "failed", actions: "takeCode" },
      },
    },
    /** Scheduling goes on meanwhile, by the definitions in force. Who asks for another reload waits for its turn. */
    reloading: {
      initial: "reading",
      on: {
        DRAIN: { target: "draining", actions: "takeDrain" },
        STOP: "draining",
        FAILED: { target: "failed", actions: "takeCode" },
      },
      states: {
        /** Whatever goes wrong leaves everything as it was (S16, S35). */
        reading: {
          entry: "reloadConfiguration",
          on: {
            READ: "changing",
            REJECTED: [
              { guard: "isFatal", target: "#supervisor.failed", actions: "takeCode" },
              { target: "#supervisor.running", actions: "reportError" },
            ],
          },
        },
        /** From the first definition that is told a failure is final: nobody could say what is in force. */
        changing: {
          entry: "changeDefinitions",
          on: {
            RELOADED: "#supervisor.running",
            REJECTED: [
              { guard: "isBroken", target: "#supervisor.failed", actions: "takeCode" },
              { target: "#supervisor.running" },
            ],
          },
        },
      },
    },
    /** No new trigger; claims under way become durable and are released or closed (S29). */
    draining: {
      entry: ["stopScheduling", "drain"],
      on: {
        DRAINED: "closing",
        STOP: "stopped",
        // A reload that was under way: what it is read with is being taken away, and that is no trouble.
        REJECTED: { guard: "isFatal", target: "failed", actions: "takeCode" },
        FAILED: { target: "failed", actions: "takeCode" },
      },
    },
    /** Nothing is under way any more, and everything is taken apart, the lock last. */
    closing: {
      entry: ["halt", "closeStore"],
      on: { CLOSED: "stopped", STOP: "stopped", FAILED: { target: "failed", actions: "takeCode" } },
    },
    stopped: { type: "final", entry: "end" },
    /** ERROR-MODEL: exit at once. Gates close with the process; what runs goes on and is adopted later. */
    failed: { type: "final", entry: ["stopScheduling", "halt", "closeGates", "reportError"] },
  },
});

export const supervisorMachine = compiled(definition);

export type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>;
