/** Status conditions: derived from the rest, changed only with it, and with the instant of a real change. */
import { formatSecond } from "../../core/time/instant.js";
import type { Condition, KronJobStatus } from "../kube/types.js";
import { OPERATOR_LIMITS } from "../limits.js";

export interface Standing {
  readonly type: "Ready" | "InvalidSpec" | "SchedulingError" | "Unschedulable";
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/** A condition that was never true is not mentioned, but for Ready. */
export function withConditions(
  status: KronJobStatus,
  standings: readonly Standing[],
  generation: number,
  now: number,
): KronJobStatus {
  const before = new Map((status.conditions ?? []).map((condition) => [condition.type, condition]));
  const after = standings.flatMap((standing): Condition[] => {
    const was = before.get(standing.type);
    const isShown = standing.isTrue || standing.type === "Ready" || was !== undefined;
    return isShown ? [conditionOf(standing, was, generation, now)] : [];
  });
  const told = new Set<string>(standings.map(({ type }) => type));
  const foreign = (status.conditions ?? []).filter(({ type }) => !told.has(type));
  return { ...status, conditions: [...after, ...foreign] };
}

function conditionOf(
  { type, isTrue, reason, message }: Standing,
  was: Condition | undefined,
  observedGeneration: number,
  now: number,
): Condition {
  const status = isTrue ? "True" : "False";
  const lastTransitionTime = was?.status === status ? was.lastTransitionTime : formatSecond(now);
  const bounded = message.slice(0, OPERATOR_LIMITS.conditionMessageChars);
  return { type, status, reason, message: bounded, lastTransitionTime, observedGeneration };
}
