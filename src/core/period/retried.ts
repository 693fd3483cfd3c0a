/** The attempt that follows a failed one, as an occasion of its job (S43): until the next period is due, and not beyond. */
import { decide } from "../decision/decide.js";
import type { CompiledRule } from "../decision/model.js";
import type { EpochMs } from "../time/instant.js";
import { dueAt, type SlotOccasion, slotOccasion } from "./occasion.js";
import { nextPeriod } from "./periods.js";
import { isSlotTaken, type JobStanding } from "./policy.js";

/** null: none is pending, or its time is over. */
export function retryOccasion(compiled: CompiledRule, standing: JobStanding, now: EpochMs): SlotOccasion | null {
  const { retry, lastRunAt = null, slots } = standing;
  if (retry === undefined || isSlotTaken(slots, "retry", retry.at)) return null;
  const untilAt = successorDueAt(compiled, retry.nominalAt);
  const paceAt = lastRunAt === null ? retry.at : lastRunAt + (compiled.minMs ?? 0);
  const startsAt = Math.max(retry.at, paceAt);
  if (untilAt !== null && Math.max(startsAt, now) >= untilAt) return null;
  return { ...slotOccasion("retry", retry.at, startsAt), ...(untilAt === null ? {} : { untilAt }) };
}

/** null: there is none. */
function successorDueAt(compiled: CompiledRule, nominalAt: EpochMs): EpochMs | null {
  const nextAt = nextPeriod(compiled, nominalAt);
  return nextAt === null ? null : dueAt(decide(compiled, nextAt));
}
