/** Small builders for tests about periods, policies and state: everything usual, one thing changed. */
import type { Decision } from "../../src/core/decision/model.js";
import type { SchedulingRule } from "../../src/core/decision/rule.js";
import type { Policy } from "../../src/core/job/definition.js";
import type { ActiveRun } from "../../src/core/period/policy.js";
import type { Birth } from "../../src/core/state/definition-transitions.js";
import { type EpochMs, floorToSecond, formatInstant, parseInstant } from "../../src/core/time/instant.js";

export const IDENTITY = "test/job";

export function at(text: string): EpochMs {
  const instant = parseInstant(text);
  if (!instant.ok) {
    throw new Error(`test data: ${text} is not an instant`);
  }
  return instant.value;
}

/** Of a definition that comes into force then. */
export function birthAt(now: EpochMs): Birth {
  return { isReboot: false, at: floorToSecond(now) };
}

export function ruleOf(changes: Partial<SchedulingRule> = {}): SchedulingRule {
  return {
    identity: IDENTITY,
    schedule: "0 * * * *",
    timezone: "UTC",
    dst: { gap: "skip", overlap: "both" },
    window: { mode: "after", durationMs: 0 },
    distribution: { name: "uniform" },
    seed: { strategy: "stable", salt: "" },
    constraints: { only: [], avoid: [] },
    ...changes,
  };
}

export function policyOf(changes: Partial<Policy> = {}): Policy {
  return { concurrency: "forbid", deadlineMs: 0, suspend: false, maxActive: null, ...changes };
}

/** A decision as an engine would give it for a window of three hours after the nominal time. */
export function decisionOf(nominal: string, chosen: string | null): Decision {
  const nominalAt = at(nominal);
  return {
    identity: IDENTITY,
    nominalAt,
    periodId: formatInstant(nominalAt),
    periodKey: formatInstant(nominalAt),
    windowStartAt: nominalAt,
    windowEndAt: nominalAt + 3 * 3_600_000,
    chosenAt: chosen === null ? null : at(chosen),
    seedHash: "00",
    attempts: chosen === null ? 64 : 1,
  };
}

export function runOf(period: string, pid = 100, source: string | null = null): ActiveRun {
  return { attemptId: null, source, periodId: period, pid, slotAt: at(period) };
}
