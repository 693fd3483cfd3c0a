/**
 * The state document of one identity: the schema of STATE, its keys in its order, additive optional fields after them
 * (S30). It records what happened, never what is going to: decisions are recomputed, not persisted.
 */
import type { Clamp, HintsInForce } from "../governor/governor.js";
import { type ActiveRun, isSlotTaken, type JobStanding, type RunKey } from "../period/policy.js";
import { type EpochMs, knownInstant } from "../time/instant.js";
import type { Holder, RemoteHolder } from "./ending.js";

export const STATE_VERSION = "1";

export const OUTCOMES = ["executed", "skipped", "missed", "unschedulable"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A run that was claimed for a period or slot and has not been seen to end. */
export interface ActiveState {
  readonly PeriodID: string;
  /** Of a request, the daemon's own: whoever reads it after a crash finds that process gone. */
  readonly PID: number;
  readonly StartedAt: string;
  readonly ChosenTime: string;
  /** S27: field 22 of /proc/PID/stat. */
  readonly PIDStartTicks?: number;
  /** S27: a PID means nothing after a reboot. */
  readonly BootID?: string;
  readonly AttemptID?: string;
  /** S40: absent for the job's own cron periods. */
  readonly Source?: string;
  /** S23: the command is known to have replaced its gate. */
  readonly Confirmed?: boolean;
  /** Absent for a process. */
  readonly Holder?: RemoteHolder["kind"];
  /** S27: a PID means nothing on another node; absent where there is one alone. */
  readonly Node?: string;
  /** S43: of a retry, the period that it is of, and the how manieth attempt it is. */
  readonly RetryOf?: string;
  readonly Attempt?: number;
  /** S41: which bound of the pace has moved it, and what it was before; absent where none has. */
  readonly ClampedBy?: Clamp["by"];
  readonly ClampedFrom?: string;
}

export interface HistoryEntry {
  readonly PeriodID: string;
  readonly Outcome: Outcome;
  readonly NominalTime: string;
  readonly ChosenTime: string;
  readonly CompletedAt: string;
  /** null: no process ran, or nobody saw how it ended. */
  readonly ExitCode: number | null;
  readonly Reason?: string;
  readonly StartedAt?: string;
  readonly Signal?: string;
  readonly Source?: string;
  /** Absent for a process. */
  readonly Holder?: RemoteHolder["kind"];
  /** Of the answer to a request. */
  readonly Status?: number;
  readonly DurationMs?: number;
  readonly RetryOf?: string;
  readonly Attempt?: number;
}

/** S43: the attempt that follows one that failed. */
export interface RetryState {
  readonly PeriodID: string;
  /** From 2. */
  readonly Attempt: number;
  readonly At: string;
}

/** S44: the newest boot of the machine that the job was told of. */
interface BootState {
  readonly ID: string;
  /** What is due of it, and since when. Absent: nothing is, any more. */
  readonly Due?: { readonly Slot: string; readonly Since: string };
}

/** S24, S46: what keeps a period or slot that is due from being started. */
export interface StartFailureState {
  /** `cron`: a period of the schedule. */
  readonly Source: string;
  readonly Slot: string;
  /** Of the registry of errors. */
  readonly Code: string;
  readonly Since: string;
}

export interface PauseState {
  readonly Until: string;
  readonly Reason: string;
  /** Absent: not known. */
  readonly Since?: string;
  /** S17: what is current when it ends may still run; absent: no. */
  readonly CatchUp?: true;
  /** Who wanted it; absent: whoever runs the daemon. */
  readonly By?: string;
}

/** S51: what counts towards the stop of a job, since it was last let go on. Nothing where its definition has no such bound. */
export interface TallyState {
  /** Runs in a row that failed, up to the newest one; absent: none. */
  readonly Failures?: number;
  /** Begun by itself; absent: none. */
  readonly Runs?: number;
}

interface HintState {
  /** S41: over at this instant, strictly. */
  readonly ExpiresAt: string;
  readonly SetAt: string;
  readonly Reason: string;
  /** Who wanted it; absent: whoever runs the daemon. */
  readonly By?: string;
}

/** S41: at most one of each kind. */
export interface HintsState {
  readonly Interval?: HintState & { readonly IntervalMs: number };
  readonly Oneshot?: HintState & { readonly NextRunAt: string };
}

export interface StateDocument {
  readonly Version: string;
  readonly Identity: string;
  /** Empty: no period has been handled yet. */
  readonly LastHandledPeriodID: string;
  readonly LastOutcome: Outcome | "";
  /** Empty when unschedulable. */
  readonly LastChosenTime: string;
  readonly LastNominalTime: string;
  /** null in memory, left out of the text, when nothing is running. */
  readonly ActiveExecution: ActiveState | null;
  /** Oldest first. */
  readonly History: readonly HistoryEntry[];
  /** S26: older runs beside ActiveExecution, newest first. */
  readonly OtherActive?: readonly ActiveState[];
  /** S40: the newest slot claimed, by source. */
  readonly LastSlot?: Readonly<Record<string, string>>;
  /** Why LastOutcome is what it is; absent for `executed`. */
  readonly LastReason?: string;
  /** S14: first sight of the definition in force. */
  readonly DefinedAt?: string;
  /** S14: tells a changed rule from an unchanged one across restarts. */
  readonly DefinitionHash?: string;
  /** S14: the period that was live when the definition changed. */
  readonly CarriedPeriodID?: string;
  /** S17. */
  readonly Pause?: PauseState;
  /** S16: the job is gone from the configuration; what it did is not forgotten. */
  readonly RemovedAt?: string;
  /** S41: when the newest run began, whatever it came from: intervals count from it. */
  readonly LastRunAt?: string;
  readonly Hints?: HintsState;
  /** Periods that were due before are not evaluated: the job was paused, or a hint stood in for the schedule. */
  readonly EvaluatesFrom?: string;
  readonly Retry?: RetryState;
  readonly Boot?: BootState;
  readonly StartFailure?: StartFailureState;
  readonly Tally?: TallyState;
}

export function newDocument(identity: string): StateDocument {
  return {
    Version: STATE_VERSION,
    Identity: identity,
    LastHandledPeriodID: "",
    LastOutcome: "",
    LastChosenTime: "",
    LastNominalTime: "",
    ActiveExecution: null,
    History: [],
  };
}

export function lastHandledAt(document: StateDocument): EpochMs | null {
  return knownOrNull(document.LastHandledPeriodID);
}

export function standingOf(document: StateDocument): JobStanding {
  return {
    lastHandledAt: lastHandledAt(document),
    definedAt: knownOrNull(document.DefinedAt ?? ""),
    carriedAt: knownOrNull(document.CarriedPeriodID ?? ""),
    pausedUntilAt: knownOrNull(document.Pause?.Until ?? ""),
    ...pauseOf(document),
    evaluatesFromAt: knownOrNull(document.EvaluatesFrom ?? ""),
    slots: document.LastSlot,
    lastRunAt: knownOrNull(document.LastRunAt ?? ""),
    hints: hintsOf(document),
    ...(document.Retry === undefined
      ? {}
      : { retry: { nominalAt: knownInstant(document.Retry.PeriodID), at: knownInstant(document.Retry.At) } }),
    ...(document.Boot?.Due === undefined
      ? {}
      : { boot: { slotAt: knownInstant(document.Boot.Due.Slot), at: knownInstant(document.Boot.Due.Since) } }),
  };
}

function pauseOf({ Pause }: StateDocument): Pick<JobStanding, "pausedFromAt" | "catchesUp"> {
  if (Pause === undefined) return {};
  return { pausedFromAt: knownOrNull(Pause.Since ?? ""), catchesUp: Pause.CatchUp === true };
}

/** Everything that runs for this identity, newest first. */
export function activeStates(document: StateDocument): readonly ActiveState[] {
  if (document.ActiveExecution === null) {
    return [];
  }
  return [document.ActiveExecution, ...(document.OtherActive ?? [])];
}

export function activeRuns(document: StateDocument): readonly ActiveRun[] {
  return activeStates(document).map((active) => ({ ...keyOf(active), slotAt: knownInstant(active.PeriodID) }));
}

/** S27: as it is on record. */
export function holderOf(active: ActiveState): Holder {
  const { PID: pid, Holder: kind, PIDStartTicks: startTicks = null, BootID: bootId = null } = active;
  const where = active.Node === undefined ? {} : { node: active.Node };
  return kind === undefined ? { kind: "process", pid, startTicks, bootId, ...where } : { kind, pid, ...where };
}

export function keyOf(active: ActiveState): RunKey {
  const { AttemptID: attemptId = null, Source: source = null, PeriodID: periodId, PID: pid } = active;
  return { attemptId, source, periodId, pid };
}

export function isSameRun(one: RunKey, other: RunKey): boolean {
  if (one.attemptId !== null && other.attemptId !== null) {
    return one.attemptId === other.attemptId;
  }
  return one.pid === other.pid && one.periodId === other.periodId && one.source === other.source;
}

/** S40: S12's rule within one source. */
export function isSlotUsed({ LastSlot }: StateDocument, source: string, slotAt: EpochMs): boolean {
  return isSlotTaken(LastSlot, source, slotAt);
}

/** Absent: none on record. One that has expired is still among them, until somebody looks. */
export function hintsOf({ Hints }: StateDocument): HintsInForce | undefined {
  if (Hints === undefined) return undefined;
  const { Interval, Oneshot } = Hints;
  return {
    interval:
      Interval === undefined ? null : { intervalMs: Interval.IntervalMs, expiresAt: knownInstant(Interval.ExpiresAt) },
    oneshot:
      Oneshot === undefined
        ? null
        : { nextRunAt: knownInstant(Oneshot.NextRunAt), expiresAt: knownInstant(Oneshot.ExpiresAt) },
  };
}

/** Documents are validated when they are read, and written by us otherwise. */
function knownOrNull(text: string): EpochMs | null {
  return text === "" ? null : knownInstant(text);
}
