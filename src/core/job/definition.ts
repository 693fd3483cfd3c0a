/**
 * One job, validated, defaulted and frozen: the only form in which definitions travel through Kron. Plain JSON data, so
 * that it can be stored, hashed and read by another thread as it is.
 */
export type WindowMode = "after" | "around" | "before";
export type SeedStrategy = "stable" | "daily" | "weekly";
export type Concurrency = "allow" | "forbid" | "replace";

export interface DstRule {
  /** What becomes of a nominal time that a clock change skips: no period, or one at the first instant after the gap. */
  readonly gap: "skip" | "next";
  /** What becomes of a nominal time that a clock change repeats. */
  readonly overlap: "both" | "first" | "last";
}

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

export interface Policy {
  readonly concurrency: Concurrency;
  readonly deadlineMs: number;
  readonly suspend: boolean;
  /** null: unbounded (S26). */
  readonly maxActive: number | null;
}

/** What a decision depends on, and nothing else. */
export interface SchedulingRule {
  readonly identity: string;
  /** As written, outer blanks removed. */
  readonly schedule: string;
  /** Canonical IANA id. */
  readonly timezone: string;
  readonly dst: DstRule;
  readonly window: WindowRule;
  readonly distribution: Distribution;
  readonly seed: SeedRule;
  readonly constraints: Constraints;
}

export interface ProcessTarget {
  readonly kind: "process";
  /** What is executed. With `shell` there is one element, the text that `/bin/sh -c` gets. */
  readonly argv: readonly string[];
  readonly shell: boolean;
  readonly user: string | null;
  readonly group: string | null;
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** What the command reads from its standard input; null: nothing. */
  readonly stdin: string | null;
  readonly umask: number | null;
  readonly timeoutMs: number | null;
  readonly output: OutputRule;
}

export interface OutputRule {
  readonly to: "file" | "inherit" | "discard" | "syslog";
  readonly maxBytes: number;
  readonly keep: number;
  readonly onExcess: "drop-middle" | "kill";
}

export interface HttpTarget {
  readonly kind: "http";
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
}

export type Target = ProcessTarget | HttpTarget;

export interface JobDefinition extends SchedulingRule {
  readonly policy: Policy;
  readonly target: Target;
  readonly description: string;
  readonly tags: readonly string[];
}
