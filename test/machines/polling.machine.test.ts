import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { type PollingEvent, pollingMachine } from "../../src/machines/polling.machine.js";

type PollingState = "Inactive" | "Active" | "Stopping";

function step(state: PollingState, event: PollingEvent) {
  const [next, actions] = transition(pollingMachine, pollingMachine.resolveState({ value: state }), event);
  return [next.value, ...actions.map(({ type }) => type)];
}

const scheduled = (taskCount: number): PollingEvent => ({ type: "SCHEDULED", taskCount });
const cancelled = (taskCount: number): PollingEvent => ({ type: "CANCELLED", taskCount });

describe("Polling lifecycle", () => {
  test.each<[string, PollingState, PollingEvent, readonly string[]]>([
    ["first task scheduled", "Inactive", scheduled(1), ["Active", "startLoop", "PollingStarted"]],
    ["no task scheduled", "Inactive", scheduled(0), ["Inactive"]],
    ["nothing to stop", "Inactive", { type: "STOP_REQUESTED" }, ["Inactive"]],
    ["nothing to cancel", "Inactive", cancelled(0), ["Inactive"]],
    ["a further task", "Active", scheduled(2), ["Active"]],
    ["a task cancelled, others left", "Active", cancelled(1), ["Active"]],
    ["all tasks cancelled", "Active", cancelled(0), ["Inactive", "stopLoop", "PollingStopped"]],
    ["stop requested", "Active", { type: "STOP_REQUESTED" }, ["Stopping", "stopLoop", "PollingStopRequested"]],
    ["stop requested again", "Stopping", { type: "STOP_REQUESTED" }, ["Stopping"]],
    ["scheduled while stopping", "Stopping", scheduled(1), ["Stopping"]],
    ["all running tasks complete", "Stopping", { type: "DRAINED" }, ["Inactive", "PollingStopped"]],
  ])("%s", (_, from, event, expected) => {
    expect(step(from, event)).toEqual(expected);
  });

  test("begins inactive", () => {
    expect(initialTransition(pollingMachine)[0].value).toBe("Inactive");
  });
});
