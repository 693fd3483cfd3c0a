/**
 * One job, validated, defaulted and frozen: the only form in which definitions travel through Kron. Plain JSON data, so
 * that it can be stored, hashed and read by another thread as it is.
 */
import type { SchedulingRule } from "../decision/rule.js";
import type { RequestCarrier } from "./choices.js";

export type Concurrency = "allow" | "forbid" | "replace";

/** S19: until the window ends, whenever in it a period is chosen. */
export const WINDOW_DEADLINE = "window";
export type DeadlineMs = number | typeof WINDOW_DEADLINE;

export interface Policy {
  readonly concurrency: Concurrency;
  /** After the chosen time. */
  readonly deadlineMs: DeadlineMs;
  readonly suspend: boolean;
  /** null: unbounded (S26). */
  readonly maxActive: number | null;
  /** S43. Absent: nothing is tried again. */
  readonly retry?: RetryRule;
  /** S51. Absent: it goes on until somebody stops it. */
  readonly stop?: StopRule;
}

/** S51: what a job stops for by itself; null: not for that. */
export interface StopRule {
  /** In a row. */
  readonly afterFailures: number | null;
  /** Begun by itself; what somebody asks for by hand does not count. */
  readonly afterRuns: number | null;
  /** Epoch milliseconds, in whole seconds: from then on nothing begins. */
  readonly at: number | null;
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
  /** Variables that are read when a process is made ready, and are nowhere on record; `env` goes before them. */
  readonly envSources?: EnvSources;
  /** What the command reads from its standard input; null: nothing. */
  readonly stdin: string | null;
  readonly umask: number | null;
  readonly timeoutMs: number | null;
  readonly output: OutputRule;
}

/** In the order in which they count: credentials before files, the last file before the first, what is passed on last. */
export interface EnvSources {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Names in the daemon's own environment. */
  readonly passed: readonly string[];
  /** By variable: names of credentials that systemd hands to the daemon. */
  readonly credentials: Readonly<Record<string, string>>;
}

export interface OutputRule {
  /** `log`: to a file, and line by line to the daemon's log. */
  readonly to: "file" | "log" | "inherit" | "discard" | "syslog";
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
  /** What the body of an answer with such a status must be. Absent: anything. */
  readonly successBody?: BodyRule;
  /** What requests are signed with; null: they are not. */
  readonly signature: SecretRef | null;
  readonly tls: TlsFiles;
  /** Who carries it out: the daemon, or a worker of the tenant's own who comes for it. */
  readonly by: RequestCarrier;
}

/** `pointer`: RFC 6901, into the JSON that the body is. */
export type BodyRule =
  | { readonly kind: "contains"; readonly text: string }
  | { readonly kind: "equals"; readonly pointer: string; readonly value: string | number | boolean | null };

/** Where a secret is found when it is needed. `sealed`: the name is the secret itself, which this daemon alone can open. */
export interface SecretRef {
  readonly from: "file" | "env" | "sealed";
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

/**
 * What people are told of a job. Of these, `failure`, `missed` and `late` are troubles that begin, `recovered` is their end;
 * the others are told of every run.
 */
export const NOTIFY_OCCASIONS = ["failure", "missed", "recovered", "late", "start", "success", "output"] as const;
export type NotifyOccasion = (typeof NOTIFY_OCCASIONS)[number];

export type NotifyTarget =
  | { readonly kind: "command"; readonly argv: readonly string[] }
  | { readonly kind: "webhook"; readonly http: HttpTarget; readonly format: "kron" | "alertmanager" }
  | { readonly kind: "mail"; readonly to: readonly string[] };

/** Who is told of what. */
export interface NotifyRule {
  readonly on: readonly NotifyOccasion[];
  /** Whether every failed or missed run is told, and not only the first after a sound one. */
  readonly repeat: boolean;
  /** No run has succeeded for this long: the dead man's switch; null: nobody asks. */
  readonly lateMs: number | null;
  /** Runs in a row that fail before that is told. Absent: the first of them. */
  readonly after?: number;
  readonly target: NotifyTarget;
}

export interface JobDefinition extends SchedulingRule {
  readonly policy: Policy;
  /** S49: whose nodes run it. Absent: any. */
  readonly pool?: string;
  readonly target: Target;
  readonly notify: readonly NotifyRule[];
  readonly description: string;
  readonly tags: readonly string[];
}
