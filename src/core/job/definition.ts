/**
 * One job, validated, defaulted and frozen: the only form in which definitions travel through Kron. Plain JSON data, so
 * that it can be stored, hashed and read by another thread as it is.
 */
import type { SchedulingRule } from "../decision/rule.js";

export type Concurrency = "allow" | "forbid" | "replace";

export interface Policy {
  readonly concurrency: Concurrency;
  readonly deadlineMs: number;
  readonly suspend: boolean;
  /** null: unbounded (S26). */
  readonly maxActive: number | null;
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
