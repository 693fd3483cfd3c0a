/**
 * News in the words of those who are told: Events with the reasons that users of CronJobs know, and lines of the log with
 * the fields that the error model asks for. One function for each, so that neither tells what the other does not.
 */
import { type ErrorCode, errorKind, type LogLevel } from "../core/base/errors/registry.js";
import { assertNever } from "../core/base/result.js";
import { skippedEvent } from "../core/period/reasons.js";
import { formatDuration } from "../core/time/duration.js";
import { formatInstant } from "../core/time/instant.js";
import type { News } from "./plan/news.js";
import { gapCauseText } from "./why.js";

export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** null: worth a line of the log, but no Event. */
export function eventOf(news: News): EventText | null {
  switch (news.kind) {
    case "outcome":
      return outcomeEvent(news);
    case "slot_claimed":
      return null;
    case "started":
      return normal("SuccessfulCreate", `Created job ${news.job} for period ${news.periodId}`);
    case "ended":
      return endEvent(news);
    case "not_evaluated":
      return normal("PeriodsNotEvaluated", gapText(news));
    case "invalid":
      return warning(invalidReason(news.code), news.message);
    case "template_refused":
      return warning("JobTemplateInvalid", news.message);
    case "gate_bypassed":
      return warning("GateBypassed", "a Job that was created suspended came back released: nothing is scheduled");
    case "not_created":
      return warning(news.code === "job-name-taken" ? "NameTaken" : "FailedCreate", `job ${news.job}: ${news.message}`);
    case "denied":
      return warning(news.write === "release" ? "FailedCreate" : "FailedDelete", `job ${news.job}: ${news.message}`);
    case "replaced":
      return normal("Replaced", `job ${news.job} makes way for period ${news.byPeriodId}`);
    case "replace_failed":
      return warning("ReplaceFailed", `job ${news.job} does not end: period ${news.periodId} cannot start`);
    case "deleted":
      return deletionEvent(news.job, news.reason);
    case "run_refused":
      return warning("RunRefused", `kron.io/run: ${JSON.stringify(news.value)}: ${news.why}`);
    case "suspended":
      return normal("Suspended", "suspended: nothing is started, and nothing is handled");
    case "resumed":
      return normal("Resumed", "resumed: only the current period is evaluated");
    case "paused":
      return normal("Paused", `paused until ${formatInstant(news.untilAt)}${because(news.reason)}`);
    case "pause_over":
      return normal("Resumed", "the pause is over: what passed in it is not evaluated");
    case "unexpected_job":
      return warning("UnexpectedJob", `job ${news.job} was released before it was claimed for period ${news.periodId}`);
    case "undecided":
      return warning("SchedulingError", news.message);
    case "state_ahead":
      return warning("ClockJump", aheadText(news));
    default:
      return assertNever(news, "news");
  }
}

function outcomeEvent(news: Extract<News, { readonly kind: "outcome" }>): EventText | null {
  const { periodId, reason, chosenAt, deadlineMs } = news;
  switch (news.outcome) {
    case "executed":
      return null;
    case "skipped":
      return normal("JobAlreadyActive", `Not starting a job for period ${periodId}: ${reason}`);
    case "unschedulable":
      return warning("Unschedulable", `period ${periodId}: ${reason}`);
    case "missed": {
      const chosen = chosenAt === null ? "" : `, chosen ${formatInstant(chosenAt)}`;
      return warning(
        "MissSchedule",
        `Missed period ${periodId}${chosen}, deadline ${formatDuration(deadlineMs)}: ${reason}`,
      );
    }
    default:
      return assertNever(news.outcome, "outcome");
  }
}

function endEvent({ job, result, reason }: Extract<News, { readonly kind: "ended" }>): EventText {
  switch (result) {
    case "Succeeded":
      return normal("SawCompletedJob", `Saw completed job: ${job}, condition: Complete`);
    case "Failed":
      return normal("SawCompletedJob", `Saw completed job: ${job}, condition: Failed (${reason ?? "no reason"})`);
    case "Unknown":
      return reason === "replaced"
        ? normal("Replaced", `job ${job} was replaced`)
        : normal("MissingJob", `Active job went missing: ${job}`);
    case "NotStarted":
      return warning("StartUnconfirmed", `job ${job} was claimed and did not start: ${reason ?? "unknown"}`);
    default:
      return assertNever(result, "result");
  }
}

function deletionEvent(job: string, reason: string): EventText | null {
  if (reason === "history") return normal("SuccessfulDelete", `Deleted job ${job}`);
  return reason === "replaced" ? normal("SuccessfulDelete", `Deleting job ${job}, which is to be replaced`) : null;
}

function invalidReason(code: ErrorCode): string {
  if (code === "timezone-unknown") return "UnknownTimeZone";
  if (code === "cron-syntax") return "UnparseableSchedule";
  return code === "cron-range" || code === "cron-impossible" ? "InvalidSchedule" : "InvalidSpec";
}

function gapText(gap: Extract<News, { readonly kind: "not_evaluated" }>): string {
  const { count, isCountExact, firstId, lastId, reason } = gap;
  const why = reason === null ? "" : `: ${gapCauseText(reason)}`;
  return `${isCountExact ? "" : "at least "}${count} periods from ${firstId} to ${lastId} were not evaluated${why}`;
}

function aheadText({ periodId, definedAt }: Extract<News, { readonly kind: "state_ahead" }>): string {
  return definedAt === null
    ? `the clock is behind the period that was handled last, ${periodId}`
    : `the clock is behind what the status is dated, ${definedAt}: it counts as now`;
}

function because(reason: string): string {
  return reason === "" ? "" : `: ${reason}`;
}

function normal(reason: string, message: string): EventText {
  return { type: "Normal", reason, message };
}

function warning(reason: string, message: string): EventText {
  return { type: "Warning", reason, message };
}

/** As krond calls them. */
function lineOfOutcome({ outcome, reason }: Extract<News, { readonly kind: "outcome" }>): string {
  switch (outcome) {
    case "executed":
      return "trigger";
    case "skipped":
      return skippedEvent(reason);
    case "missed":
      return "missed_deadline";
    default:
      return outcome;
  }
}

interface LineText {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function lineOf(news: News): LineText {
  const { kind, ...fields } = news;
  switch (kind) {
    case "outcome": {
      const { periodId: period_id, outcome, reason, chosenAt, seedHash: seed_hash, job } = news;
      const chosen_time = chosenAt === null ? null : formatInstant(chosenAt);
      const level = outcome === "unschedulable" ? "warn" : "info";
      return {
        level,
        event: lineOfOutcome(news),
        fields: { period_id, outcome, reason, chosen_time, seed_hash, job },
      };
    }
    case "started":
      return { level: "info", event: "started", fields: { period_id: news.periodId, job: news.job } };
    case "ended": {
      const { job, periodId: period_id, result, reason } = news;
      return {
        level: result === "NotStarted" ? "warn" : "info",
        event: "completed",
        fields: { period_id, job, result, reason },
      };
    }
    case "invalid":
    case "template_refused":
    case "not_created":
      return troubleLine(news.code, news.message, kind, "periodId" in news ? news.periodId : null);
    case "denied":
      return troubleLine(news.code, news.message, news.write, null);
    case "undecided":
      return troubleLine("decision-failed", news.message, "decide", news.periodId);
    case "gate_bypassed":
      return troubleLine("gate-bypassed", "a Job that was created suspended came back released", "create", null);
    case "replace_failed":
      return troubleLine("replace-not-terminated", `job ${news.job} does not end`, "replace", news.periodId);
    case "not_evaluated":
      return { level: "info", event: "periods_not_evaluated", fields };
    case "paused": {
      const { untilAt, reason } = news;
      return { level: "info", event: "paused", fields: { until: formatInstant(untilAt), reason } };
    }
    case "pause_over":
      return { level: "info", event: "pause_over", fields: {} };
    case "state_ahead":
      return { level: "warn", event: "state_ahead_of_clock", fields };
    case "run_refused":
    case "unexpected_job":
      return { level: "warn", event: kind, fields };
    default:
      return { level: "info", event: kind, fields };
  }
}

function troubleLine(code: ErrorCode, message: string, operation: string, periodId: string | null): LineText {
  const { category, level, fatal } = errorKind(code);
  const fields = { period_id: periodId, error_type: category, operation, message, error_code: code, fatal };
  return { level, event: "error", fields };
}
