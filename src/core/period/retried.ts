/** The attempt that follows a failed one, as an occasion of its job (S43): until the next period is due, and not beyond. */
import { decide } from "../decision/decide.js";
import type { CompiledRule } from "../decision/model.js";
import type { EpochMs } from "../time/instant.js";
import { dueAt, type SlotOccasion, slotOccasion } from "./occasion.js";
import { nextPeriod } from "./periods.js";
import { isSlotTaken, type JobStanding } from "./policy.js";

type Pending = NonNullable<JobStanding["retry"]>;

/** null: none is pending, or its time is over. */
export function retryOccasion(compiled: CompiledRule, standing: JobStanding, now: EpochMs): SlotOccasion | null {
  const { retry } = standing;
  if (retry === undefined || !isRetryWanted(compiled, standing, retry, now)) return null;
  const { startsAt, untilAt } = boundsOf(compiled, standing, retry);
  return { ...slotOccasion("retry", retry.at, startsAt), ...(untilAt === null ? {} : { untilAt }) };
}

/** Whether it could begin by now, or later: before the next period is due, at the pace of the job. */
export function isRetryWanted(
  compiled: CompiledRule,
  standing: Pick<JobStanding, "lastRunAt" | "slots">,
  retry: Pending,
  now: EpochMs,
): boolean {
  if (isSlotTaken(standing.slots, "retry", retry.at)) return false;
  const { startsAt, untilAt } = boundsOf(compiled, standing, retry);
  return untilAt === null || Math.max(startsAt, now) < untilAt;
}

interface Bounds {
  readonly startsAt: EpochMs;
  readonly untilAt: EpochMs | null;
}

function boundsOf(
  compiled: CompiledRule,
  { lastRunAt = null }: Pick<JobStanding, "lastRunAt">,
  retry: Pending,
): Bounds {
  const paceAt = lastRunAt === null ? retry.at : lastRunAt + (compiled.minMs ?? 0);
  return { startsAt: Math.max(retry.at, paceAt), untilAt: successorDueAt(compiled, retry.nominalAt) };
}

/** When the period after this one is due; null: there is none. */
function successorDueAt(compiled: CompiledRule, nominalAt: EpochMs): EpochMs | null {
  const nextAt = nextPeriod(compiled, nominalAt);
  return nextAt === null ? null : dueAt(decide(compiled, nextAt));
}
