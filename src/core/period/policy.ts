/**
 * What is to be done about one period at one instant (S17, S20, S21, S24-S26). The only place that judges: machines and
 * actors carry the verdict out and never look at a deadline or a concurrency rule themselves.
 */

import { assertNever } from "../base/result.js";
import type { Decision } from "../decision/model.js";
import { UNSCHEDULABLE_REASON } from "../decision/record.js";
import type { Policy } from "../job/definition.js";
import { type EpochMs, floorToSecond } from "../time/instant.js";
import { deadlineAt, isPast, startLimitAt } from "./lateness.js";
import { isHandled } from "./periods.js";

/** What is on record about the job: a view of its state document (`standingOf`). */
export interface JobStanding {
  readonly lastHandledAt: EpochMs | null;
  /** S14: whole seconds, as persisted; null: not known, so nothing lies before it. */
  readonly definedAt: EpochMs | null;
  /** S14: the period that was live when the definition changed; it may still be triggered. */
  readonly carriedAt: EpochMs | null;
  /** S17: null: not paused. A pause ends by itself. */
  readonly pausedUntilAt: EpochMs | null;
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

export type IdleReason = "already_handled" | "suspended" | "paused" | "not_due" | "before_definition";
export type MissedReason = "deadline" | "late_start" | "superseded";
export type SkippedReason = "concurrency_forbid" | "too_many_active" | "state_recovered";

export type Verdict =
  | { readonly kind: "nothing"; readonly reason: IdleReason }
  | { readonly kind: "missed"; readonly reason: MissedReason }
  | { readonly kind: "skipped"; readonly reason: SkippedReason }
  | { readonly kind: "unschedulable"; readonly reason: string }
  | { readonly kind: "start"; readonly startByAt: EpochMs }
  | { readonly kind: "replace"; readonly startByAt: EpochMs; readonly victims: readonly ActiveRun[] };

/** S21: idempotency, suspension, deadline, concurrency, start, in this order. `active` is newest first. */
export function verdict(
  standing: JobStanding,
  decision: Decision,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
  circumstances: Circumstances = USUAL,
): Verdict {
  const idle = idleReason(standing, decision, policy, active, now);
  if (idle !== null) {
    return { kind: "nothing", reason: idle };
  }
  if (decision.chosenAt === null) {
    return { kind: "unschedulable", reason: UNSCHEDULABLE_REASON };
  }
  const triggerLimitAt = deadlineAt(decision.chosenAt, policy.deadlineMs, circumstances.heldUntilAt);
  if (isPast(triggerLimitAt, now)) {
    return { kind: "missed", reason: "deadline" };
  }
  if (circumstances.successorDueAt !== null && circumstances.successorDueAt <= now) {
    return { kind: "missed", reason: "superseded" };
  }
  return concurrencyVerdict(policy, active, startLimitAt(triggerLimitAt, circumstances.startGraceMs));
}

/** S15: an unschedulable period is due when its window opens, every other at its chosen time. */
export function dueAt(decision: Decision): EpochMs {
  return decision.chosenAt ?? decision.windowStartAt;
}

/**
 * S20: judged again right before the claim is written. The trigger was on time, so only the bound of the start counts
 * now; what was begun, suspended or handled since the trigger counts as it did then.
 */
export function claimVerdict(
  standing: JobStanding,
  decision: Decision,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
  startByAt: EpochMs,
): Verdict {
  const idle = idleReason(standing, decision, policy, active, now);
  if (idle !== null) {
    return { kind: "nothing", reason: idle };
  }
  return isPast(startByAt, now)
    ? { kind: "missed", reason: "late_start" }
    : concurrencyVerdict(policy, active, startByAt);
}

export function isPaused(standing: JobStanding, now: EpochMs): boolean {
  return standing.pausedUntilAt !== null && now < standing.pausedUntilAt;
}

function idleReason(
  standing: JobStanding,
  decision: Decision,
  policy: Policy,
  active: readonly ActiveRun[],
  now: EpochMs,
): IdleReason | null {
  if (isHandled(standing.lastHandledAt, decision.nominalAt) || isActive(decision.nominalAt, active)) {
    return "already_handled";
  }
  if (policy.suspend) {
    return "suspended";
  }
  if (isPaused(standing, now)) {
    return "paused";
  }
  if (now < dueAt(decision)) {
    return "not_due";
  }
  return isBeforeDefinition(standing, decision) ? "before_definition" : null;
}

/** S12, second half: the period is running, whatever was handled. */
function isActive(nominalAt: EpochMs, active: readonly ActiveRun[]): boolean {
  return active.some((run) => run.source === null && run.slotAt === nominalAt);
}

/** S14: adding or editing a job never fires the past. An unschedulable period fires nothing: its window counts. */
export function isBeforeDefinition(standing: JobStanding, decision: Decision): boolean {
  if (standing.definedAt === null || standing.carriedAt === decision.nominalAt) {
    return false;
  }
  return (decision.chosenAt ?? decision.windowEndAt) < floorToSecond(standing.definedAt);
}

function concurrencyVerdict(policy: Policy, active: readonly ActiveRun[], startByAt: EpochMs): Verdict {
  const start: Verdict = { kind: "start", startByAt };
  switch (policy.concurrency) {
    case "allow":
      return policy.maxActive !== null && active.length >= policy.maxActive
        ? { kind: "skipped", reason: "too_many_active" }
        : start;
    case "forbid":
      return active.length > 0 ? { kind: "skipped", reason: "concurrency_forbid" } : start;
    case "replace":
      return active.length > 0 ? { kind: "replace", startByAt, victims: active } : start;
    default:
      return assertNever(policy.concurrency, "concurrency policy");
  }
}
