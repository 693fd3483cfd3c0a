/** What an operator is told about one job. */
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { isGoverned } from "../../../core/period/governed.js";
import { cronOccasion, type Occasion } from "../../../core/period/occasion.js";
import { isPaused } from "../../../core/period/policy.js";
import { aheadOf } from "../../../core/restart/outlook.js";
import { activeStates, type StateDocument, standingOf } from "../../../core/state/document.js";
import { holderField } from "../../../core/state/ending.js";
import { type EpochMs, formatSecond } from "../../../core/time/instant.js";
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

/** The period that is live; of a job that other things govern, what it has next as things stand. */
function nextOf(
  { definition, liveAt, isRemoved }: StatusSubject,
  document: StateDocument,
  now: EpochMs,
): Occasion | null {
  if (isRemoved && liveAt === null) return null;
  const compiled = compileRule(definition);
  const standing = standingOf(document);
  const { suspend: isSuspended, deadlineMs } = definition.policy;
  const live = liveAt === null ? null : cronOccasion(decide(compiled, liveAt));
  // S17: what passes while it is held is not what it has next.
  const isHeld = isPaused(standing, now) || (isSuspended && live !== null && live.dueAt < now);
  if (live !== null && !isHeld) return live;
  return isHeld || isGoverned(compiled, standing)
    ? aheadOf({ compiled, isSuspended, deadlineMs }, standing, now)
    : null;
}

export function statusOf(entry: StatusSubject, document: StateDocument, now: EpochMs): JobStatus {
  const standing = standingName(entry, document, now);
  const next = nextOf(entry, document, now);
  return {
    identity: entry.identity,
    schedule: entry.definition.schedule,
    timezone: entry.definition.timezone,
    standing,
    pausedUntil: standing === "paused" ? (document.Pause?.Until ?? null) : null,
    pauseReason: standing === "paused" ? (document.Pause?.Reason ?? null) : null,
    nextPeriodId: next?.periodId ?? null,
    nextChosenTime: next === null || next.chosenAt === null ? null : formatSecond(next.dueAt),
    nextSource: next?.source ?? null,
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
