import { decide } from "../decision/decide.js";
import type { CompiledRule } from "../decision/model.js";
import type { EpochMs } from "../time/instant.js";
import { currentPeriod, isHandled } from "./periods.js";
import { isBeforeDefinition, type JobStanding } from "./policy.js";

/**
 * S14: the period that is live under the rule in force, just before another rule takes over: it may still be triggered
 * afterwards. A period that was never to be triggered does not become so by an edit. null: none.
 */
export function carriedPeriod(compiled: CompiledRule, standing: JobStanding, now: EpochMs): EpochMs | null {
  const currentAt = currentPeriod(compiled, now);
  if (currentAt === null || isHandled(standing.lastHandledAt, currentAt)) {
    return null;
  }
  return isBeforeDefinition(standing, decide(compiled, currentAt)) ? null : currentAt;
}
