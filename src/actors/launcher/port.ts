/**
 * The launcher port: how the daemon creates, releases and ends processes without ever forking itself. `arm` prepares a
 * process that waits behind a gate, `go` lets it become its command under the same PID, and between the two the claim is
 * written (S23). The simulated launcher passes the same contract suite.
 */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";

export type Command =
  | { readonly kind: "argv"; readonly argv: readonly string[] }
  /** For `/bin/sh -c`. */
  | { readonly kind: "shell"; readonly text: string };

export type OutputPlan =
  | {
      readonly to: "file";
      /** Created with mode 0700 where it is missing. */
      readonly directory: string;
      /** New for every attempt; names must sort in the order of the runs, because rotation keeps the greatest. */
      readonly name: string;
      readonly maxBytes: number;
      /** Files left in the directory, running ones included. */
      readonly keep: number;
      readonly onExcess: "drop-middle" | "kill";
      /** For `kill`: from TERM to KILL. */
      readonly killGraceMs: number;
    }
  /** The daemon's own standard output and error. */
  | { readonly to: "inherit" }
  | { readonly to: "discard" }
  | { readonly to: "syslog"; readonly tag: string };

/** Where the words of a run went. */
export interface RunOutput {
  readonly path: string;
  readonly plan: OutputPlan;
}

export interface ArmRequest {
  /** Unique for all time; also the value of `KRON_ATTEMPT_ID` in `env`, by which stray descendants are found (S28). */
  readonly attemptId: string;
  readonly command: Command;
  /** null: the daemon's own. Others need root and are verified before READY is believed. */
  readonly user: string | null;
  readonly group: string | null;
  /** Absolute; null is the account's home directory, or `/` where that does not exist. */
  readonly cwd: string | null;
  /** null: 022. */
  readonly umask: number | null;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Adds HOME, LOGNAME, USER and SHELL of the account where `env` has none. */
  readonly accountEnv: boolean;
  /** Soft limit of open files; lowered to the hard limit where that is smaller (S34). */
  readonly openFiles: number;
  /** null: nothing to read. */
  readonly stdin: string | null;
  readonly output: OutputPlan;
}

/** A process that waits. It has its final PID, user, directory, limits and output. */
export interface Armed {
  readonly attemptId: string;
  readonly pid: number;
  readonly startTicks: number;
}

/** S24: no process was created, or it could not be made what was asked. Nothing ran. */
export interface ArmFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * - `started`: the gate was passed and the command takes its place; an `exited` event follows one day.
 * - `late`: it was later than `latestAt`; nothing ran (S20: reason `aborted_late`).
 * - `gone`: the gate was closed before it was passed; nothing ran.
 * - `unconfirmed`: contact was lost and no trace of a run was found (S23: reason `start_unconfirmed`).
 * After the last three no event follows.
 */
export type GoOutcome = "started" | "late" | "gone" | "unconfirmed";

/** A run of an earlier daemon (S27, S29). */
export interface AdoptRequest extends Armed {
  readonly bootId: string;
  /** So that the cap holds again; null when that is not known, or it is no file. */
  readonly output: RunOutput | null;
}

/**
 * - `watching`: it is the same process and runs; an `exited` event with exit code null follows.
 * - `never-ran`: it was still waiting behind its gate and has been ended.
 * - `gone`: there is no such process (any more).
 */
export type AdoptOutcome = "watching" | "never-ran" | "gone";

export interface Termination {
  /** Processes of the tree that could not be ended within the bound; empty when all is well. */
  readonly survivors: readonly number[];
  /** Whether TERM was not enough. */
  readonly wasKilled: boolean;
}

export interface Exited {
  readonly kind: "exited";
  readonly attemptId: string;
  readonly pid: number;
  /** null when a signal ended it, or when nobody saw the end (S29). */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly endedAt: EpochMs;
  /** Whether the launcher was its parent, so that `exitCode` and `signal` can be told. */
  readonly wasObserved: boolean;
  /** Set when the launcher itself ended it, or knows that the command never took its gate's place (S24). */
  readonly cause: "output-exceeded" | "exec-failed" | null;
}

/** An armed process that ended before GO: the period stays as open as it was. */
export interface GateLost {
  readonly kind: "gate-lost";
  readonly attemptId: string;
}

/** Something the operator should know of, and that is being dealt with. */
export interface LauncherTrouble {
  readonly kind: "trouble";
  readonly code: ErrorCode;
  readonly message: string;
}

export type LauncherEvent = Exited | GateLost | LauncherTrouble;

export interface Launcher {
  /** How many processes can wait at a time. */
  readonly maxArmed: number;
  arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>>;
  /** `latestAt` is judged in whole seconds, by the gate itself, at the last moment before the command (S20). */
  go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome>;
  /** Ends a process that waits. It never ran and never will. */
  abort(armed: Armed): Promise<void>;
  adopt(request: AdoptRequest): Promise<AdoptOutcome>;
  /** To the process group. False when the process is not there any more. */
  signal(attemptId: string, signal: NodeJS.Signals): Promise<boolean>;
  /** S28: TERM to the whole tree, after `graceMs` KILL, and back when it is verified gone or given up. */
  terminate(attemptId: string, graceMs: number): Promise<Termination>;
  subscribe(listener: (event: LauncherEvent) => void): () => void;
  /** Closes every gate. What runs goes on running (S29). */
  close(): Promise<void>;
}
