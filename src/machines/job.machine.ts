/**
 * One identity: may it trigger, how far is its live period, does anything run. Its context is the state document; every
 * change of it is recorded by one action and handed on to be persisted, so that a snapshot and the document say the
 * same. What is planned is not part of it: plans are recomputed (STATE, non-goals).
 */
import { assign, type SnapshotFrom, setup } from "xstate";
import { compiled, resolve } from "./advance.js";
import { effect } from "./effects.js";
import {
  firstJob,
  hasRuns,
  isFree,
  isHeldByPause,
  isHeldBySuspend,
  isPauseOver,
  isRemoved,
  type JobContext,
  type JobEvent,
  type JobInput,
  persistParams,
  type RecordEvent,
  recorded,
} from "./job-logic.js";

/** The document has changed: on record, then handed on. */
const ON_RECORD = [
  "record",
  { type: "persist", params: ({ context }: { readonly context: JobContext }) => persistParams(context) },
  "handedOn",
] as const;

const ROW = { actions: ON_RECORD };

/** Events that change the document and nothing else. */
const RECORDED = {
  CLAIM: ROW,
  CLAIM_SLOT: ROW,
  CLOSE: ROW,
  RUN_ENDED: ROW,
  RETRY_DROPPED: ROW,
  START_FAILED: ROW,
  CLOSE_SLOT: ROW,
  BOOTED: ROW,
  DEFINED: ROW,
  REDATED: ROW,
  REMOVED: ROW,
  PAUSED: ROW,
  STOPPED: ROW,
  RESUMED: ROW,
  HINTED: ROW,
  UNHINTED: ROW,
  HINTS_EXPIRED: ROW,
  NOTED: ROW,
} satisfies Partial<Record<RecordEvent["type"], typeof ROW>>;

const definition = setup({
  types: {
    context: {} as JobContext,
    events: {} as JobEvent,
    input: {} as JobInput,
  },
  guards: {
    isFree: ({ context }) => isFree(context),
    isHeldBySuspend: ({ context }) => isHeldBySuspend(context),
    isHeldByPause: ({ context }) => isHeldByPause(context),
    isRemoved: ({ context }) => isRemoved(context),
    isPauseOver: ({ context, event }) => isPauseOver(context, event),
    hasRuns: ({ context }) => hasRuns(context),
    hasNoRuns: ({ context }) => !hasRuns(context),
  },
  actions: {
    record: assign(({ context, event }) => recorded(context, event)),
    configure: assign(({ event }) =>
      event.type === "CONFIGURED" ? { isSuspended: event.isSuspended, historyLimit: event.historyLimit } : {},
    ),
    persist: effect("persist"),
    handedOn: assign({ facts: [], claimedBy: null }),
  },
}).createMachine({
  id: "job",
  context: ({ input }) => firstJob(input),
  type: "parallel",
  states: {
    /** S17: suspend > pause. A removed job keeps its state and watches what it started to the end (S16). */
    standing: {
      initial: "enabled",
      states: {
        enabled: {
          always: [
            { guard: "isRemoved", target: "removed" },
            { guard: "isHeldBySuspend", target: "suspended" },
            { guard: "isHeldByPause", target: "paused" },
          ],
        },
        suspended: {
          always: [
            { guard: "isRemoved", target: "removed" },
            { guard: "isHeldByPause", target: "paused" },
            { guard: "isFree", target: "enabled" },
          ],
        },
        paused: {
          always: [
            { guard: "isRemoved", target: "removed" },
            { guard: "isHeldBySuspend", target: "suspended" },
            { guard: "isFree", target: "enabled" },
          ],
        },
        removed: {
          always: [
            { guard: "isHeldBySuspend", target: "suspended" },
            { guard: "isHeldByPause", target: "paused" },
            { guard: "isFree", target: "enabled" },
          ],
        },
      },
    },
    /** Every change of the document, whatever else the event does. */
    record: {
      on: {
        ...RECORDED,
        RUN_CONFIRMED: { actions: "record" },
        CONFIGURED: { actions: "configure" },
        TICK: { guard: "isPauseOver", actions: ON_RECORD },
      },
    },
    /** How far the live period is; the period itself is a machine of its own. */
    period: {
      initial: "none",
      on: { PLANNED: ".planned", CLAIM: ".none", CLOSE: ".none", CLOSE_SLOT: ".none", PASSED: ".none" },
      states: {
        none: {},
        planned: { on: { DUE: "eligible" } },
        eligible: {},
      },
    },
    runs: {
      initial: "idle",
      states: {
        idle: { always: { guard: "hasRuns", target: "busy" } },
        busy: { always: { guard: "hasNoRuns", target: "idle" } },
      },
    },
  },
});

export const jobMachine = compiled(definition);

export type JobSnapshot = SnapshotFrom<typeof jobMachine>;

/** A snapshot from a document: the same one that the document would be taken from. */
export function jobSnapshotOf(input: JobInput, machine: typeof jobMachine = jobMachine): JobSnapshot {
  const context = firstJob(input);
  return resolve(machine, {
    value: { standing: standingState(context), record: {}, period: "none", runs: hasRuns(context) ? "busy" : "idle" },
    context,
  });
}

function standingState(context: JobContext): "removed" | "suspended" | "paused" | "enabled" {
  if (isRemoved(context)) {
    return "removed";
  }
  if (isHeldBySuspend(context)) {
    return "suspended";
  }
  return isHeldByPause(context) ? "paused" : "enabled";
}
