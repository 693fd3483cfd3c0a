/** A job as `kron list -o json` prints it: the spelling that everything of ours has in JSON. */
import type { ActiveRunStatus, EndedRunStatus, JobStatus } from "../../actors/supervisor/port.js";
import type { HintsInForce } from "../../core/governor/governor.js";
import { endingFields, holderField } from "../../core/state/ending.js";
import { formatInstant } from "../../core/time/instant.js";

/** The identity comes first: completion reads it from there. */
export function publishedRow(status: JobStatus): object {
  return {
    identity: status.identity,
    ...(status.called === undefined ? {} : { called: status.called }),
    schedule: status.schedule,
    timezone: status.timezone,
    standing: status.standing,
    ...(status.unserved === undefined ? {} : { unserved: status.unserved }),
    paused_until: status.pausedUntil,
    pause_reason: status.pauseReason,
    paused_by: status.pausedBy,
    next_period_id: status.nextPeriodId,
    next_chosen_time: status.nextChosenTime,
    next_source: status.nextSource,
    once: status.once,
    last_period_id: status.lastPeriodId,
    last_outcome: status.lastOutcome,
    last_reason: status.lastReason,
    last_period_run: publishedRun(status.lastPeriodRun),
    start_failure: status.startFailure,
    last_run: publishedRun(status.lastRun),
    last_run_at: status.lastRunAt,
    failures: status.failures,
    usual: publishedUsual(status.usual),
    hints: publishedHints(status.hints),
    active: status.active.map(publishedActive),
  };
}

function publishedRun(run: EndedRunStatus | null): object | null {
  if (run === null) return null;
  const { periodId, source, startedAt, endedAt, durationMs = null, lateMs = null, result, ending } = run;
  const { exit_code, signal, status, reason } = endingFields(ending);
  const how = { result, exit_code, signal, ...(status === undefined ? {} : { status }), reason };
  const times = { started_at: startedAt, ended_at: endedAt, duration_ms: durationMs, late_ms: lateMs };
  return { period_id: periodId, source, ...times, ...how };
}

function publishedUsual(usual: JobStatus["usual"]): object | null {
  return usual && { median_ms: usual.medianMs, longest_ms: usual.longestMs, runs: usual.runs };
}

function publishedHints({ interval, oneshot }: HintsInForce): object {
  return {
    interval:
      interval === null ? null : { interval_ms: interval.intervalMs, expires_at: formatInstant(interval.expiresAt) },
    oneshot:
      oneshot === null
        ? null
        : { next_run_at: formatInstant(oneshot.nextRunAt), expires_at: formatInstant(oneshot.expiresAt) },
  };
}

function publishedActive({ attemptId, periodId, source, pid, holder, startedAt }: ActiveRunStatus): object {
  const about = { attempt_id: attemptId, period_id: periodId, source, pid };
  return { ...about, ...holderField(holder ?? "process"), started_at: startedAt };
}
