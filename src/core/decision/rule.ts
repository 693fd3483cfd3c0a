/** What a decision depends on, as plain JSON data: a job definition is this, and what is done with it. */
import type { DstRule } from "../time/dst.js";

export type WindowMode = "after" | "around" | "before";
export type SeedStrategy = "stable" | "daily" | "weekly";

export interface WindowRule {
  readonly mode: WindowMode;
  /** Whole seconds. */
  readonly durationMs: number;
}

export type Distribution =
  | { readonly name: "uniform" }
  | { readonly name: "skewEarly"; readonly shape: number }
  | { readonly name: "skewLate"; readonly shape: number }
  | {
      readonly name: "normal";
      readonly mu: "nominal" | "start" | "mid" | "end";
      /** null: one sixth of the window. */
      readonly sigmaMs: number | null;
    }
  | { readonly name: "exponential"; readonly lambda: number; readonly dir: "early" | "late" };

export interface SeedRule {
  readonly strategy: SeedStrategy;
  readonly salt: string;
}

/** Ranges are inclusive. A range with `from > to` wraps, except for dates. */
export interface IntRange {
  readonly from: number;
  readonly to: number;
}

/**
 * One clause. `between` counts minutes of the day, `date` counts civil days since 1970-01-01 (`date=` is a range of one
 * day: `date` and `dates` are one kind).
 */
export interface Clause {
  readonly kind: "hours" | "dow" | "dom" | "months" | "between" | "date";
  readonly ranges: readonly IntRange[];
}

export interface Constraints {
  readonly only: readonly Clause[];
  readonly avoid: readonly Clause[];
}

/** Bounds of the time from the start of one run to the next, whatever makes it due; null: none. At least one is set. */
export interface Pace {
  readonly minMs: number | null;
  readonly maxMs: number | null;
}

/** When a job is due. A decision depends on all of it but the pace, which says what becomes of the decision. */
export interface SchedulingRule {
  readonly identity: string;
  /** A cron expression as written, outer blanks removed; or an interval in its canonical form, `@every 1m30s`. */
  readonly schedule: string;
  /** Canonical IANA id. */
  readonly timezone: string;
  readonly dst: DstRule;
  readonly window: WindowRule;
  readonly distribution: Distribution;
  readonly seed: SeedRule;
  readonly constraints: Constraints;
  /** Absent: no bounds. */
  readonly pace?: Pace;
}
