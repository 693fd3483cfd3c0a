/**
 * What the launcher is asked for: a process that waits behind a gate and becomes its command under the same PID (S23), so
 * that the daemon creates, releases and ends processes without ever forking itself.
 */
import type { EnvSources } from "../../core/job/definition.js";
import type { OutputPlan } from "../runner/output.js";
import type { RunnerOf } from "../runner/runner-of.js";

export type { OutputLabel, OutputPlan, RunOutput } from "../runner/output.js";

export type Command =
  | { readonly kind: "argv"; readonly argv: readonly string[] }
  /** For `/bin/sh -c`. */
  | { readonly kind: "shell"; readonly text: string };

/** Variables that are on no record. */
export interface SourcedEnv extends EnvSources {
  /** Names in `env` that the definition gives, and that nothing read elsewhere replaces. */
  readonly kept: readonly string[];
}

export interface ProcessArm {
  readonly kind: "process";
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
  /** What is to be read and added; whoever hands the request on to a launcher process has done so, and taken it out. */
  readonly envSources?: SourcedEnv;
  /** Adds HOME, LOGNAME, USER and SHELL of the account where `env` has none. */
  readonly accountEnv: boolean;
  /** Soft limit of open files; lowered to the hard limit where that is smaller (S34). */
  readonly openFiles: number;
  /** null: nothing to read. */
  readonly stdin: string | null;
  readonly output: OutputPlan;
}

/** A process of ours, as launchers name it to each other. */
export interface GatedRun {
  readonly attemptId: string;
  readonly pid: number;
  /** S27: with it the PID names one process of this boot. */
  readonly startTicks: number;
}

/** Why the launcher itself ended a run, or knows that the command never took its gate's place (S24); null: it did not. */
export type ExitCause = "output-exceeded" | "exec-failed" | null;

export interface Launcher extends RunnerOf<ProcessArm> {
  /** How many processes can wait at a time. */
  readonly maxArmed: number;
}
