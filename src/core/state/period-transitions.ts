/**
 * The transitions by which a period reaches its outcome (S22). Each writes `LastHandledPeriodID`; only a claim touches
 * what is running. Terminal outcomes are permanent: a handled period cannot be given a second one.
 */

import type { Decision } from "../decision/model.js";
import type { Clamp } from "../governor/governor.js";
import type { MissedCause } from "../period/cause.js";
import { dueAt, hintedAtOf, type SlotOccasion } from "../period/occasion.js";
import { isHandled } from "../period/periods.js";
import type { FenceReason, SkippedReason } from "../period/reasons.js";
import {
  type EpochMs,
  floorToSecond,
  formatInstant,
  formatSecond,
  instantOrNull,
  wholeSecondsFrom,
} from "../time/instant.js";
import type { Aftermath } from "./aftermath.js";
import { REBOOT_SOURCE, withoutDueBoot } from "./boot.js";
import {
  type ActiveState,
  activeStates,
  isSlotUsed,
  keyOf,
  lastHandledAt,
  type Outcome,
  type StateDocument,
} from "./document.js";
import type { Holder } from "./ending.js";
import { type LedgerFact, retryField } from "./facts.js";
import { consumeOneshot } from "./hint-transitions.js";
import { appendHistory } from "./history.js";
import { RETRY_SOURCE } from "./retry.js";
import { PERIOD_SOURCE, withoutStartFailure } from "./start-failure.js";
import { broken, sealed, type Transition, unchanged } from "./transition.js";

/** What a claim is about: the attempt, and who holds it (S23, S27). */
export interface Claimed {
  readonly attemptId: string;
  readonly holder: Holder;
  /** A bound of the job's pace has moved it. */
  readonly clamped?: Clamp;
}

export type Closing =
  | ({ readonly outcome: "missed" } & MissedCause)
  | { readonly outcome: "skipped"; readonly reason: SkippedReason }
  | { readonly outcome: "unschedulable"; readonly reason: string };

const NO_DETAIL: Pick<MissedCause, "lost"> = {};

/**
 * S22, S23: `executed` is terminal from the start. The outcome and the running process are one transition, so that no
 * instant exists at which one is durable without the other.
 */
export function claimPeriod(document: StateDocument, decision: Decision, claimed: Claimed, now: EpochMs): Transition {
  const { chosenAt } = decision;
  if (chosenAt === null) {
    throw broken(document, `${decision.periodId} is unschedulable and cannot be claimed`);
  }
  const begun = { source: null, startedAt: floorToSecond(now) };
  const active = activeOf(decision.periodId, chosenAt, begun, claimed);
  const next = withNewest(handled(document, decision, "executed", null), active);
  const outcome = outcomeFact(document, decision, { outcome: "executed", reason: null }, now);
  return sealed(document, next, outcome, startedFact(document, active, now));
}

/** What a claim of a slot is about. */
export interface SlotClaim extends Claimed {
  readonly source: string;
  readonly slotAt: EpochMs;
  /** Where the slot is named after an older one it is not its name that it is due by (S40). Absent: `slotAt`. */
  readonly chosenAt?: EpochMs;
  /** S42: of the one-shot hint that goes with it. */
  readonly aftermath: Aftermath | null;
}

/**
 * S40: a run outside the job's own periods. It counts as active and handles nothing.
 *
 * Lateness counts in whole seconds (S20): what is begun within a second of its slot counts as begun at it. So an interval keeps
 * its place within the second, however late a run of it was, and many of them stay as far apart as they were.
 */
export function claimSlot(document: StateDocument, claim: SlotClaim, now: EpochMs): Transition {
  const { source, slotAt, chosenAt = slotAt, aftermath } = claim;
  const slotId = formatInstant(slotAt);
  if (isSlotUsed(document, source, slotAt)) {
    throw broken(document, `${source} slot ${slotId} was claimed before`);
  }
  const isRetry = source === RETRY_SOURCE;
  const isBoot = source === REBOOT_SOURCE;
  const begun = { source, startedAt: wholeSecondsFrom(chosenAt, now) };
  const active = { ...activeOf(slotId, chosenAt, begun, claim), ...(isRetry ? attemptFields(document) : {}) };
  const { document: left, facts } =
    source === "hint-oneshot" ? consumeOneshot(document, hintedAtOf(claim), aftermath, now) : unchanged(document);
  const rest = isRetry ? withoutRetry(left) : isBoot ? withoutDueBoot(withoutRetry(left)) : left;
  const next = withNewest({ ...rest, LastSlot: { ...left.LastSlot, [source]: slotId } }, active);
  return sealed(document, next, ...facts, startedFact(document, active, now));
}

/**
 * S40: the ledger has a run of this slot that the document does not know, such as one that a clock ahead has claimed: it is
 * as if it had run when it was due, and what follows it is next. `ranAt`: where what follows counts from another instant.
 */
export function withSlotUsed(
  document: StateDocument,
  source: string,
  slotAt: EpochMs,
  ranAt: EpochMs = slotAt,
): StateDocument {
  if (isSlotUsed(document, source, slotAt)) return document;
  const lastRunAt = instantOrNull(document.LastRunAt) ?? ranAt;
  const LastSlot = { ...document.LastSlot, [source]: formatInstant(slotAt) };
  return { ...document, LastSlot, LastRunAt: formatInstant(Math.max(lastRunAt, ranAt)) };
}

/** S43: what has been handled since takes the place of what was to be tried again. */
function withoutRetry(document: StateDocument): StateDocument {
  if (document.Retry === undefined) return document;
  const { Retry: _, ...rest } = withoutStartFailure(document, [RETRY_SOURCE]);
  return rest;
}

function attemptFields(document: StateDocument): Pick<ActiveState, "RetryOf" | "Attempt"> {
  if (document.Retry === undefined) throw broken(document, "there is no attempt to follow");
  return { RetryOf: document.Retry.PeriodID, Attempt: document.Retry.Attempt };
}

/** S43: the job is not to be retried any more, or not so often. */
export function dropRetry(document: StateDocument, now: EpochMs): Transition {
  const retry = document.Retry;
  if (retry === undefined) return unchanged(document);
  const fact = { kind: "retry_dropped", identity: document.Identity, retry, at: now } as const;
  return sealed(document, withoutRetry(document), fact);
}

/** Skipped, missed or unschedulable: nothing was started, and what is running goes on (S22). */
export function closePeriod(
  document: StateDocument,
  decision: Decision,
  closing: Closing,
  now: EpochMs,
  historyLimit: number,
): Transition {
  const closed = handled(document, decision, closing.outcome, closing.reason);
  const entry = {
    PeriodID: decision.periodId,
    Outcome: closing.outcome,
    NominalTime: decision.periodId,
    ChosenTime: closed.LastChosenTime,
    CompletedAt: formatSecond(now),
    ExitCode: null,
    Reason: closing.reason,
  };
  const next = { ...closed, History: appendHistory(document, entry, historyLimit) };
  return sealed(document, next, outcomeFact(document, decision, closing, now));
}

/** The same of a slot that has a deadline of its own (S44): it was not started, and never will be. */
export function closeSlot(
  document: StateDocument,
  { source, slotAt, chosenAt }: Pick<SlotOccasion, "source" | "slotAt" | "chosenAt">,
  closing: Closing,
  now: EpochMs,
  historyLimit: number,
): Transition {
  const slotId = formatInstant(slotAt);
  if (isSlotUsed(document, source, slotAt)) {
    throw broken(document, `${source} slot ${slotId} was claimed before`);
  }
  const { outcome, reason } = closing;
  const entry = {
    PeriodID: slotId,
    Outcome: outcome,
    NominalTime: slotId,
    ChosenTime: formatInstant(chosenAt),
    CompletedAt: formatSecond(now),
    ExitCode: null,
    Reason: reason,
    Source: source,
  };
  const left = withoutStartFailure(document, [source]);
  const rest = source === REBOOT_SOURCE ? withoutDueBoot(left) : left;
  const LastSlot = { ...document.LastSlot, [source]: slotId };
  const next = { ...rest, LastSlot, History: appendHistory(document, entry, historyLimit) };
  const identity = document.Identity;
  return sealed(document, next, { kind: "slot_closed", identity, source, slotAt, outcome, reason, at: now });
}

/**
 * S32, C12: what was known is lost, so everything up to the current period counts as handled. Only a later period can run:
 * corruption never starts anything twice.
 */
export function fencePeriod(
  document: StateDocument,
  decision: Decision,
  now: EpochMs,
  historyLimit: number,
  reason: FenceReason = "state_recovered",
): Transition {
  return closePeriod(document, decision, { outcome: "skipped", reason }, now, historyLimit);
}

function handled(document: StateDocument, decision: Decision, outcome: Outcome, reason: string | null): StateDocument {
  if (isHandled(lastHandledAt(document), decision.nominalAt)) {
    throw broken(document, `${decision.periodId} is handled already (${document.LastHandledPeriodID})`);
  }
  const { LastReason: _, EvaluatesFrom, ...rest } = withoutStartFailure(withoutRetry(document), [PERIOD_SOURCE]);
  // Whatever follows is due later still (S11): it can have been passed over no more.
  const isEvaluated = EvaluatesFrom === undefined || EvaluatesFrom <= formatInstant(dueAt(decision));
  return {
    ...rest,
    ...(isEvaluated ? {} : { EvaluatesFrom }),
    LastHandledPeriodID: decision.periodId,
    LastOutcome: outcome,
    LastChosenTime: decision.chosenAt === null ? "" : formatInstant(decision.chosenAt),
    LastNominalTime: decision.periodId,
    ...(reason === null ? {} : { LastReason: reason }),
  };
}

/** S26: ActiveExecution holds the newest; the one it displaces goes to the head of OtherActive. */
function withNewest(document: StateDocument, newest: ActiveState): StateDocument {
  const older = activeStates(document);
  const next = { ...withoutStartFailure(document), ActiveExecution: newest, LastRunAt: newest.StartedAt };
  return older.length === 0 ? next : { ...next, OtherActive: older };
}

function activeOf(
  periodId: string,
  chosenAt: EpochMs,
  { source, startedAt }: { readonly source: string | null; readonly startedAt: EpochMs },
  { attemptId, holder, clamped }: Claimed,
): ActiveState {
  return {
    PeriodID: periodId,
    PID: holder.pid,
    StartedAt: formatInstant(startedAt),
    ChosenTime: formatInstant(chosenAt),
    ...birthOf(holder),
    AttemptID: attemptId,
    ...(source === null ? {} : { Source: source }),
    ...(holder.kind === "process" ? {} : { Holder: holder.kind }),
    ...(holder.node === undefined ? {} : { Node: holder.node }),
    ...(clamped === undefined ? {} : { ClampedBy: clamped.by, ClampedFrom: formatInstant(clamped.fromAt) }),
  };
}

function birthOf(holder: Holder): Pick<ActiveState, "PIDStartTicks" | "BootID"> {
  if (holder.kind !== "process") {
    return {};
  }
  return {
    ...(holder.startTicks === null ? {} : { PIDStartTicks: holder.startTicks }),
    ...(holder.bootId === null ? {} : { BootID: holder.bootId }),
  };
}

function outcomeFact(
  document: StateDocument,
  decision: Decision,
  closing: Closing | { readonly outcome: "executed"; readonly reason: null },
  at: EpochMs,
): LedgerFact {
  const { periodId, nominalAt, chosenAt } = decision;
  const { outcome, reason } = closing;
  const { lost } = closing.outcome === "missed" ? closing : NO_DETAIL;
  const fact = {
    kind: "outcome",
    identity: document.Identity,
    periodId,
    outcome,
    reason,
    nominalAt,
    chosenAt,
    at,
  } as const;
  return lost === undefined ? fact : { ...fact, lost };
}

function startedFact(document: StateDocument, active: ActiveState, at: EpochMs): LedgerFact {
  const holder = active.Holder ?? "process";
  return { kind: "run_started", identity: document.Identity, run: keyOf(active), holder, ...retryField(active), at };
}
