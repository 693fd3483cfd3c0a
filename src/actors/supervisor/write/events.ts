/**
 * What the supervisor tells the log: one event for each fact that became durable, and for each trouble. Facts of a step
 * are told after their commit, so a line in the log is never about something that a crash could still undo.
 */

import type { KronError } from "../../../core/base/errors/kron-error.js";
import type { LogLevel } from "../../../core/base/errors/registry.js";
import type { DecisionRecord } from "../../../core/decision/model.js";
import { notStarted, skippedEvent } from "../../../core/period/reasons.js";
import { endingFields, holderField, isSuccess, withoutExcerpt } from "../../../core/state/ending.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
import { gapDetail, lostDetail, pauseContent, retryFields } from "./ledger-text.js";
import { runFailure } from "./run-failure.js";

export const SUPERVISOR_EVENTS = [
  "decision",
  "reschedule",
  "trigger",
  "started",
  "completed",
  "skipped_concurrency",
  "skipped",
  "missed_deadline",
  "unschedulable",
  "replaced",
  "clock_jump",
  "config_reloaded",
  "state_recovered",
  "failover_fenced",
  "state_ahead_of_clock",
  "periods_not_evaluated",
  "before_definition",
  "paused",
  "resumed",
  "hint_set",
  "hint_ended",
  "retry_planned",
  "retry_dropped",
  "boot",
  "not_started",
  "removed",
  "adopted",
  "node_lost",
  "claim_refused",
  "error",
  "fatal",
] as const;
type SupervisorEventName = (typeof SUPERVISOR_EVENTS)[number];

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

/** An event but for what it is about. */
type Told = Omit<SupervisorEvent, "at" | "identity">;

type Fact<K extends LedgerFact["kind"]> = Extract<LedgerFact, { readonly kind: K }>;

type Tellers = { readonly [K in LedgerFact["kind"]]: (fact: Fact<K>, decision: DecisionRecord | null) => Told };

const TELLERS: Tellers = {
  outcome: outcomeTold,
  run_started: ({ run, holder, retry }) => {
    const { pid, source, attemptId: attempt_id, periodId } = run;
    const fields = { pid, attempt_id, source, ...retryFields(retry), ...holderField(holder) };
    return { periodId, event: "started", component: "executor", level: "info", fields };
  },
  run_ended: runEndedTold,
  retry_planned: ({ retry: { PeriodID: periodId, Attempt: attempt, At: due }, of }) => {
    return { periodId, event: "retry_planned", component: "scheduler", level: "info", fields: { attempt, of, due } };
  },
  retry_dropped: ({ retry: { PeriodID: periodId, Attempt: attempt } }) => {
    return { periodId, event: "retry_dropped", component: "scheduler", level: "info", fields: { attempt } };
  },
  periods_not_evaluated: (fact) => {
    const { count, isCountExact: is_count_exact, firstAt, lastAt } = fact;
    const range = { first: formatInstant(firstAt), last: formatInstant(lastAt) };
    const fields = { ...gapDetail(fact), count, is_count_exact, ...range };
    return { event: "periods_not_evaluated", component: "scheduler", level: "info", fields };
  },
  boot: ({ bootId: boot_id, slotAt }) => {
    const about = slotAt === null ? {} : { periodId: formatInstant(slotAt) };
    return {
      ...about,
      event: "boot",
      component: "scheduler",
      level: "info",
      fields: { boot_id, is_due: slotAt !== null },
    };
  },
  slot_closed: ({ outcome, reason, source, slotAt }) => {
    const event = outcome === "missed" ? "missed_deadline" : skippedEvent(reason);
    const about = { periodId: formatInstant(slotAt), fields: { outcome, reason, source } };
    return { ...about, event, component: "policy", level: "info" };
  },
  start_failed: ({ source, slotAt, code }) => {
    const about = { periodId: formatInstant(slotAt), fields: { source, reason: notStarted(code) } };
    return { ...about, event: "not_started", component: "executor", level: "warn" };
  },
  // Every job of a first start has one; `why` answers from the ledger.
  before_definition: ({ periodId }) => {
    return { periodId, event: "before_definition", component: "scheduler", level: "debug" };
  },
  defined: () => ({ event: "reschedule", component: "scheduler", level: "debug" }),
  removed: () => ({ event: "removed", component: "config", level: "info" }),
  paused: (fact) => {
    return { event: "paused", component: "scheduler", level: "info", fields: { ...pauseContent(fact) } };
  },
  resumed: () => ({ event: "resumed", component: "scheduler", level: "info" }),
  hint_set: ({ hint }) => {
    const { kind, expiresAt, reason, by } = hint;
    const wanted =
      hint.kind === "interval" ? { interval_ms: hint.intervalMs } : { next_run_at: formatInstant(hint.nextRunAt) };
    const about = { expires_at: formatInstant(expiresAt), reason, ...(by === undefined ? {} : { by }) };
    const fields = { kind, ...wanted, ...about };
    return { event: "hint_set", component: "scheduler", level: "info", fields };
  },
  hint_ended: ({ hintKind: kind, how }) => {
    return { event: "hint_ended", component: "scheduler", level: "info", fields: { kind, how } };
  },
  rewound: ({ from, to, by }) => {
    return { event: "state_recovered", component: "persist", level: "warn", fields: { from, to, by } };
  },
};

/** A fact as a line of the log. */
export function eventOfFact(fact: LedgerFact, decision: DecisionRecord | null): SupervisorEvent {
  const { at, identity } = fact;
  const tell = TELLERS[fact.kind] as (fact: LedgerFact, decision: DecisionRecord | null) => Told;
  return { at, identity, ...tell(fact, decision) };
}

function outcomeTold(fact: Fact<"outcome">, decision: DecisionRecord | null): Told {
  const { periodId, outcome, reason } = fact;
  const base = { periodId, fields: { outcome, reason, ...lostDetail(fact), decision } };
  switch (outcome) {
    case "executed":
      return { ...base, event: "trigger", component: "policy", level: "info" };
    case "missed":
      return { ...base, event: "missed_deadline", component: "policy", level: "info" };
    case "skipped":
      return { ...base, event: skippedEvent(reason), component: "policy", level: "info" };
    case "unschedulable":
      return { ...base, event: "unschedulable", component: "scheduler", level: "warn" };
  }
}

/** One line says both: that the run is over, and what went wrong with it. */
function runEndedTold(fact: Fact<"run_ended">): Told {
  const { run, holder, ending, retry } = fact;
  const { pid, source, periodId } = run;
  const how = { ...endingFields(withoutExcerpt(ending)), ...holderField(holder) };
  const about = { periodId, event: "completed", component: "executor" } as const;
  const fields = { pid, source, ...retryFields(retry), ...how };
  const error = runFailure(fact);
  if (error !== null) return { ...about, level: "error", error, fields };
  return { ...about, level: isSuccess(ending) ? "info" : "warn", fields };
}
