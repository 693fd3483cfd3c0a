/** What an operator is told about one job. */
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { HintsInForce } from "../../../core/governor/governor.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { isInStatuses } from "../../../core/job/status-reader.js";
import { isGoverned } from "../../../core/period/governed.js";
import { cronOccasion, type Occasion } from "../../../core/period/occasion.js";
import { isPaused } from "../../../core/period/policy.js";
import { aheadOf } from "../../../core/restart/outlook.js";
import {
  activeStates,
  type HistoryEntry,
  hintsOf,
  type StateDocument,
  standingOf,
} from "../../../core/state/document.js";
import { holderField, resultOf } from "../../../core/state/ending.js";
import { endingOf, isRun } from "../../../core/state/past-runs.js";
import { type EpochMs, formatSecond } from "../../../core/time/instant.js";
import type { EndedRunStatus, JobStatus } from "../port.js";

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

type Past = Pick<JobStatus, "lastRun" | "lastPeriodRun" | "failures">;

/** What the history tells of runs that have ended. */
function pastOf(definition: JobDefinition, document: StateDocument): Past {
  const runs = document.History.filter(isRun).map((run) => endedRun(definition, run));
  const lastPeriodRun = runs.findLast(({ periodId, source }) => {
    return source === null && periodId === document.LastHandledPeriodID;
  });
  const lastGood = runs.findLastIndex(({ result }) => result === "success");
  return {
    lastRun: runs.at(-1) ?? null,
    lastPeriodRun: lastPeriodRun ?? null,
    failures: runs.length - 1 - lastGood,
  };
}

function endedRun(definition: JobDefinition, run: HistoryEntry): EndedRunStatus {
  const { target } = definition;
  const ending = endingOf(run, (status) => target.kind === "http" && isInStatuses(status, target.success));
  const { PeriodID: periodId, Source: source = null, StartedAt: startedAt = null, CompletedAt: endedAt } = run;
  return { periodId, source, startedAt, endedAt, result: resultOf(ending), ending };
}

function hintsInForce(document: StateDocument, now: EpochMs): HintsInForce {
  const { interval = null, oneshot = null } = hintsOf(document) ?? {};
  return {
    interval: interval !== null && interval.expiresAt > now ? interval : null,
    oneshot: oneshot !== null && oneshot.expiresAt > now ? oneshot : null,
  };
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
    ...pastOf(entry.definition, document),
    lastRunAt: document.LastRunAt ?? null,
    hints: hintsInForce(document, now),
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
