/**
 * What is to be done about one period at one instant (S17, S20, S21, S24-S26). The only place that judges: machines and
 * actors carry the verdict out and never look at a deadline or a concurrency rule themselves.
 */

import { assertNever } from "../base/result.js";
import type { Decision } from "../decision/model.js";
import { UNSCHEDULABLE_REASON } from "../decision/record.js";
import type { HintsInForce } from "../governor/governor.js";
import type { Policy } from "../job/definition.js";
import { type EpochMs, floorToSecond, HOUR_MS, instantOrNull, MINUTE_MS, SECOND_MS } from "../time/instant.js";
import type { MissedCause } from "./cause.js";
import { deadlineAt, deadlineMsOf, isPast, startLimitAt } from "./lateness.js";
import { dueAt, isPeriod, type Occasion, type OccasionSource } from "./occasion.js";
import { isHandled } from "./periods.js";
import type { SkippedReason } from "./reasons.js";

/** What is on record about the job: a view of its state document (`standingOf`). */
export interface JobStanding {
  readonly lastHandledAt: EpochMs | null;
  /** S14: as persisted, of a job with periods in whole seconds; null: not known, so nothing lies before it. */
  readonly definedAt: EpochMs | null;
  /** S14: the period that was live when the definition changed; it may still be triggered. */
  readonly carriedAt: EpochMs | null;
  /** S17: null: not paused. A pause ends by itself. */
  readonly pausedUntilAt: EpochMs | null;
  /** Since when it is paused. Absent or null: it is not, or nobody knows. */
  readonly pausedFromAt?: EpochMs | null;
  /** What is current when the pause ends may still run. Absent: no. */
  readonly catchesUp?: boolean;
  /** What was due before was passed over: in a pause, or for a hint in its place. Absent: nothing was. */
  readonly evaluatesFromAt?: EpochMs | null;
  /** S40: the newest slot claimed of each source. Absent: none. */
  readonly slots?: Readonly<Record<string, string>> | undefined;
  /** S41: when the newest run began. Absent or null: there was none. */
  readonly lastRunAt?: EpochMs | null;
  /** S41. Absent: none; one of them may have expired by now. */
  readonly hints?: HintsInForce | undefined;
  /** S43: the attempt that follows a failed one, and the period that it is of. Absent: none. */
  readonly retry?: { readonly nominalAt: EpochMs; readonly at: EpochMs } | undefined;
  /** S44: what is due of the present boot: its slot, and when the daemon first looked. Absent: nothing. */
  readonly boot?: { readonly slotAt: EpochMs; readonly at: EpochMs } | undefined;
}

/**
 * How a run is told from every other run of its job: by its attempt. Documents of other implementations may name none;
 * there the period and the process do. `source` is null for the job's own cron periods (S40).
 */
export interface RunKey {
  readonly attemptId: string | null;
  readonly source: string | null;
  readonly periodId: string;
  readonly pid: number;
}

export interface ActiveRun extends RunKey {
  /** The nominal time, or the slot's instant. */
  readonly slotAt: EpochMs;
}

export interface Circumstances {
  readonly startGraceMs: number;
  /** S11: when the older period was handled that this one had to wait for. */
  readonly heldUntilAt: EpochMs | null;
  /** S13: when the following period is due, if this one was tried already and is still open. */
  readonly successorDueAt: EpochMs | null;
}

export const USUAL: Circumstances = { startGraceMs: 60_000, heldUntilAt: null, successorDueAt: null };

type IdleReason =
  | "already_handled"
  | "suspended"
  | "paused"
  | "not_due"
  | "before_definition"
  | "not_evaluated"
  | "superseded"
  | "busy";

export type Verdict =
  | { readonly kind: "nothing"; readonly reason: IdleReason }
  | ({ readonly kind: "missed" } & MissedCause)
  | { readonly kind: "skipped"; readonly reason: SkippedReason }
  | { readonly kind: "unschedulable"; readonly reason: string }
  | { readonly kind: "start"; readonly startByAt: EpochMs }
  | { readonly kind: "replace"; readonly startByAt: EpochMs; readonly victims: readonly ActiveRun[] };

/** Which of the checks apply to an occasion, by where it comes from (S21). */
interface Checks {
  /** S12 for periods, S40 for slots. */
  readonly isTaken: (standing: JobStanding, occasion: Occasion, active: readonly ActiveRun[]) => boolean;
  /** S17: whether suspension and pauses hold it. */
  readonly isHeld: boolean;
  /** S14: whether it can lie before the definition. */
  readonly hasBirth: boolean;
  /**
   * S20: from when its deadline counts. `chosen`: it is past at some time; `start`: a slot stays due until it is claimed, or
   * planned anew; `none`: it is started now, and only the grace for starting bounds that.
   */
  readonly deadline: "chosen" | "start" | "none";
  /** What a run that still goes on does to it: a period is skipped for good, a slot waits, what was asked for starts beside it, unless that is not wanted. */
  readonly runs: "skip" | "wait" | "ignore";
}

const PERIOD: Checks = { isTaken: isPeriodTaken, isHeld: true, hasBirth: true, deadline: "chosen", runs: "skip" };
const SLOT: Checks = { isTaken: isOccasionTaken, isHeld: true, hasBirth: false, deadline: "start", runs: "wait" };
/** S44: judged as a period is; whether the boot counts is known from what the job was told of it. */
const BOOT: Checks = { isTaken: isOccasionTaken, isHeld: true, hasBirth: false, deadline: "chosen", runs: "skip" };
/** S40: the wish of an operator is not judged by the job's policy, but it runs once, and not long after. */
const ASKED: Checks = { isTaken: isOccasionTaken, isHeld: false, hasBirth: false, deadline: "none", runs: "ignore" };

const CHECKS: Readonly<Record<OccasionSource, Checks>> = {
  cron: PERIOD,
  interval: SLOT,
  "hint-interval": SLOT,
  "hint-oneshot": SLOT,
  retry: SLOT,
  reboot: BOOT,
  manual: ASKED,
};

/** S21: idempotency, suspension, deadline, concurrency, start, in this order. `active` is newest first. */
export function verdict(
  standing: JobStanding,
  occasion: Occasion,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
  circumstances: Circumstances = USUAL,
): Verdict {
  const idle = idleReason(standing, occasion, policy, active, now);
  if (idle !== null) {
    return { kind: "nothing", reason: idle };
  }
  const { chosenAt } = occasion;
  if (chosenAt === null) {
    return { kind: "unschedulable", reason: UNSCHEDULABLE_REASON };
  }
  const { deadline } = CHECKS[occasion.source];
  const fromAt = deadline === "chosen" ? chosenAt : Math.max(chosenAt, floorToSecond(now));
  const deadlineMs = deadlineMsOf(policy.deadlineMs, occasion.decision);
  const triggerLimitAt = deadline === "none" ? fromAt : deadlineAt(fromAt, deadlineMs, circumstances.heldUntilAt);
  if (deadline === "chosen" && isPast(triggerLimitAt, now)) {
    return { kind: "missed", reason: "deadline" };
  }
  if (circumstances.successorDueAt !== null && circumstances.successorDueAt <= now) {
    return { kind: "missed", reason: "superseded" };
  }
  const startByAt = Math.min(startLimitAt(triggerLimitAt, circumstances.startGraceMs), lastSecondOf(occasion));
  return concurrencyVerdict(occasion, policy, active, startByAt);
}

/** S43: nothing begins in the second in which it is not wanted any more. */
function lastSecondOf(occasion: Occasion): EpochMs {
  return occasion.decision === null && occasion.untilAt !== undefined
    ? occasion.untilAt - SECOND_MS
    : Number.POSITIVE_INFINITY;
}

/**
 * S20: judged again right before the claim is written. The trigger was on time, so only the bound of the start counts
 * now; what was begun, suspended or handled since the trigger counts as it did then. A slot that is too late by then is
 * not missed: it is still due, and started anew.
 */
export function claimVerdict(
  standing: JobStanding,
  occasion: Occasion,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
  startByAt: EpochMs,
): Verdict {
  const idle = idleReason(standing, occasion, policy, active, now);
  if (idle !== null) {
    return { kind: "nothing", reason: idle };
  }
  if (!isPast(startByAt, now)) {
    return concurrencyVerdict(occasion, policy, active, startByAt);
  }
  return CHECKS[occasion.source].deadline === "chosen"
    ? { kind: "missed", reason: "late_start" }
    : { kind: "nothing", reason: "busy" };
}

/** S24: how long a start that has failed is tried again. */
export function triedUntilAt(occasion: Occasion, { deadlineMs }: Policy, heldUntilAt: EpochMs | null): EpochMs {
  const { source, chosenAt, decision } = occasion;
  if (chosenAt === null || CHECKS[source].deadline !== "chosen") return Number.POSITIVE_INFINITY;
  return deadlineAt(chosenAt, deadlineMsOf(deadlineMs, decision), heldUntilAt);
}

/** S51: the end of a pause that ends by itself never: until somebody resumes the job. The last second that there is. */
export const FOR_GOOD_AT: EpochMs = 253_402_300_799_000;

export function isPaused(standing: JobStanding, now: EpochMs): boolean {
  return standing.pausedUntilAt !== null && now < standing.pausedUntilAt;
}

function idleReason(
  standing: JobStanding,
  occasion: Occasion,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
): IdleReason | null {
  const { isTaken, isHeld, hasBirth } = CHECKS[occasion.source];
  if (isTaken(standing, occasion, active)) {
    return "already_handled";
  }
  if (isPast(lastSecondOf(occasion), now)) {
    return "superseded";
  }
  if (isHeld && policy.suspend) {
    return "suspended";
  }
  if (isHeld && isPaused(standing, now)) {
    return "paused";
  }
  if (now < occasion.dueAt) {
    return "not_due";
  }
  return hasBirth && occasion.decision !== null ? passedOverReason(standing, occasion.decision) : null;
}

/** S12, the second half too: the period is running, whatever was handled. */
function isPeriodTaken({ lastHandledAt }: JobStanding, { slotAt }: Occasion, active: readonly ActiveRun[]): boolean {
  return isHandled(lastHandledAt, slotAt) || active.some((run) => isPeriod(run.source) && run.slotAt === slotAt);
}

/** S40: S12's rule within one source. */
function isOccasionTaken({ slots }: JobStanding, { source, slotAt }: Occasion): boolean {
  return isSlotTaken(slots, source, slotAt);
}

export function isSlotTaken(slots: JobStanding["slots"], source: string, slotAt: EpochMs): boolean {
  const newestAt = newestSlotAt(slots, source);
  return newestAt !== null && slotAt <= newestAt;
}

/** null: the source has had none. */
export function newestSlotAt(slots: JobStanding["slots"], source: string): EpochMs | null {
  return slots === undefined || !Object.hasOwn(slots, source) ? null : instantOrNull(slots[source]);
}

/** S40: what a slot of this instant is to be called: where the clock is behind an older one of the source, it follows that. */
export function freeSlotAt(slots: JobStanding["slots"], source: string, slotAt: EpochMs): EpochMs {
  const newestAt = newestSlotAt(slots, source);
  return newestAt === null || slotAt > newestAt ? slotAt : newestAt + 1;
}

/** S14: adding or editing a job never fires the past, nor does the end of a pause, or of a hint in its place. */
export function passedOverReason(
  standing: JobStanding,
  decision: Decision,
): "before_definition" | "not_evaluated" | null {
  if (isBeforeDefinition(standing, decision)) return "before_definition";
  return isBeforeEvaluation(standing, decision) ? "not_evaluated" : null;
}

/** An unschedulable period fires nothing: its window counts. */
export function isBeforeDefinition(standing: JobStanding, decision: Decision): boolean {
  if (standing.definedAt === null || standing.carriedAt === decision.nominalAt) {
    return false;
  }
  return (decision.chosenAt ?? decision.windowEndAt) < floorToSecond(standing.definedAt);
}

/** Less far ahead, the instants in between were passed over once already, and that stands. */
export const EVALUATION_AHEAD_MS = HOUR_MS;
/** Less far ahead a run is waited for: a clock that is corrected by seconds changes no pace. */
export const RUN_AHEAD_MS = 2 * MINUTE_MS;

/** S14: it was dated by a clock that ran ahead. */
export function isDatedAhead(standing: JobStanding, now: EpochMs): boolean {
  const { definedAt, evaluatesFromAt = null, lastRunAt = null, slots } = standing;
  const latestAt = now + EVALUATION_AHEAD_MS;
  return (
    (definedAt !== null && definedAt > now) ||
    (evaluatesFromAt !== null && evaluatesFromAt > latestAt) ||
    (lastRunAt !== null && lastRunAt > now + RUN_AHEAD_MS) ||
    slotsAhead(slots, latestAt).length > 0
  );
}

const WAITS_FOR_NO_CLOCK: ReadonlySet<string> = new Set(["reboot", "manual"]);

/**
 * S40: sources whose newest slot is later. Not boots (S44): they are told apart without a clock, and none waits for one. Nor
 * what somebody asks for: that names its instant itself, and is never to run twice.
 */
export function slotsAhead(slots: JobStanding["slots"], latestAt: EpochMs): readonly string[] {
  if (slots === undefined) return [];
  return Object.keys(slots).filter(
    (source) => !WAITS_FOR_NO_CLOCK.has(source) && isSlotTaken(slots, source, latestAt + 1),
  );
}

/** It was due in a pause, or while a hint was in force. */
export function isBeforeEvaluation({ evaluatesFromAt = null }: JobStanding, decision: Decision): boolean {
  return evaluatesFromAt !== null && dueAt(decision) < evaluatesFromAt;
}

function concurrencyVerdict(
  occasion: Occasion,
  policy: Policy,
  active: readonly ActiveRun[],
  startByAt: EpochMs,
): Verdict {
  const start: Verdict = { kind: "start", startByAt };
  const { runs } = CHECKS[occasion.source];
  if (runs === "ignore") {
    const isUnwanted = occasion.decision === null && occasion.onlyIfIdle === true && active.length > 0;
    return isUnwanted ? { kind: "nothing", reason: "busy" } : start;
  }
  switch (policy.concurrency) {
    case "allow":
      return policy.maxActive !== null && active.length >= policy.maxActive
        ? unlessWaiting(runs, "too_many_active")
        : start;
    case "forbid":
      return active.length > 0 ? unlessWaiting(runs, "concurrency_forbid") : start;
    case "replace":
      return active.length > 0 ? { kind: "replace", startByAt, victims: active } : start;
    default:
      return assertNever(policy.concurrency, "concurrency policy");
  }
}

function unlessWaiting(runs: Checks["runs"], reason: SkippedReason): Verdict {
  return runs === "wait" ? { kind: "nothing", reason: "busy" } : { kind: "skipped", reason };
}
