/** The runs that a document remembers, and how each of them ended. */

import { type EpochMs, instantOrNull } from "../time/instant.js";
import type { HistoryEntry } from "./document.js";
import { BODY_UNEXPECTED, type Ending, isUnseenReason, readEnding } from "./ending.js";

/** The others are periods without a run. */
export function isRun({ Outcome, StartedAt }: HistoryEntry): boolean {
  return Outcome === "executed" && StartedAt !== undefined;
}

/** null: not known. A document has whole seconds between them, but for how long a request took. */
export interface RunTimes {
  readonly durationMs: number | null;
  /** From the second that was chosen for it until it began. */
  readonly lateMs: number | null;
}

export function timesOf({ ChosenTime, StartedAt, CompletedAt, DurationMs }: HistoryEntry): RunTimes {
  const startedAt = instantOrNull(StartedAt);
  const tookMs = DurationMs ?? between(startedAt, instantOrNull(CompletedAt));
  return { durationMs: tookMs, lateMs: between(instantOrNull(ChosenTime), startedAt) };
}

/** A clock that was set back in between makes nothing shorter than nothing. */
function between(from: EpochMs | null, to: EpochMs | null): number | null {
  return from === null || to === null ? null : Math.max(0, to - from);
}

/** `isExpected` judges the status of an answer, which the history does not. */
export function endingOf(entry: HistoryEntry, isExpected: (status: number) => boolean): Ending {
  const { ExitCode: exit_code, Signal: signal = null, Reason: reason = null, Holder, Status } = entry;
  if (Holder !== "request") return readEnding({ exit_code, signal, reason });
  const measured = { duration_ms: entry.DurationMs, status: Status ?? null };
  // A whole answer has no reason, but that of its body or the one for which we ended the run.
  if (Status !== undefined && reason === null) return readEnding({ ...measured, success: isExpected(Status) });
  if (Status !== undefined && reason === BODY_UNEXPECTED) return readEnding({ ...measured, success: false, reason });
  return isUnseenReason(reason) ? readEnding({ reason }) : readEnding({ ...measured, sent: true, reason });
}
