/**
 * One attempt to run a command, from the gate to the end (S23). The order is the whole point: GO is only ever an effect
 * of the claim having become durable, and after a claim there is no way out but a recorded ending.
 */
import { and, assign, type SnapshotFrom, setup } from "xstate";
import { compiled } from "./advance.js";
import { effect } from "./effects.js";
import {
  type ExecutionContext,
  type ExecutionEvent,
  type ExecutionInput,
  endingParams,
  firstExecution,
  gateParams,
  goParams,
  hasEnded,
  isTimedOut,
  isTreeGone,
  notRun,
  startClock,
  takeExit,
  takeProcess,
  takeReason,
  takeUnseen,
  terminateParams,
} from "./execution-logic.js";

const definition = setup({
  types: {
    context: {} as ExecutionContext,
    events: {} as ExecutionEvent,
    input: {} as ExecutionInput,
  },
  guards: {
    isTimedOut: ({ context, event }) => isTimedOut(context, event),
    isTreeGone: ({ event }) => isTreeGone(event),
    hasEnded: ({ context }) => hasEnded(context),
  },
  actions: {
    takeProcess: assign(({ event }) => takeProcess(event)),
    startClock: assign(({ context, event }) => startClock(context, event)),
    takeReason: assign(({ context, event }) => takeReason(context, event)),
    notRun: assign(({ context, event }) => notRun(context, event)),
    takeExit: assign(({ context, event }) => takeExit(context, event)),
    takeUnseen: assign(({ context }) => takeUnseen(context)),
    arm: effect("arm"),
    closeGate: effect("closeGate"),
    go: effect("go"),
    terminate: effect("terminate"),
    recordStart: effect("recordStart"),
    recordEnd: effect("recordEnd"),
    refuse: effect("refuse"),
  },
}).createMachine({
  id: "execution",
  context: ({ input }) => firstExecution(input),
  initial: "arming",
  states: {
    arming: {
      entry: { type: "arm", params: ({ context }) => context.attempt },
      on: {
        READY: { target: "gated", actions: "takeProcess" },
        FAILED: { target: "ended", actions: { type: "refuse", params: ({ event }) => ({ code: event.code }) } },
        CLOSE: { target: "ended", actions: { type: "closeGate", params: ({ context }) => gateParams(context) } },
      },
    },
    gated: {
      initial: "waiting",
      states: {
        waiting: {
          on: {
            CLAIM: "claiming",
            FAILED: {
              target: "#execution.ended",
              actions: { type: "refuse", params: ({ event }) => ({ code: event.code }) },
            },
            CLOSE: {
              target: "#execution.ended",
              actions: { type: "closeGate", params: ({ context }) => gateParams(context) },
            },
          },
        },
        /** The transaction is under way: whatever happens to the gate, the claim will be on record. */
        claiming: {
          on: {
            DURABLE: {
              target: "#execution.running",
              actions: ["startClock", { type: "go", params: ({ context }) => goParams(context) }],
            },
            FAILED: "closed",
            END: {
              target: "closed",
              actions: ["takeReason", { type: "closeGate", params: ({ context }) => gateParams(context) }],
            },
          },
        },
        /** Claimed, and it cannot run any more. */
        closed: { on: { DURABLE: { target: "#execution.ended.recorded", actions: "notRun" } } },
      },
    },
    running: {
      initial: "released",
      on: {
        EXITED: { target: "ended.recorded", actions: "takeExit" },
        END: { target: "terminating", actions: "takeReason" },
        TICK: { guard: "isTimedOut", target: "terminating", actions: "takeReason" },
      },
      states: {
        /** GO was sent; that the command began is not yet known. */
        released: {
          on: {
            STARTED: { target: "confirmed", actions: { type: "recordStart", params: {} } },
            NOT_RUN: { target: "#execution.ended.recorded", actions: "notRun" },
            LOST: { target: "#execution.ended.recorded", actions: "notRun" },
          },
        },
        confirmed: { on: { LOST: { target: "#execution.ended.recorded", actions: "takeUnseen" } } },
      },
    },
    /** S28: over when the process has ended *and* its whole tree is verified gone; they are told in either order. */
    terminating: {
      initial: "asked",
      entry: { type: "terminate", params: ({ context }) => terminateParams(context) },
      on: {
        EXITED: { actions: ["takeExit", { type: "recordEnd", params: ({ context }) => endingParams(context) }] },
        NOT_RUN: { actions: ["notRun", { type: "recordEnd", params: ({ context }) => endingParams(context) }] },
        LOST: { actions: ["takeUnseen", { type: "recordEnd", params: ({ context }) => endingParams(context) }] },
      },
      states: {
        asked: {
          on: {
            TERMINATED: [
              { guard: and(["isTreeGone", "hasEnded"]), target: "#execution.ended" },
              { guard: "isTreeGone", target: "swept" },
              { target: "stubborn" },
            ],
          },
        },
        /** The tree is gone; how the process ended is about to be told. */
        swept: {
          on: {
            EXITED: { target: "#execution.ended.recorded", actions: "takeExit" },
            NOT_RUN: { target: "#execution.ended.recorded", actions: "notRun" },
            LOST: { target: "#execution.ended.recorded", actions: "takeUnseen" },
          },
        },
        /** Not even KILL ended all of it. Asked once more when someone wants it ended once more. */
        stubborn: { on: { END: { target: "#execution.terminating", reenter: true } } },
      },
    },
    ended: {
      initial: "silent",
      states: {
        /** Nothing was claimed, or the ending is on record. */
        silent: { type: "final" },
        recorded: {
          type: "final",
          entry: { type: "recordEnd", params: ({ context }) => endingParams(context) },
        },
      },
    },
  },
});

export const executionMachine = compiled(definition);

export type ExecutionSnapshot = SnapshotFrom<typeof executionMachine>;
