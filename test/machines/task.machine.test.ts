import { describe, expect, test } from "vitest";
import { transition } from "xstate";
import { type TaskEvent, type TaskState, taskMachine } from "../../src/machines/task.machine.js";

const nothing = { isOrphaned: false, isOccurrenceDue: false, isRetryReached: false };
const poll = (facts: Partial<typeof nothing>): TaskEvent => ({ type: "POLL", ...nothing, ...facts });

function step(state: TaskState, event: TaskEvent) {
  const [next, actions] = transition(taskMachine, taskMachine.resolveState({ value: state }), event);
  return { to: next.value, effects: actions.map(({ type }) => type).filter((type) => type !== "xstate.raise") };
}

const START = ["clearRetry", "recordAttempt", "TaskRunStarted"];
const RETRY = ["clearRetry", "recordAttempt", "TaskRetryStarted"];
const PREEMPT = ["clearRetry", "TaskRetryPreempted", ...START];

describe("Task lifecycle: every state, every event", () => {
  test.each<[string, TaskState, TaskEvent, TaskState, readonly string[]]>([
    ["nothing owed", "AwaitingRun", poll({}), "AwaitingRun", []],
    ["poll finds the task due", "AwaitingRun", poll({ isOccurrenceDue: true }), "Running", START],
    ["P19: cut off by a crash", "AwaitingRun", poll({ isOrphaned: true }), "Running", START],
    ["no retry is pending", "AwaitingRun", poll({ isRetryReached: true }), "AwaitingRun", []],
    ["P8: a running task is not started", "Running", poll({ isOccurrenceDue: true }), "Running", []],
    ["P8: nor for any other cause", "Running", poll({ isOrphaned: true, isRetryReached: true }), "Running", []],
    ["succeeds", "Running", { type: "SUCCEEDED" }, "AwaitingRun", ["recordSuccess", "clearRetry", "TaskRunCompleted"]],
    ["fails", "Running", { type: "FAILED" }, "AwaitingRetry", ["recordFailure", "TaskRunFailed"]],
    ["P13: retry not reached", "AwaitingRetry", poll({}), "AwaitingRetry", []],
    ["retry time reached", "AwaitingRetry", poll({ isRetryReached: true }), "Running", RETRY],
    [
      "P14: a new occurrence supersedes the retry",
      "AwaitingRetry",
      poll({ isOccurrenceDue: true }),
      "Running",
      PREEMPT,
    ],
    [
      "P10: both at once are one start",
      "AwaitingRetry",
      poll({ isOccurrenceDue: true, isRetryReached: true }),
      "Running",
      PREEMPT,
    ],
    ["a crash during back-off", "AwaitingRetry", poll({ isOrphaned: true }), "Running", PREEMPT],
    ["an end without a run", "AwaitingRun", { type: "SUCCEEDED" }, "AwaitingRun", []],
    ["a failure without a run", "AwaitingRetry", { type: "FAILED" }, "AwaitingRetry", []],
  ])("%s", (_, from, event, to, effects) => {
    expect(step(from, event)).toEqual({ to, effects });
  });
});
