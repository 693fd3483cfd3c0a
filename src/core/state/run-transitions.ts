/**
 * The transitions of a run after its claim. They never touch what was handled, and they clear an entry only when period
 * and process are exactly the ones that ended (S22): a late report of an old run must not erase a newer one.
 */
import type { RunKey } from "../period/policy.js";
import { type EpochMs, formatSecond } from "../time/instant.js";
import { type ActiveState, activeStates, type HistoryEntry, isSameRun, keyOf, type StateDocument } from "./document.js";
import { appendHistory } from "./history.js";
import { sealed, type Transition, unchanged } from "./transition.js";

export interface RunEnding {
  /** null: nobody saw it. Success is never assumed. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why the run ended when the command did not end by itself, or why its end is unknown. */
  readonly reason: string | null;
}

/** S23: the end of a run that cannot be shown to have begun. */
export const START_UNCONFIRMED: RunEnding = { exitCode: null, signal: null, reason: "start_unconfirmed" };
/** S20: the gate was told to go too late and did not run the command. */
export const ABORTED_LATE: RunEnding = { exitCode: null, signal: null, reason: "aborted_late" };
/** S29: the run ended while nobody was watching. */
export const EXIT_UNSEEN: RunEnding = { exitCode: null, signal: null, reason: "exit_unseen" };

/** A run ended. A report of a run that is not on record changes nothing: it was recorded before. */
export function completeRun(
  document: StateDocument,
  run: RunKey,
  ending: RunEnding,
  now: EpochMs,
  historyLimit: number,
): Transition {
  const ended = activeStates(document).find((active) => isSameRun(keyOf(active), run));
  if (ended === undefined) {
    return unchanged(document);
  }
  const rest = activeStates(document).filter((active) => active !== ended);
  const history = appendHistory(document, entryOf(ended, ending, now), historyLimit);
  const next = { ...withActive(document, rest), History: history };
  return sealed(document, next, { kind: "run_ended", identity: document.Identity, run, ...ending, at: now });
}

/** S23: the command is known to run in place of its gate. Nothing waits for it to be on record: it is written by the way. */
export function confirmRun(document: StateDocument, run: RunKey): StateDocument {
  const runs = activeStates(document);
  if (!runs.some((active) => isSameRun(keyOf(active), run) && active.Confirmed !== true)) {
    return document;
  }
  return withActive(
    document,
    runs.map((active) => (isSameRun(keyOf(active), run) ? { ...active, Confirmed: true } : active)),
  );
}

/** S26: the newest that is left becomes ActiveExecution. */
function withActive(document: StateDocument, runs: readonly ActiveState[]): StateDocument {
  const { OtherActive: _, ...rest } = document;
  const [newest, ...older] = runs;
  const next = { ...rest, ActiveExecution: newest ?? null };
  return older.length === 0 ? next : { ...next, OtherActive: older };
}

function entryOf(active: ActiveState, ending: RunEnding, now: EpochMs): HistoryEntry {
  return {
    PeriodID: active.PeriodID,
    Outcome: "executed",
    NominalTime: active.PeriodID,
    ChosenTime: active.ChosenTime,
    CompletedAt: formatSecond(now),
    ExitCode: ending.exitCode,
    ...(ending.reason === null ? {} : { Reason: ending.reason }),
    StartedAt: active.StartedAt,
    ...(ending.signal === null ? {} : { Signal: ending.signal }),
    ...(active.Source === undefined ? {} : { Source: active.Source }),
  };
}
