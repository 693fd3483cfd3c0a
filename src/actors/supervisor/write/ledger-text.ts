/**
 * Facts as ledger records (S36). The kind and the instant are a record's key, so writing a fact again changes nothing and
 * the end of a run replaces the record of its start. The key has the instant as it is, what is written has whole seconds,
 * those of a run of a slot whole seconds after it (S1, S40).
 */
import { decide } from "../../../core/decision/decide.js";
import type { CompiledRule, DecisionRecord } from "../../../core/decision/model.js";
import { type RecordVersions, toDecisionRecord } from "../../../core/decision/record.js";
import type { Hint } from "../../../core/governor/hint.js";
import type { LostTime } from "../../../core/period/cause.js";
import { notStarted } from "../../../core/period/reasons.js";
import { type ActiveState, activeStates, isSameRun, keyOf, type StateDocument } from "../../../core/state/document.js";
import { endingFields, holderField } from "../../../core/state/ending.js";
import type { LedgerFact, RetryFact } from "../../../core/state/facts.js";
import { type EpochMs, formatInstant, formatSecond, knownInstant } from "../../../core/time/instant.js";
import type { Claim, LedgerRecord } from "../../../persist/store.js";

/** Of the cron periods `run`, of other sources `run:manual` and so on (S40). */
export function runKind(source: string | null): string {
  return source === null ? "run" : `run:${source}`;
}

function record(identity: string, at: EpochMs, kind: string, content: object): LedgerRecord {
  return { identity, at, kind, text: JSON.stringify(content) };
}

/** When the run that ended had been started: its entry in the history says so. */
function startedTextOf(document: StateDocument, periodId: string, source: string | null): string | null {
  const entry = document.History.findLast((past) => past.PeriodID === periodId && (past.Source ?? null) === source);
  return entry?.StartedAt ?? null;
}

/** `ended` is the run of a `run_ended` as it was on record until then: a document may keep no history. */
export function ledgerRecordOf(
  fact: LedgerFact,
  document: StateDocument,
  decision: DecisionRecord | null,
  ended: ActiveState | null = null,
): LedgerRecord {
  const { identity } = fact;
  const at = formatSecond(fact.at);
  switch (fact.kind) {
    case "outcome":
      return record(identity, fact.nominalAt, "period", {
        ...{ outcome: fact.outcome, reason: fact.reason, at, decision },
        ...lostDetail(fact),
      });
    case "before_definition": {
      const content = { outcome: null, reason: "before_definition", at };
      return record(identity, knownInstant(fact.periodId), "period", content);
    }
    case "run_started":
      return startRecord(fact, document);
    case "run_ended":
      return endRecord(fact, document, ended);
    case "retry_planned":
    case "retry_dropped":
      return retryRecord(fact);
    case "boot": {
      const { bootId, slotAt } = fact;
      const slot = slotAt === null ? null : formatInstant(slotAt);
      return record(identity, slotAt ?? knownInstant(at), "boot", { at, boot_id: bootId, slot });
    }
    case "slot_closed": {
      const { source, slotAt, outcome, reason } = fact;
      return record(identity, slotAt, `slot:${source}`, { at, source, outcome, reason });
    }
    case "start_failed":
      return startFailureRecord(fact);
    case "periods_not_evaluated": {
      const { firstAt, lastAt, count, isCountExact } = fact;
      const gap = { first: formatInstant(firstAt), last: formatInstant(lastAt), count, is_count_exact: isCountExact };
      return record(identity, firstAt, "gap", { at, ...gap, ...gapDetail(fact) });
    }
    case "defined":
      return record(identity, fact.at, "defined", { at, definition_hash: fact.definitionHash });
    case "removed":
      return record(identity, fact.at, "removed", { at });
    case "paused":
      return record(identity, fact.at, "paused", { at, ...pauseContent(fact) });
    case "resumed":
      return record(identity, fact.at, "resumed", { at });
    case "hint_set":
      return record(identity, fact.at, "hint", { at, ...hintContent(fact.hint) });
    case "hint_ended":
      return record(identity, fact.at, `hint_end:${fact.hintKind}`, { at, hint: fact.hintKind, how: fact.how });
    case "rewound":
      return record(identity, fact.at, "rewind", { at, from: fact.from, to: fact.to, by: fact.by });
  }
}

type Fact<K extends LedgerFact["kind"]> = Extract<LedgerFact, { readonly kind: K }>;

function retryRecord(fact: Fact<"retry_planned"> | Fact<"retry_dropped">): LedgerRecord {
  const { identity, kind, at } = fact;
  const { PeriodID: period_id, Attempt: attempt, At: due } = fact.retry;
  const of = kind === "retry_planned" ? { of: fact.of } : {};
  const content = { at: formatSecond(at), period_id, attempt, due, ...of, dropped: kind === "retry_dropped" };
  return record(identity, knownInstant(period_id), "retry", content);
}

function startFailureRecord({ identity, source, slotAt, code, at }: Fact<"start_failed">): LedgerRecord {
  const content = { at: formatSecond(at), source, reason: notStarted(code) };
  return record(identity, slotAt, `start_failed:${source}`, content);
}

function startRecord({ identity, run, holder, retry, at }: Fact<"run_started">, document: StateDocument): LedgerRecord {
  const { attemptId: attempt_id, periodId: period_id, pid, source } = run;
  const active = activeStates(document).find((one) => isSameRun(keyOf(one), run));
  const begun = { pid, attempt_id, started_at: active?.StartedAt ?? formatSecond(at), ended_at: null };
  const where = { ...nodeField(active), ...clampFields(active) };
  const content = { period_id, source, ...retryFields(retry), ...begun, ...holderField(holder), ...where };
  return record(identity, knownInstant(period_id), runKind(source), content);
}

function endRecord(fact: Fact<"run_ended">, document: StateDocument, ended: ActiveState | null): LedgerRecord {
  const { identity, run, holder, ending, endedAt, retry } = fact;
  const { periodId: period_id, source, pid } = run;
  const started_at = ended?.StartedAt ?? startedTextOf(document, period_id, source);
  const begun = { pid, attempt_id: ended?.AttemptID ?? null, started_at, ended_at: formatInstant(endedAt) };
  const how = { ...holderField(holder), ...nodeField(ended), ...clampFields(ended), ...endingFields(ending) };
  const content = { period_id, source, ...retryFields(retry), ...begun, ...how };
  return record(identity, knownInstant(period_id), runKind(source), content);
}

/** Additive: where its output lies, among several nodes. */
function nodeField(active: ActiveState | null | undefined): { readonly node?: string } {
  return active?.Node === undefined ? {} : { node: active.Node };
}

/** Additive: which bound of the pace has moved it, and what it was before. */
function clampFields(active: ActiveState | null | undefined): {
  readonly clamped?: string;
  readonly clamped_from?: string;
} {
  const { ClampedBy: clamped, ClampedFrom: clamped_from } = active ?? {};
  return clamped === undefined || clamped_from === undefined ? {} : { clamped, clamped_from };
}

/** Additive: of what was missed or passed over, from when to when nobody could look. */
export function lostDetail({ lost }: { readonly lost?: LostTime }): object {
  return lost === undefined ? {} : { from: formatSecond(lost.fromAt), to: formatSecond(lost.untilAt) };
}

/** Additive: what the periods were passed over for, since when, and which hint it was. */
export function gapDetail(fact: Extract<LedgerFact, { kind: "periods_not_evaluated" }>): object {
  const { reason, hint } = fact;
  return {
    ...(reason === undefined ? {} : { reason }),
    ...lostDetail(fact),
    ...(hint === undefined ? {} : { hint: hintContent(hint) }),
  };
}

export function pauseContent(fact: Extract<LedgerFact, { kind: "paused" }>): object {
  const { untilAt, reason, catchesUp, by, stoppedFor } = fact;
  const about = { until: formatInstant(untilAt), reason, ...(catchesUp ? { catch_up: true } : {}), ...byField(by) };
  return { ...about, ...(stoppedFor === undefined ? {} : { stopped_for: stoppedFor }) };
}

/** S43: of a further attempt only. */
export function retryFields(retry: RetryFact | undefined): { readonly retry_of?: string; readonly attempt?: number } {
  return retry === undefined ? {} : { retry_of: retry.periodId, attempt: retry.attempt };
}

function hintContent(hint: Hint): object {
  const about = { expires_at: formatInstant(hint.expiresAt), reason: hint.reason, ...byField(hint.by) };
  return hint.kind === "interval"
    ? { hint: hint.kind, interval_ms: hint.intervalMs, ...about }
    : { hint: hint.kind, next_run_at: formatInstant(hint.nextRunAt), ...about };
}

function byField(by: string | undefined): { readonly by?: string } {
  return by === undefined ? {} : { by };
}

/** A run is begun by whoever has written its record: nobody may have done so before. */
export function claimOf(fact: LedgerFact, { identity, at, kind }: LedgerRecord): Claim | null {
  return fact.kind === "run_started" ? { key: { identity, at, kind }, token: fact.run.attemptId ?? "" } : null;
}

/** What a fact about the outcome of a period is recorded with. */
export function recordFor(compiled: CompiledRule, fact: LedgerFact, versions: RecordVersions): DecisionRecord | null {
  if (fact.kind !== "outcome") return null;
  return toDecisionRecord(compiled, decide(compiled, fact.nominalAt), versions);
}
