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
  /** S43. Absent: nothing is tried again. */
  readonly retry?: RetryRule;
}

/** How a run can fail: by its exit code or a signal, by its time limit, by a status, without an answer, unseen. */
export const RETRY_CAUSES = ["exit", "timeout", "answered", "failed", "unseen"] as const;
export type RetryCause = (typeof RETRY_CAUSES)[number];

export interface RetryRule {
  /** Attempts after the first. */
  readonly limit: number;
  /** From the end of an attempt to the next, doubling from the one to the other. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A number is an exit code. */
  readonly on: readonly (RetryCause | number)[];
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
  /** Headers whose values are read when the request is made, and are nowhere on record. */
  readonly secretHeaders: Readonly<Record<string, SecretRef>>;
  readonly body: string | null;
  /** From the first attempt to connect to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** How much of an answer is kept. */
  readonly excerptBytes: number;
  readonly success: readonly StatusRange[];
  /** What requests are signed with; null: they are not. */
  readonly signature: SecretRef | null;
  readonly tls: TlsFiles;
}

/** Where a secret is found when it is needed. */
export interface SecretRef {
  readonly from: "file" | "env";
  readonly name: string;
}

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** Absolute paths; null: what the system trusts, and no certificate of our own. */
export interface TlsFiles {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

export type Target = ProcessTarget | HttpTarget;

export interface JobDefinition extends SchedulingRule {
  readonly policy: Policy;
  readonly target: Target;
  readonly description: string;
  readonly tags: readonly string[];
}
