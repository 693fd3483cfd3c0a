import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { type SchedulerLifecycleEvent, schedulerMachine } from "../../src/machines/scheduler.machine.js";

const EVENTS: readonly SchedulerLifecycleEvent[] = [
  { type: "INITIALIZE" },
  { type: "INITIALIZED", schedulerId: "a" },
  { type: "INITIALIZATION_FAILED", error: null },
  { type: "STOP" },
  { type: "DRAINED" },
  { type: "DESTROYED" },
];

type SchedulerState = "Uninitialized" | "Initializing" | "Running" | "Stopping" | "Stopped";

function step(state: SchedulerState, event: SchedulerLifecycleEvent) {
  const [next, actions] = transition(schedulerMachine, schedulerMachine.resolveState({ value: state }), event);
  return [event.type, next.value, ...actions.map(({ type }) => type)];
}

/** What each state does with the events it knows: event, next state, effects. All others change nothing. */
const KNOWN: Readonly<Record<SchedulerState, readonly (readonly string[])[]>> = {
  Uninitialized: [["INITIALIZE", "Initializing", "SchedulerInitializationStarted"]],
  Initializing: [
    ["INITIALIZE", "Initializing", "refuseAlreadyActive"],
    ["INITIALIZED", "Running", "startPolling", "SchedulerInitializationCompleted"],
    ["INITIALIZATION_FAILED", "Uninitialized", "SchedulerInitializationFailed"],
  ],
  Running: [
    ["INITIALIZE", "Running", "refuseAlreadyActive"],
    ["STOP", "Stopping", "SchedulerStopRequested", "stopPolling"],
  ],
  Stopping: [["DRAINED", "Stopped", "SchedulerStopped"]],
  Stopped: [["DESTROYED", "Uninitialized"]],
};

describe("Scheduler lifecycle: every state, every event", () => {
  test.each(Object.keys(KNOWN) as SchedulerState[])("%s", (state) => {
    const steps = EVENTS.map((event) => step(state, event));
    const inert = (type: string): readonly string[] => [type, state];
    const expected = EVENTS.map(({ type }) => KNOWN[state].find(([known]) => known === type) ?? inert(type));
    expect(steps).toEqual(expected);
  });

  test("begins uninitialized", () => {
    expect(initialTransition(schedulerMachine)[0].value).toBe("Uninitialized");
  });
});
