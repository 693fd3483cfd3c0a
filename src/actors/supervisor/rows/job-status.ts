/** What an operator is told about one job. */
import { calledField } from "../../../core/config/crontab/called.js";
import { isOnce } from "../../../core/cron/at.js";
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { HintsInForce } from "../../../core/governor/governor.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { cronOccasion, type Occasion } from "../../../core/period/occasion.js";
import { closingAt, isHandled, nextPeriod } from "../../../core/period/periods.js";
import { isPaused } from "../../../core/period/policy.js";
import { NOT_STARTED } from "../../../core/period/reasons.js";
import {
  expectedBy,
  type Glance,
  type GlanceRule,
  glanceOf,
  type IsExpected,
  nextShown,
  pastOf,
  shownAt,
} from "../../../core/restart/glance.js";
import {
  activeStates,
  type HistoryEntry,
  hintsOf,
  type StateDocument,
  standingOf,
} from "../../../core/state/document.js";
import { holderField, resultOf } from "../../../core/state/ending.js";
import { endingOf, isRun, timesOf } from "../../../core/state/past-runs.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
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

/** That it was missed, due before it was defined, or in a pause, says `kron why`. */
function onceOf(
  definition: JobDefinition,
  document: StateDocument,
  next: Occasion | null,
  now: EpochMs,
): JobStatus["once"] {
  if (!isOnce(definition.schedule)) return null;
  const compiled = compileRule(definition);
  const nominalAt = nextPeriod(compiled, Number.NEGATIVE_INFINITY);
  if (nominalAt === null) return "never";
  if (isHandled(standingOf(document).lastHandledAt, nominalAt)) {
    return document.LastOutcome === "executed" ? "done" : "never";
  }
  return next !== null || now <= closingAt(compiled, nominalAt) ? "ahead" : "never";
}

function startFailureOf({ StartFailure }: StateDocument): JobStatus["startFailure"] {
  if (StartFailure === undefined) return null;
  const { Source: source, Slot: slot, Code: code, Since: since } = StartFailure;
  return { source, slot, reason: `${NOT_STARTED}${code}`, since };
}

type Past = Pick<JobStatus, "lastRun" | "lastPeriodRun" | "failures" | "usual">;

/** What the history tells of runs that have ended. */
function runsOf(definition: JobDefinition, document: StateDocument): Past {
  const isExpected = expectedBy(definition);
  const runs = document.History.filter(isRun).map((run) => endedRun(run, isExpected));
  const lastPeriodRun = runs.findLast(({ periodId, source }) => {
    return source === null && periodId === document.LastHandledPeriodID;
  });
  return {
    lastRun: runs.at(-1) ?? null,
    lastPeriodRun: lastPeriodRun ?? null,
    failures: pastOf(document.History, isExpected).failures,
    usual: usualOf(runs),
  };
}

/** Of fewer nobody can say what is usual. */
const LEAST_RUNS = 3;

/** Only what succeeded went the whole way. */
function usualOf(runs: readonly EndedRunStatus[]): JobStatus["usual"] {
  const lengths = runs.flatMap(({ result, durationMs }) =>
    result === "success" && durationMs !== null ? [durationMs] : [],
  );
  const sorted = lengths.sort((one, other) => one - other);
  const [medianMs, longestMs] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)];
  if (sorted.length < LEAST_RUNS || medianMs === undefined || longestMs === undefined) return null;
  return { medianMs, longestMs, runs: sorted.length };
}

function endedRun(run: HistoryEntry, isExpected: IsExpected): EndedRunStatus {
  const ending = endingOf(run, isExpected);
  const { PeriodID: periodId, Source: source = null, StartedAt: startedAt = null, CompletedAt: endedAt } = run;
  return { periodId, source, startedAt, endedAt, ...timesOf(run), result: resultOf(ending), ending };
}

function hintsInForce(document: StateDocument, now: EpochMs): HintsInForce {
  const { interval = null, oneshot = null } = hintsOf(document) ?? {};
  return {
    interval: interval !== null && interval.expiresAt > now ? interval : null,
    oneshot: oneshot !== null && oneshot.expiresAt > now ? oneshot : null,
  };
}

function ruleOf({ definition, isRemoved, liveAt }: StatusSubject): GlanceRule {
  const compiled = compileRule(definition);
  const { suspend: isSuspended, deadlineMs, stop } = definition.policy;
  const live = liveAt === null ? null : cronOccasion(decide(compiled, liveAt));
  return { compiled, isSuspended, isRemoved, deadlineMs, stopAt: stop?.at ?? null, live };
}

/** The same for the index. */
export function glanceAt(entry: StatusSubject, document: StateDocument, now: EpochMs): Glance {
  return glanceOf(ruleOf(entry), document, expectedBy(entry.definition), now);
}

export function statusOf(entry: StatusSubject, document: StateDocument, now: EpochMs): JobStatus {
  const standing = standingName(entry, document, now);
  const { definition } = entry;
  const { occasion: next } = nextShown(ruleOf(entry), standingOf(document), now);
  const nextAt = shownAt(next);
  return {
    identity: entry.identity,
    ...calledField(entry.identity, definition.description),
    schedule: definition.schedule,
    timezone: definition.timezone,
    standing,
    pausedUntil: standing === "paused" ? (document.Pause?.Until ?? null) : null,
    pauseReason: standing === "paused" ? (document.Pause?.Reason ?? null) : null,
    pausedBy: standing === "paused" ? (document.Pause?.By ?? null) : null,
    nextPeriodId: next?.periodId ?? null,
    nextChosenTime: nextAt === null ? null : formatInstant(nextAt),
    nextSource: next?.source ?? null,
    once: onceOf(entry.definition, document, next, now),
    lastPeriodId: document.LastHandledPeriodID || null,
    lastOutcome: document.LastOutcome || null,
    lastReason: document.LastReason ?? null,
    startFailure: startFailureOf(document),
    ...runsOf(definition, document),
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
