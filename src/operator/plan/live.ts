/** The live period of a KronJob: which one it is (S10-S14), and what is to be done about it now (S21). */
import { decide } from "../../core/decision/decide.js";
import type { Decision } from "../../core/decision/model.js";
import { cronOccasion, dueAt } from "../../core/period/occasion.js";
import { isHandled, type PeriodGap, planAfter, planOnReturn } from "../../core/period/periods.js";
import { type JobStanding, type Verdict, verdict } from "../../core/period/policy.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import type { KronDefinition } from "../definition.js";
import { OPERATOR_LIMITS, OPERATOR_TIMES } from "../limits.js";
import { activeRuns, instantOf } from "../status.js";
import { judgedIfDue, returning, ticked, turned } from "./memory.js";
import { gate, occasionOf, settle } from "./settle.js";
import type { Sketch } from "./sketch.js";

/** The live period is found, and judged; what needs no outcome is passed over (S14). */
export function judgeLive(sketch: Sketch, definition: KronDefinition, standing: JobStanding): void {
  for (let passed = 0; passed < OPERATOR_LIMITS.rounds; passed++) {
    const decision = planLive(sketch, definition, standing);
    if (decision === null) return;
    const verdict = verdictOf(sketch, definition, standing, decision);
    if (verdict.kind !== "nothing") {
      settle(sketch, definition, standing, decision, verdict);
      return;
    }
    if (verdict.reason === "suspended" || verdict.reason === "paused" || verdict.reason === "not_due") {
      wait(sketch, definition, standing, decision, verdict.reason);
      return;
    }
    turnTo(sketch, definition, planAfter(definition.compiled, standing, decision.nominalAt));
  }
}

function planLive(sketch: Sketch, definition: KronDefinition, standing: JobStanding): Decision | null {
  const { compiled } = definition;
  sketch.memory = ticked(sketch.memory, sketch.now);
  if (sketch.memory.mustReturn && isHandled(standing.lastHandledAt, sketch.memory.liveAt ?? Number.NaN)) {
    sketch.memory = returning(sketch.memory);
  }
  const { liveAt } = sketch.memory;
  if (liveAt === null) {
    const plan = planOnReturn(compiled, standing, sketch.now);
    sketch.memory = { ...sketch.memory, gap: plan.gap };
    if (plan.isStateAhead) sketch.loose.push({ kind: "state_ahead", periodId: sketch.status.lastPeriodID ?? "" });
    turnTo(sketch, definition, plan.liveAt);
  } else if (isHandled(standing.lastHandledAt, liveAt)) {
    turnTo(sketch, definition, planAfter(compiled, standing, liveAt));
  }
  if (sketch.memory.gap !== null) noteGap(sketch, sketch.memory.gap);
  const nominalAt = sketch.memory.liveAt;
  return nominalAt === null ? null : decide(compiled, nominalAt);
}

/** S11: one that was due before its elder had to wait for it. */
function turnTo(sketch: Sketch, { compiled }: KronDefinition, liveAt: EpochMs | null): void {
  const { memory, now } = sketch;
  const at = liveAt === null ? null : dueAt(decide(compiled, liveAt));
  const elderDueAt = Math.max(memory.dueAt ?? Number.NEGATIVE_INFINITY, memory.heldUntilAt ?? Number.NEGATIVE_INFINITY);
  const hasWaited = at !== null && memory.liveAt !== null && at < elderDueAt;
  sketch.memory = judgedIfDue(turned(memory, liveAt, at, hasWaited ? now : null), now);
}

function verdictOf(sketch: Sketch, definition: KronDefinition, standing: JobStanding, decision: Decision): Verdict {
  const { heldUntilAt, failure } = sketch.memory;
  return verdict(standing, cronOccasion(decision), definition.policy, activeRuns(sketch.status), judgedAt(sketch), {
    startGraceMs: OPERATOR_TIMES.startGraceMs,
    heldUntilAt,
    successorDueAt: failure === null ? null : successorDueAt(definition, standing, decision.nominalAt),
  });
}

/** S2, S20: lateness is a matter of the tick that found the period due; after a failure it is one of now. */
function judgedAt({ memory, now }: Sketch): EpochMs {
  const isOpen = memory.failure !== null || memory.clearing?.isOverdue === true;
  return isOpen ? now : Math.min(memory.judgedAt ?? now, now);
}

function successorDueAt({ compiled }: KronDefinition, standing: JobStanding, nominalAt: EpochMs): EpochMs | null {
  const nextAt = planAfter(compiled, standing, nominalAt);
  return nextAt === null ? null : dueAt(decide(compiled, nextAt));
}

/** Nothing is to be done yet; a period that comes up soon has its Job made ahead. */
function wait(
  sketch: Sketch,
  definition: KronDefinition,
  standing: JobStanding,
  decision: Decision,
  reason: "suspended" | "paused" | "not_due",
): void {
  if (reason === "not_due") {
    const at = dueAt(decision);
    sketch.lookAgain(at);
    if (decision.chosenAt === null) return;
    if (at - sketch.now <= OPERATOR_TIMES.armAheadMs) armAhead(sketch, definition, decision);
    else sketch.lookAgain(at - OPERATOR_TIMES.armAheadMs);
    return;
  }
  // S17: when it ends, only the period that is current then is evaluated.
  sketch.memory = returning(sketch.memory);
  if (standing.pausedUntilAt !== null && reason === "paused") sketch.lookAgain(standing.pausedUntilAt);
}

/** Where a run still goes on it will probably not be needed. */
function armAhead(sketch: Sketch, definition: KronDefinition, decision: Decision): void {
  const isLikely = definition.policy.concurrency !== "forbid" || (sketch.status.active ?? []).length === 0;
  if (isLikely && sketch.memory.failure === null) gate(sketch, occasionOf(sketch, definition, decision));
}

/** S13: once for the whole gap, and again only when it has grown. */
function noteGap(sketch: Sketch, { firstAt, lastAt, count, isCountExact }: PeriodGap): void {
  const noted = sketch.status.notEvaluated?.lastPeriodID;
  if (noted !== undefined && instantOf(noted) >= lastAt) return;
  const [firstId, lastId] = [formatInstant(firstAt), formatInstant(lastAt)];
  sketch.status = {
    ...sketch.status,
    notEvaluated: {
      count,
      ...(isCountExact ? {} : { atLeast: true }),
      firstPeriodID: firstId,
      lastPeriodID: lastId,
      notedAt: formatInstant(Math.floor(sketch.now / 1000) * 1000),
    },
  };
  sketch.news.push({ kind: "not_evaluated", count, isCountExact, firstId, lastId });
}
