/**
 * What every runner answers to, whatever it is a runner of: `arm` prepares a run that waits, `go` lets it begin, and between
 * the two its claim is written (S23).
 */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Result } from "../../core/base/result.js";
import type { Ending, Holder, HolderKind } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { RunOutput } from "./output.js";

/** It waits. Who will hold the run is settled. */
export interface Armed {
  readonly attemptId: string;
  readonly holder: Holder;
}

/** S24: it could not be made what was asked. Nothing ran. */
export interface ArmFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * - `started`: it was let go; an `ended` event follows one day.
 * - `late`: it was later than `latestAt`; nothing ran (S20: reason `aborted_late`).
 * - `gone`: it was closed before it was let go; nothing ran.
 * - `unconfirmed`: contact was lost and no trace of a run was found (S23: reason `start_unconfirmed`).
 * After the last three no event follows.
 */
export type GoOutcome = "started" | "late" | "gone" | "unconfirmed";

/** A run of an earlier daemon (S27, S29). */
export interface AdoptRequest extends Armed {
  /** So that the cap holds again; null when that is not known, or it is no file. */
  readonly output: RunOutput | null;
}

/**
 * - `watching`: it goes on; an `ended` event of an end that nobody saw follows.
 * - `never-ran`: it was still waiting and has been ended.
 * - `gone`: there is nothing of it (any more).
 */
export type AdoptOutcome = "watching" | "never-ran" | "gone";

export interface Termination {
  /** Processes of the tree that could not be ended within the bound; empty when all is well. */
  readonly survivors: readonly number[];
  /** Whether asking was not enough. */
  readonly wasKilled: boolean;
}

export interface Ended {
  readonly kind: "ended";
  readonly attemptId: string;
  readonly pid: number;
  readonly ending: Ending;
}

/** What waited ended before GO: the period stays as open as it was. */
interface GateLost {
  readonly kind: "gate-lost";
  readonly attemptId: string;
}

/** Something the operator should know of, and that is being dealt with. */
interface RunnerTrouble {
  readonly kind: "trouble";
  readonly code: ErrorCode;
  readonly message: string;
}

export type RunnerEvent = Ended | GateLost | RunnerTrouble;

/** How many can wait at a time, by who holds them. */
export type Capacity = Readonly<Partial<Record<HolderKind, number>>>;

export interface RunnerOf<Request> {
  readonly capacity: Capacity;
  arm(request: Request): Promise<Result<Armed, ArmFailure>>;
  /** `latestAt` is judged in whole seconds, at the last moment before anything begins (S20). */
  go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome>;
  /** Ends one that waits. It never ran and never will. */
  abort(armed: Armed): Promise<void>;
  adopt(request: AdoptRequest): Promise<AdoptOutcome>;
  /** S28: all of it is asked to end, after `graceMs` it is ended, and back when it is verified gone or given up. */
  terminate(attemptId: string, graceMs: number): Promise<Termination>;
  subscribe(listener: (event: RunnerEvent) => void): () => void;
  /** Closes what waits. What can outlive the daemon goes on (S29). */
  close(): Promise<void>;
}
