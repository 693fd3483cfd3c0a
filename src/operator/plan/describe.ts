/** What a status says for people: derived from the rest, and written with it. */
import { openingAt } from "../../core/period/periods.js";
import { isPaused } from "../../core/period/policy.js";
import { aheadOf } from "../../core/restart/outlook.js";
import { standingOf } from "../../core/state/document.js";
import { formatDuration } from "../../core/time/duration.js";
import { formatInstant } from "../../core/time/instant.js";
import type { KronDefinition } from "../definition.js";
import type { KronJobStatus } from "../kube/types.js";
import { type Standing, withConditions } from "./conditions.js";
import { readiness, schedulingError, unschedulable } from "./readiness.js";
import type { Sketch } from "./sketch.js";

/** Durable, as long as the spec is the same: a gate that does not hold would run before its claim. */
export function isBypassed(sketch: Sketch): boolean {
  const { template } = sketch.observed;
  if (template !== null) return template.kind === "bypassed";
  const ready = sketch.before.conditions?.find(({ type }) => type === "Ready");
  return ready?.reason === "GateBypassed";
}

export function describe(sketch: Sketch, definition: KronDefinition): void {
  const { policy, compiled } = definition;
  const { mode, durationMs } = compiled.rule.window;
  const { observed, before, generation: observedGeneration } = sketch;
  if (before.suspended !== undefined && before.suspended !== policy.suspend) {
    sketch.news.push({ kind: policy.suspend ? "suspended" : "resumed" });
  }
  tellTemplate(sketch);
  const window = durationMs === 0 ? "0s" : `${mode} ${formatDuration(durationMs)}`;
  const activeCount = sketch.status.active?.length ?? 0;
  const isRunnable = !policy.suspend && !isBypassed(sketch);
  sketch.status = {
    ...withoutNext(sketch.status),
    observedGeneration,
    window,
    suspended: policy.suspend,
    activeCount,
    ...(isRunnable ? nextOf(sketch, definition) : {}),
  };
  const conditions: readonly Standing[] = [
    readiness(sketch, policy.suspend, standingOf(sketch.document).pausedUntilAt, isBypassed(sketch)),
    { type: "InvalidSpec", isTrue: false, reason: "Valid", message: "" },
    schedulingError(sketch, observed.template),
    unschedulable(sketch.status),
  ];
  sketch.status = withConditions(sketch.status, conditions, observedGeneration, sketch.now);
}

function tellTemplate(sketch: Sketch): void {
  const { template } = sketch.observed;
  if (!sketch.isNewGeneration || template === null || template.kind === "fine") return;
  if (template.kind === "bypassed") sketch.news.push({ kind: "gate_bypassed", job: null });
  else sketch.news.push({ kind: "template_refused", code: template.code, message: template.message });
}

export function withoutNext(status: KronJobStatus): KronJobStatus {
  const {
    nextPeriodID: _id,
    nextNominalTime: _nominal,
    nextWindowStart: _start,
    nextChosenTime: _at,
    ...rest
  } = status;
  return rest;
}

/** S18: what cannot be decided yet is not shown, and stands in the way of nothing. */
function unlessUndecided<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** S17: of a paused one the first after the pause. */
function nextOf(sketch: Sketch, { compiled, policy }: KronDefinition): Partial<KronJobStatus> {
  const { period, undecided } = sketch.activation;
  const standing = standingOf(sketch.document);
  const rule = { compiled, isSuspended: policy.suspend, deadlineMs: policy.deadlineMs };
  const live = period?.context.occasion ?? null;
  const isAhead = undecided === null && isPaused(standing, sketch.now);
  const next = isAhead ? unlessUndecided(() => aheadOf(rule, standing, sketch.now)) : live;
  if (next?.source !== "cron") return {};
  const { periodId, chosenAt, slotAt } = next;
  return {
    nextPeriodID: periodId,
    nextNominalTime: periodId,
    nextWindowStart: formatInstant(openingAt(compiled, slotAt)),
    ...(chosenAt === null ? {} : { nextChosenTime: formatInstant(chosenAt) }),
  };
}
