/**
 * One period of one job: planned → eligible → terminal, as SPEC draws it. What to do is judged by the policy and comes
 * as an event; the chart makes sure that a terminal outcome is reached once and never left.
 */
import { assign, type SnapshotFrom, setup } from "xstate";
import { compiled } from "./advance.js";
import { effect } from "./effects.js";
import {
  countFailure,
  firstContext,
  isEligible,
  isVerdict,
  type PeriodContext,
  type PeriodEvent,
  type PeriodInput,
  settleParams,
  startParams,
  takeClearance,
  takeEnding,
  takeVerdict,
  victimParams,
} from "./period-logic.js";

const definition = setup({
  types: {
    context: {} as PeriodContext,
    events: {} as PeriodEvent,
    input: {} as PeriodInput,
  },
  guards: {
    isEligible: ({ context, event }) => isEligible(context, event),
    isStart: ({ context }) => isVerdict(context, "start"),
    isReplace: ({ context }) => isVerdict(context, "replace"),
    isSkipped: ({ context }) => isVerdict(context, "skipped"),
    isMissed: ({ context }) => isVerdict(context, "missed"),
    isUnschedulable: ({ context }) => isVerdict(context, "unschedulable"),
  },
  actions: {
    takeVerdict: assign(({ event }) => takeVerdict(event)),
    takeClearance: assign(({ event }) => takeClearance(event)),
    countFailure: assign(({ context, event }) => countFailure(context, event)),
    takeEnding: assign(({ event }) => takeEnding(event)),
    startAttempt: effect("startAttempt"),
    endVictims: effect("endVictims"),
    settle: effect("settle"),
  },
}).createMachine({
  id: "period",
  context: ({ input }) => firstContext(input),
  initial: "planned",
  states: {
    planned: {
      on: { JUDGED: { guard: "isEligible", target: "eligible", actions: "takeVerdict" } },
    },
    eligible: {
      initial: "judging",
      on: { JUDGED: { target: ".judging", actions: "takeVerdict", reenter: true } },
      states: {
        /** A verdict that says "nothing" (suspended, paused) leaves the period here. */
        judging: {
          always: [
            { guard: "isMissed", target: "#period.terminal.missed" },
            { guard: "isSkipped", target: "#period.terminal.skipped" },
            { guard: "isUnschedulable", target: "#period.terminal.unschedulable" },
            { guard: "isReplace", target: "clearing" },
            { guard: "isStart", target: "starting" },
          ],
        },
        /** S25: the victims are told to end; nothing starts before all of them are gone. */
        clearing: {
          entry: { type: "endVictims", params: ({ context }) => victimParams(context) },
          on: {
            CLEARED: { target: "starting", actions: "takeClearance" },
            START_FAILED: { target: "retrying", actions: "countFailure" },
          },
        },
        /** S23: from arming the gate to the durable claim. */
        starting: {
          entry: { type: "startAttempt", params: ({ context }) => startParams(context) },
          on: {
            CLAIMED: "#period.terminal.executed",
            START_FAILED: { target: "retrying", actions: "countFailure" },
          },
        },
        /** S24: open, and judged again at `retryAt`. */
        retrying: {},
      },
    },
    terminal: {
      initial: "executed",
      states: {
        executed: {
          initial: "running",
          states: {
            running: { on: { COMPLETED: { target: "completed", actions: "takeEnding" } } },
            completed: { type: "final" },
          },
        },
        skipped: { type: "final", entry: { type: "settle", params: ({ context }) => settleParams(context) } },
        missed: { type: "final", entry: { type: "settle", params: ({ context }) => settleParams(context) } },
        unschedulable: { type: "final", entry: { type: "settle", params: ({ context }) => settleParams(context) } },
      },
    },
  },
});

export const periodMachine = compiled(definition);

export type PeriodSnapshot = SnapshotFrom<typeof periodMachine>;
