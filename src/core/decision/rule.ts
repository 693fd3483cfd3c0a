/** What a decision depends on, as plain JSON data: a job definition is this, and what is done with it. */
import type { DstRule } from "../time/dst.js";
import type { Clause } from "./constraint/table.js";
import type { Distribution } from "./distribution/table.js";
import type { WindowRule } from "./window.js";

export type { IntRange } from "./constraint/kind.js";
export type { Clause } from "./constraint/table.js";
export type { Distribution } from "./distribution/table.js";
export type { WindowMode, WindowRule } from "./window.js";

export type SeedStrategy = "stable" | "daily" | "weekly";

export interface SeedRule {
  readonly strategy: SeedStrategy;
  readonly salt: string;
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
  /** A cron expression as written, outer blanks removed; or in its canonical form `@every 1m30s`, `@at 2026-12-01T03:00`, `@reboot`. */
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
