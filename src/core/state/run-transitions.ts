/**
 * The transitions of a run after its claim. They never touch what was handled, and they clear an entry only when period
 * and process are exactly the ones that ended (S22): a late report of an old run must not erase a newer one.
 */
import { isHandled } from "../period/periods.js";
import type { RunKey } from "../period/policy.js";
import { type EpochMs, formatInstant, instantOrNull, parseInstant, wholeSecondsFrom } from "../time/instant.js";
import {
  type ActiveState,
  activeStates,
  type HistoryEntry,
  isSameRun,
  keyOf,
  lastHandledAt,
  type StateDocument,
} from "./document.js";
import { type Ending, endingFields } from "./ending.js";
import { retryField } from "./facts.js";
import { appendHistory } from "./history.js";
import { NOT_RETRIED, type Retried, retryAfter } from "./retry.js";
import { sealed, type Transition, unchanged } from "./transition.js";

/** A run ended. A report of a run that is not on record changes nothing: it was recorded before. */
export function completeRun(
  document: StateDocument,
  run: RunKey,
  ending: Ending,
  now: EpochMs,
  historyLimit: number,
  retried: Retried = NOT_RETRIED,
): Transition {
  const ended = activeStates(document).find((active) => isSameRun(keyOf(active), run));
  if (ended === undefined) {
    return unchanged(document);
  }
  const rest = activeStates(document).filter((active) => active !== ended);
  const history = appendHistory(document, entryOf(ended, ending, now), historyLimit);
  const next = { ...withActive(startedCounts(document, ended), rest), History: history };
  const holder = ended.Holder ?? "process";
  const identity = document.Identity;
  const endedAt = completedAt(ended, now);
  const fact = { kind: "run_ended", identity, run, holder, ending, endedAt, ...retryField(ended), at: now } as const;
  const again = retryAfter(document, ended, ending, retried, now);
  if (again === null || retried.rule === null) return sealed(document, next, fact);
  const planned = { kind: "retry_planned", identity, retry: again, of: retried.rule.limit + 1, at: now } as const;
  return sealed(document, { ...next, Retry: again }, fact, planned);
}

/**
 * S12: a period that was started is handled, also where whoever wrote the document put only the run on record: when that
 * is gone, nothing else would say so. One that Kron claimed had its outcome in the same transaction (S22); if that is not
 * on record any more, it was taken back (S32).
 */
function startedCounts(document: StateDocument, ended: ActiveState): StateDocument {
  const { AttemptID, Source, PeriodID, ChosenTime } = ended;
  const at = parseInstant(PeriodID);
  if (AttemptID !== undefined || Source !== undefined || !at.ok || isHandled(lastHandledAt(document), at.value))
    return document;
  const { LastReason: _, ...rest } = document;
  const periodId = formatInstant(at.value);
  const last = { LastHandledPeriodID: periodId, LastOutcome: "executed", LastNominalTime: periodId } as const;
  return { ...rest, ...last, LastChosenTime: ChosenTime };
}

/**
 * S23: the command is known to run in place of its gate. Nothing waits for it to be on record: it is written by the way.
 * Of a request it would say nothing: it is never adopted, and never sent again.
 */
export function confirmRun(document: StateDocument, run: RunKey): StateDocument {
  const runs = activeStates(document);
  const isUnconfirmed = (active: ActiveState): boolean =>
    active.Confirmed !== true && active.Holder === undefined && isSameRun(keyOf(active), run);
  if (!runs.some(isUnconfirmed)) {
    return document;
  }
  return withActive(
    document,
    runs.map((active) => (isUnconfirmed(active) ? { ...active, Confirmed: true } : active)),
  );
}

/** S26: the newest that is left becomes ActiveExecution. */
function withActive(document: StateDocument, runs: readonly ActiveState[]): StateDocument {
  const { OtherActive: _, ...rest } = document;
  const [newest, ...older] = runs;
  const next = { ...rest, ActiveExecution: newest ?? null };
  return older.length === 0 ? next : { ...next, OtherActive: older };
}

/** In whole seconds from its start: where that is a slot's own instant, it would end before it has begun otherwise. */
function completedAt({ StartedAt }: ActiveState, now: EpochMs): EpochMs {
  return wholeSecondsFrom(instantOrNull(StartedAt) ?? 0, now);
}

function entryOf(active: ActiveState, ending: Ending, now: EpochMs): HistoryEntry {
  const { exit_code: code, signal, reason, status = null, duration_ms: durationMs } = endingFields(ending);
  return {
    PeriodID: active.PeriodID,
    Outcome: "executed",
    NominalTime: active.PeriodID,
    ChosenTime: active.ChosenTime,
    CompletedAt: formatInstant(completedAt(active, now)),
    ExitCode: code,
    ...(reason === null ? {} : { Reason: reason }),
    StartedAt: active.StartedAt,
    ...(signal === null ? {} : { Signal: signal }),
    ...(active.Source === undefined ? {} : { Source: active.Source }),
    ...(active.Holder === undefined ? {} : { Holder: active.Holder }),
    ...(status === null ? {} : { Status: status }),
    ...(durationMs === undefined ? {} : { DurationMs: durationMs }),
    ...(active.RetryOf === undefined ? {} : { RetryOf: active.RetryOf }),
    ...(active.Attempt === undefined ? {} : { Attempt: active.Attempt }),
  };
}
