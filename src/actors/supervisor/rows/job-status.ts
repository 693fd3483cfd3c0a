/** What an operator is told about one job. */
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { isPaused } from "../../../core/period/policy.js";
import { activeStates, type StateDocument, standingOf } from "../../../core/state/document.js";
import { holderField } from "../../../core/state/ending.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
import type { JobStatus } from "../port.js";

/** What of a job tells its status, besides its document. */
export interface StatusSubject {
  readonly identity: string;
  readonly definition: JobDefinition;
  readonly isRemoved: boolean;
  /** Nominal time of the live period. */
  readonly liveAt: EpochMs | null;
}

function standingName(entry: StatusSubject, document: StateDocument, now: EpochMs): JobStatus["standing"] {
  if (entry.isRemoved) return "removed";
  if (entry.definition.policy.suspend) return "suspended";
  return isPaused(standingOf(document), now) ? "paused" : "enabled";
}

export function statusOf(entry: StatusSubject, document: StateDocument, now: EpochMs): JobStatus {
  const decision = entry.liveAt === null ? null : decide(compileRule(entry.definition), entry.liveAt);
  const standing = standingName(entry, document, now);
  return {
    identity: entry.identity,
    schedule: entry.definition.schedule,
    timezone: entry.definition.timezone,
    standing,
    pausedUntil: standing === "paused" ? (document.Pause?.Until ?? null) : null,
    pauseReason: standing === "paused" ? (document.Pause?.Reason ?? null) : null,
    nextPeriodId: decision?.periodId ?? null,
    nextChosenTime: decision?.chosenAt == null ? null : formatInstant(decision.chosenAt),
    lastPeriodId: document.LastHandledPeriodID || null,
    lastOutcome: document.LastOutcome || null,
    lastReason: document.LastReason ?? null,
    active: activeStates(document).map((active) => ({
      attemptId: active.AttemptID ?? "",
      periodId: active.PeriodID,
      source: active.Source ?? null,
      pid: active.PID,
      ...holderField(active.Holder ?? "process"),
      startedAt: active.StartedAt,
    })),
  };
}
