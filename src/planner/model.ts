/** What a planner gets to know of an endpoint, and what it may propose. */
import type { HealthView } from "../core/endpoint/health.js";
import type { EpochMs } from "../core/time/instant.js";

/** What a person has said holds until it is over: a planner neither lifts nor replaces it. */
export type Author = "person" | "planner";

/** Everything a planner gets to know. */
export interface Situation {
  readonly now: EpochMs;
  readonly endpoint: EndpointSituation;
  readonly health: HealthView;
  /** Other endpoints of the same job. */
  readonly siblings: readonly Sibling[];
}

export interface EndpointSituation {
  readonly id: string;
  readonly name: string;
  readonly baseline: Baseline;
  /** Bounds of its pace; the stricter of its own and its tenant's. */
  readonly minIntervalMs: number | null;
  readonly maxIntervalMs: number | null;
  readonly hints: { readonly interval: IntervalInForce | null; readonly oneshot: OneshotInForce | null };
  readonly pausedUntil: PauseInForce | null;
  /** Its owner wants to know sooner when errors begin: without this, errors never make a planner's rules run it faster. */
  readonly fasterOnErrors: boolean;
}

export interface Baseline {
  /** As it was written: a cron expression, or an interval. */
  readonly text: string;
  /** From one run to the next, usually; null: nobody can say, and intervals are not proposed by rule. */
  readonly intervalMs: number | null;
}

interface InForce {
  readonly by: Author;
  readonly reason: string;
}

export interface IntervalInForce extends InForce {
  readonly intervalMs: number;
  readonly expiresAt: EpochMs;
}

interface OneshotInForce extends InForce {
  readonly nextRunAt: EpochMs;
  readonly expiresAt: EpochMs;
}

interface PauseInForce extends InForce {
  readonly until: EpochMs;
}

export interface Sibling {
  readonly name: string;
  /** Of the last hour; null: nothing ended. */
  readonly successRate: number | null;
  /** In a row, up to now. */
  readonly failures: number;
  /** What it runs at now; null: by a schedule. */
  readonly intervalMs: number | null;
}

export type Proposal =
  | { readonly type: "interval"; readonly intervalMs: number; readonly ttlMinutes: number; readonly reason: string }
  | { readonly type: "oneshot"; readonly nextRunAt: EpochMs; readonly ttlMinutes: number; readonly reason: string }
  | { readonly type: "pause_until"; readonly until: EpochMs; readonly reason: string }
  | { readonly type: "clear"; readonly kind: ClearKind; readonly reason: string };
export type ProposalType = Proposal["type"];

/** Of its own only. */
export const CLEAR_KINDS = ["interval", "oneshot", "pause"] as const;
type ClearKind = (typeof CLEAR_KINDS)[number];
