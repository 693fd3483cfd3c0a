/** What the user is told when a run starts, in the order in which the task chart names it. */
import type { EpochMs } from "../core/time/instant.js";
import type { Claim } from "./claims.js";
import { SCHEDULER_LIMITS } from "./limits.js";
import type { Reporter } from "./reporter.js";

/** R1, R2: the target grows with the number of tasks. */
function lateAfterMs(taskCount: number): number {
  return Math.max(SCHEDULER_LIMITS.lateStartMs, taskCount * SCHEDULER_LIMITS.lateStartMsPerTask);
}

export function announceStart(reporter: Reporter, claim: Claim, startedAt: EpochMs, taskCount: number): void {
  const { before, cause, dueAt, effects, startableSince } = claim;
  const { name } = claim.task;
  for (const effect of effects) {
    if (effect === "TaskRunStarted") reporter.emit({ type: effect, name, cause, dueAt }, startedAt);
    else if (effect === "TaskRetryStarted") reporter.emit({ type: effect, name, dueAt }, startedAt);
    else if (effect === "TaskRetryPreempted") {
      reporter.emit({ type: effect, name, pendingRetryUntil: before.pendingRetryUntil ?? startedAt }, startedAt);
    }
  }
  const lateByMs = startedAt - startableSince;
  if (lateByMs > lateAfterMs(taskCount)) {
    reporter.emit({ type: "EvaluationLate", name, dueAt: startableSince, lateByMs }, startedAt);
  }
}
