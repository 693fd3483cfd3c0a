/** Every chart of ours, with what it can begin with and be told: enough to reach each of its states. */

import type { AnyStateMachine, EventObject } from "xstate";
import { cronOccasion } from "../../../src/core/period/occasion.js";
import { newDocument } from "../../../src/core/state/document.js";
import { executionMachine } from "../../../src/machines/execution.machine.js";
import type { ExecutionEvent } from "../../../src/machines/execution-logic.js";
import { jobMachine } from "../../../src/machines/job.machine.js";
import type { JobEvent } from "../../../src/machines/job-logic.js";
import { type MembershipEvent, membershipMachine } from "../../../src/machines/membership.machine.js";
import { periodMachine } from "../../../src/machines/period.machine.js";
import type { PeriodEvent } from "../../../src/machines/period-logic.js";
import { type PollingEvent, pollingMachine } from "../../../src/machines/polling.machine.js";
import { type SchedulerLifecycleEvent, schedulerMachine } from "../../../src/machines/scheduler.machine.js";
import { type ShardEvent, shardMachine } from "../../../src/machines/shard.machine.js";
import { supervisorMachine } from "../../../src/machines/supervisor.machine.js";
import type { SupervisorEvent } from "../../../src/machines/supervisor-logic.js";
import { type TaskEvent, taskMachine } from "../../../src/machines/task.machine.js";
import { at, birthAt, decisionOf, IDENTITY } from "../../support/scheduling.js";

export interface Subject {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly inputs: readonly unknown[];
  readonly events: readonly EventObject[];
}

const NOW = at("2026-03-05T00:00:00Z");
const P1 = decisionOf("2026-03-02T00:00:00Z", "2026-03-02T02:00:00Z");
const P2 = decisionOf("2026-03-03T00:00:00Z", "2026-03-03T02:00:00Z");
const GATE = { kind: "process", pid: 7, startTicks: 5, bootId: "b" } as const;
const ENDING = { kind: "exited", code: 0, signal: null, reason: null } as const;
const RUN = { attemptId: "a", source: null, periodId: P1.periodId, pid: 7 };
const BOOLEANS = [false, true];

const JOB: readonly JobEvent[] = [
  { type: "CLAIM", decision: P1, holder: GATE, attemptId: "a", now: NOW },
  { type: "CLAIM", decision: P2, holder: { ...GATE, pid: 8 }, attemptId: "b", now: NOW },
  {
    type: "CLAIM_SLOT",
    aftermath: null,
    source: "manual",
    slotAt: NOW,
    holder: { ...GATE, pid: 9 },
    attemptId: "c",
    now: NOW,
  },
  { type: "CLOSE", decision: P2, closing: { outcome: "missed", reason: "deadline" }, now: NOW },
  { type: "RUN_CONFIRMED", run: RUN },
  { type: "RUN_ENDED", run: RUN, ending: ENDING, now: NOW },
  { type: "RUN_ENDED", run: { ...RUN, source: "manual", pid: 9 }, ending: ENDING, now: NOW },
  { type: "DEFINED", hash: "h", carriedAt: null, birth: birthAt(NOW), now: NOW },
  { type: "REMOVED", now: NOW },
  { type: "PAUSED", untilAt: NOW + 60_000, reason: "deploy", now: NOW },
  { type: "RESUMED", now: NOW },
  { type: "HINTED", hint: { kind: "oneshot", nextRunAt: NOW, expiresAt: NOW + 60_000, reason: "r" }, now: NOW },
  { type: "UNHINTED", kind: "all", aftermath: null, now: NOW },
  { type: "HINTS_EXPIRED", aftermath: { fromAt: NOW, gap: null }, now: NOW + 60_000 },
  { type: "NOTED", fact: { kind: "before_definition", identity: IDENTITY, periodId: P1.periodId, at: NOW } },
  { type: "CONFIGURED", isSuspended: true, historyLimit: 1 },
  { type: "CONFIGURED", isSuspended: false, historyLimit: 1 },
  { type: "TICK", now: NOW },
  { type: "TICK", now: NOW + 60_000 },
  { type: "PLANNED" },
  { type: "DUE" },
  { type: "PASSED" },
];

const PERIOD: readonly PeriodEvent[] = [
  { type: "JUDGED", verdict: { kind: "start", startByAt: NOW }, now: 0 },
  { type: "JUDGED", verdict: { kind: "start", startByAt: NOW }, now: NOW },
  { type: "JUDGED", verdict: { kind: "replace", startByAt: NOW, victims: [{ ...RUN, slotAt: 0 }] }, now: NOW },
  { type: "JUDGED", verdict: { kind: "skipped", reason: "concurrency" }, now: NOW },
  { type: "JUDGED", verdict: { kind: "missed", reason: "deadline" }, now: NOW },
  { type: "JUDGED", verdict: { kind: "unschedulable", reason: "empty_window" }, now: NOW },
  { type: "JUDGED", verdict: { kind: "nothing", reason: "suspended" }, now: NOW },
  { type: "CLEARED", startByAt: NOW + 1000 },
  { type: "START_FAILED", code: "fork-failed", retryAt: NOW + 2000 },
  { type: "CLAIMED" },
  { type: "COMPLETED", ending: ENDING },
] as readonly PeriodEvent[];

const EXECUTION: readonly ExecutionEvent[] = [
  { type: "READY", holder: GATE },
  { type: "FAILED", code: "fork-failed" },
  { type: "CLAIM" },
  { type: "DURABLE", now: 1000 },
  { type: "REFUSED" },
  { type: "CLOSE" },
  { type: "STARTED" },
  { type: "NOT_RUN", reason: "late" },
  { type: "NOT_RUN", reason: "unconfirmed" },
  { type: "EXITED", ending: ENDING },
  { type: "LOST" },
  { type: "END", reason: "replaced" },
  { type: "TERMINATED", isGone: true },
  { type: "TERMINATED", isGone: false },
  { type: "TICK", now: 10_999 },
  { type: "TICK", now: 11_000 },
];

const ATTEMPT = { attemptId: "a", source: null, periodId: P1.periodId, slotAt: 0, chosenAt: 0 };
const EXECUTION_INPUT = { attempt: ATTEMPT, startByAt: 60_000, killGraceMs: 5000, timeoutMs: 10_000 };

const SUPERVISOR: readonly SupervisorEvent[] = [
  ...(["CONFIGURED", "LOCKED", "OPENED", "RECOVERED", "READY", "RELOAD", "READ", "RELOADED"] as const).map((type) => ({
    type,
  })),
  ...(["REJECTED", "DRAINED", "CLOSED", "STOP"] as const).map((type) => ({ type })),
  { type: "REJECTED", code: "worker-died" },
  { type: "REJECTED", code: "state-unreadable" },
  { type: "FAILED", code: "fork-failed" },
  { type: "DRAIN", waitsForRuns: true },
];

const TASK: readonly TaskEvent[] = [
  ...BOOLEANS.flatMap((isOrphaned) =>
    BOOLEANS.flatMap((isOccurrenceDue) =>
      BOOLEANS.map((isRetryReached) => ({ type: "POLL" as const, isOrphaned, isOccurrenceDue, isRetryReached })),
    ),
  ),
  { type: "SUCCEEDED" },
  { type: "FAILED" },
];

const SCHEDULER: readonly SchedulerLifecycleEvent[] = [
  { type: "INITIALIZE" },
  { type: "STOP" },
  { type: "DRAINED" },
  { type: "DESTROYED" },
  { type: "INITIALIZED", schedulerId: "s" },
  { type: "INITIALIZATION_FAILED", error: "no" },
];

const POLLING: readonly PollingEvent[] = [
  { type: "SCHEDULED", taskCount: 1 },
  { type: "SCHEDULED", taskCount: 0 },
  { type: "CANCELLED", taskCount: 1 },
  { type: "CANCELLED", taskCount: 0 },
  { type: "STOP_REQUESTED" },
  { type: "DRAINED" },
];

const SHARD: readonly ShardEvent[] = (["BEGIN", "BEGUN", "FAILED", "STOP", "QUIET", "RESTED"] as const).map((type) => ({
  type,
}));

const MEMBERSHIP: readonly MembershipEvent[] = (
  ["DRAIN", "UNDRAIN", "EMPTIED", "LEAVE", "HANDED", "CLOSE"] as const
).map((type) => ({ type }));

const JOB_INPUT = { document: newDocument(IDENTITY), historyLimit: 1, isSuspended: false };

/** Told to each chart: nothing that any of them knows. */
const FOREIGN = { type: "FOREIGN" };

const subject = (
  name: string,
  machine: AnyStateMachine,
  inputs: readonly unknown[],
  events: readonly EventObject[],
) => {
  return { name, machine, inputs, events: [...events, FOREIGN] };
};

export const SUBJECTS: readonly Subject[] = [
  subject("job", jobMachine, [JOB_INPUT, { ...JOB_INPUT, isSuspended: true }], JOB),
  subject("period", periodMachine, [{ occasion: cronOccasion(P1), heldUntilAt: null }], PERIOD),
  subject("execution", executionMachine, [EXECUTION_INPUT, { ...EXECUTION_INPUT, timeoutMs: null }], EXECUTION),
  subject("supervisor", supervisorMachine, [undefined], SUPERVISOR),
  subject("task", taskMachine, [undefined], TASK),
  subject("scheduler", schedulerMachine, [undefined], SCHEDULER),
  subject("polling", pollingMachine, [undefined], POLLING),
  subject("shard", shardMachine, [undefined], SHARD),
  subject("membership", membershipMachine, [undefined], MEMBERSHIP),
];
