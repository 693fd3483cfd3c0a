/**
 * Whether there is anything to look at: a model that is asked about an endpoint that is well costs money and says that it is
 * well. Wherever a rule applies there is evidence; the other way round a model may see what no rule says.
 */
import type { HealthWindow } from "../core/endpoint/health.js";
import { EVIDENCE_LIMITS } from "./limits.js";
import type { Situation } from "./model.js";

export function hasEvidence({ health, endpoint }: Situation): boolean {
  const { "1h": hour, "4h": hours, "24h": day } = health.windows;
  if (health.streak.failures > 0 || hour.errors > 0) return true;
  // What a planner has proposed may have done its work.
  const { hints, pausedUntil } = endpoint;
  if ([hints.interval, hints.oneshot, pausedUntil].some((one) => one?.by === "planner")) return true;
  return hasSlowed(hour, day) || (hours.runs >= EVIDENCE_LIMITS.idleRuns && hours.idle === hours.runs);
}

function hasSlowed(hour: HealthWindow, day: HealthWindow): boolean {
  if (hour.p50Ms === null || day.p50Ms === null) return false;
  return hour.p50Ms > day.p50Ms * EVIDENCE_LIMITS.slowedTimes;
}
