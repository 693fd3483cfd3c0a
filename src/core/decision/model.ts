import type { Schedule } from "../cron/schedule.js";
import type { EpochMs } from "../time/instant.js";
import type { Zone } from "../time/zone.js";
import type { SchedulingRule } from "./rule.js";
import type { Sampler } from "./sampler.js";
import type { WindowFrame } from "./window.js";

/** A rule with everything that is worth computing once: its zone, its bit tables, its constraint predicate. */
export interface CompiledRule {
  readonly rule: SchedulingRule;
  readonly zone: Zone;
  /** Without occurrences where the schedule names no times: an interval, a boot. */
  readonly schedule: Schedule;
  /** The interval of a job without nominal times; null: it has none. */
  readonly everyMs: number | null;
  /** S44: it runs once for each boot of the machine, and has no nominal times either. */
  readonly isReboot: boolean;
  /** Bounds of the time from the start of one run to the next; null: none. */
  readonly minMs: number | null;
  readonly maxMs: number | null;
  /** S10: how long before its nominal time a period's window opens. */
  readonly leadMs: number;
  readonly frame: WindowFrame;
  readonly sample: Sampler;
  /** null when the rule has no constraints: the usual case costs nothing. */
  readonly accepts: ((candidateAt: EpochMs) => boolean) | null;
  /** The part of its decision records that is the same for every period. */
  readonly stated: StatedRule;
}

/** Whether the job has nominal times, and so periods. */
export function hasPeriods({ everyMs, isReboot }: Pick<CompiledRule, "everyMs" | "isReboot">): boolean {
  return everyMs === null && !isReboot;
}

/** What was decided for one period. `chosenAt` is null exactly when the period is unschedulable. */
export interface Decision {
  readonly identity: string;
  readonly nominalAt: EpochMs;
  readonly periodId: string;
  readonly periodKey: string;
  readonly windowStartAt: EpochMs;
  readonly windowEndAt: EpochMs;
  readonly chosenAt: EpochMs | null;
  readonly seedHash: string;
  readonly attempts: number;
}

/** The published form of a decision: stable field names, and enough to recompute it anywhere. */
export interface DecisionRecord {
  readonly identity: string;
  readonly schedule: string;
  readonly dst: { readonly gap: string; readonly overlap: string };
  readonly period_id: string;
  readonly period_key: string;
  readonly nominal_time: string;
  readonly window_mode: string;
  readonly window_duration: string;
  readonly window_start: string;
  readonly window_end: string;
  /** Empty when unschedulable. */
  readonly chosen_time: string;
  readonly timezone: string;
  readonly tz_version: string;
  readonly distribution: string;
  readonly dist_params: Readonly<Record<string, string | number>>;
  readonly seed_strategy: string;
  readonly salt: string;
  readonly seed_hash: string;
  readonly attempts: number;
  /** Canonical clause texts; empty when there are none. */
  readonly constraints_applied: { readonly only: string; readonly avoid: string };
  readonly unschedulable: boolean;
  /** Empty unless unschedulable. */
  readonly reason: string;
  readonly engine_version: string;
}

/** What a record says about the rule itself, as opposed to one period of it. */
export type StatedRule = Pick<
  DecisionRecord,
  | "identity"
  | "schedule"
  | "dst"
  | "window_mode"
  | "window_duration"
  | "timezone"
  | "distribution"
  | "dist_params"
  | "seed_strategy"
  | "salt"
  | "constraints_applied"
>;
