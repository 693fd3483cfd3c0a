/**
 * What the supervisor tells the log: one event for each fact that became durable, and for each trouble. Facts of a step
 * are told after their commit, so a line in the log is never about something that a crash could still undo.
 */

import type { KronError } from "../../../core/base/errors/kron-error.js";
import type { LogLevel } from "../../../core/base/errors/registry.js";
import type { DecisionRecord } from "../../../core/decision/model.js";
import { endingFields, holderField, isSuccess, withoutExcerpt } from "../../../core/state/ending.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
import { retryFields } from "./ledger-text.js";

export type SupervisorEventName =
  | "decision"
  | "reschedule"
  | "trigger"
  | "started"
  | "completed"
  | "skipped_concurrency"
  | "missed_deadline"
  | "unschedulable"
  | "replaced"
  | "clock_jump"
  | "config_reloaded"
  | "state_recovered"
  | "state_ahead_of_clock"
  | "periods_not_evaluated"
  | "before_definition"
  | "paused"
  | "resumed"
  | "hint_set"
  | "hint_ended"
  | "retry_planned"
  | "retry_dropped"
  | "boot"
  | "removed"
  | "adopted"
  | "claim_refused"
  | "error"
  | "fatal";

export type SupervisorComponent = "scheduler" | "executor" | "policy" | "persist" | "config";

export interface SupervisorEvent {
  readonly at: EpochMs;
  readonly event: SupervisorEventName;
  readonly component: SupervisorComponent;
  readonly level: LogLevel;
  readonly identity?: string;
  readonly periodId?: string;
  readonly error?: KronError;
  readonly fields?: Readonly<Record<string, unknown>>;
}

function outcomeEvent(
  fact: Extract<LedgerFact, { kind: "outcome" }>,
  decision: DecisionRecord | null,
): SupervisorEvent {
  const { at, identity, periodId, outcome, reason } = fact;
  const base = { at, identity, periodId, fields: { outcome, reason, decision } };
  switch (outcome) {
    case "executed":
      return { ...base, event: "trigger", component: "policy", level: "info" };
    case "missed":
      return { ...base, event: "missed_deadline", component: "policy", level: "info" };
    case "skipped":
      return { ...base, event: "skipped_concurrency", component: "policy", level: "info" };
    case "unschedulable":
      return { ...base, event: "unschedulable", component: "scheduler", level: "warn" };
  }
}

function closedEvent({ at, identity, ...fact }: Extract<LedgerFact, { kind: "slot_closed" }>): SupervisorEvent {
  const { outcome, reason, source, slotAt } = fact;
  const event = outcome === "missed" ? "missed_deadline" : "skipped_concurrency";
  const fields = { outcome, reason, source };
  return { at, identity, periodId: formatInstant(slotAt), event, component: "policy", level: "info", fields };
}

/** A fact as a line of the log. */
export function eventOfFact(fact: LedgerFact, decision: DecisionRecord | null): SupervisorEvent {
  const { at, identity } = fact;
  switch (fact.kind) {
    case "outcome":
      return outcomeEvent(fact, decision);
    case "run_started": {
      const { run, holder } = fact;
      const about = { source: run.source, ...retryFields(fact.retry), ...holderField(holder) };
      const fields = { pid: run.pid, attempt_id: run.attemptId, ...about };
      return { at, identity, periodId: run.periodId, event: "started", component: "executor", level: "info", fields };
    }
    case "run_ended": {
      const { run, holder, ending } = fact;
      const fields = {
        pid: run.pid,
        source: run.source,
        ...retryFields(fact.retry),
        ...endingFields(withoutExcerpt(ending)),
        ...holderField(holder),
      };
      const level = isSuccess(ending) ? "info" : "warn";
      return { at, identity, periodId: run.periodId, event: "completed", component: "executor", level, fields };
    }
    case "retry_planned": {
      const { PeriodID: periodId, Attempt: attempt, At: due } = fact.retry;
      const fields = { attempt, of: fact.of, due };
      return { at, identity, periodId, event: "retry_planned", component: "scheduler", level: "info", fields };
    }
    case "retry_dropped": {
      const { PeriodID: periodId, Attempt: attempt } = fact.retry;
      const fields = { attempt };
      return { at, identity, periodId, event: "retry_dropped", component: "scheduler", level: "info", fields };
    }
    case "boot": {
      const { bootId, slotAt } = fact;
      const about = slotAt === null ? {} : { periodId: formatInstant(slotAt) };
      const fields = { boot_id: bootId, is_due: slotAt !== null };
      return { at, identity, ...about, event: "boot", component: "scheduler", level: "info", fields };
    }
    case "slot_closed":
      return closedEvent(fact);
    case "periods_not_evaluated": {
      const { count, isCountExact, firstAt, lastAt, reason } = fact;
      const fields = {
        ...(reason === undefined ? {} : { reason }),
        count,
        is_count_exact: isCountExact,
        first: formatInstant(firstAt),
        last: formatInstant(lastAt),
      };
      return { at, identity, event: "periods_not_evaluated", component: "scheduler", level: "info", fields };
    }
    case "before_definition":
      return {
        at,
        identity,
        periodId: fact.periodId,
        event: "before_definition",
        component: "scheduler",
        // Every job of a first start has one; `why` answers from the ledger.
        level: "debug",
      };
    case "defined":
      return { at, identity, event: "reschedule", component: "scheduler", level: "debug" };
    case "removed":
      return { at, identity, event: "removed", component: "config", level: "info" };
    case "paused": {
      const fields = { until: formatInstant(fact.untilAt), reason: fact.reason };
      return { at, identity, event: "paused", component: "scheduler", level: "info", fields };
    }
    case "resumed":
      return { at, identity, event: "resumed", component: "scheduler", level: "info" };
    case "hint_set": {
      const { kind, expiresAt, reason } = fact.hint;
      const wanted =
        fact.hint.kind === "interval"
          ? { interval_ms: fact.hint.intervalMs }
          : { next_run_at: formatInstant(fact.hint.nextRunAt) };
      const fields = { kind, ...wanted, expires_at: formatInstant(expiresAt), reason };
      return { at, identity, event: "hint_set", component: "scheduler", level: "info", fields };
    }
    case "hint_ended": {
      const fields = { kind: fact.hintKind, how: fact.how };
      return { at, identity, event: "hint_ended", component: "scheduler", level: "info", fields };
    }
    case "rewound":
      return {
        at,
        identity,
        event: "state_recovered",
        component: "persist",
        level: "warn",
        fields: { from: fact.from, to: fact.to, by: fact.by },
      };
  }
}
