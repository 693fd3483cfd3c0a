import { LIMITS } from "../base/limits.js";
import { formatDuration } from "../time/duration.js";
import { formatInstant } from "../time/instant.js";
import { formatClauses } from "./constraints.js";
import { distributionParams } from "./distributions.js";
import type { CompiledRule, Decision, DecisionRecord, StatedRule } from "./model.js";
import type { SchedulingRule } from "./rule.js";

/** What a decision depends on besides its inputs; part of every record, so that a difference can be explained. */
export interface RecordVersions {
  readonly tzVersion: string;
  readonly engineVersion: string;
}

export const UNSCHEDULABLE_REASON = `no candidate accepted within ${LIMITS.samplingAttempts} attempts`;

/** The published form of a decision. Field names and their order are stable. */
export function toDecisionRecord(compiled: CompiledRule, decision: Decision, versions: RecordVersions): DecisionRecord {
  const { stated } = compiled;
  const { periodId, chosenAt } = decision;
  return {
    identity: stated.identity,
    schedule: stated.schedule,
    dst: stated.dst,
    period_id: periodId,
    period_key: decision.periodKey,
    nominal_time: periodId,
    window_mode: stated.window_mode,
    window_duration: stated.window_duration,
    window_start: formatInstant(decision.windowStartAt),
    window_end: formatInstant(decision.windowEndAt),
    chosen_time: chosenAt === null ? "" : formatInstant(chosenAt),
    timezone: stated.timezone,
    tz_version: versions.tzVersion,
    distribution: stated.distribution,
    dist_params: stated.dist_params,
    seed_strategy: stated.seed_strategy,
    salt: stated.salt,
    seed_hash: decision.seedHash,
    attempts: decision.attempts,
    constraints_applied: stated.constraints_applied,
    unschedulable: chosenAt === null,
    reason: chosenAt === null ? UNSCHEDULABLE_REASON : "",
    engine_version: versions.engineVersion,
  };
}

export function statedRule(rule: SchedulingRule): StatedRule {
  return {
    identity: rule.identity,
    schedule: rule.schedule,
    dst: { gap: rule.dst.gap, overlap: rule.dst.overlap },
    window_mode: rule.window.mode,
    window_duration: formatDuration(rule.window.durationMs),
    timezone: rule.timezone,
    distribution: rule.distribution.name,
    dist_params: distributionParams(rule.distribution),
    seed_strategy: rule.seed.strategy,
    salt: rule.seed.salt,
    constraints_applied: {
      only: formatClauses(rule.constraints.only),
      avoid: formatClauses(rule.constraints.avoid),
    },
  };
}
