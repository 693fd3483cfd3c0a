/** The runs that a document remembers, and how each of them ended. */
import type { HistoryEntry } from "./document.js";
import { type Ending, readEnding } from "./ending.js";

/** The others are periods without a run. */
export function isRun({ Outcome, StartedAt }: HistoryEntry): boolean {
  return Outcome === "executed" && StartedAt !== undefined;
}

/** `isExpected` judges the status of an answer, which the history does not. */
export function endingOf(entry: HistoryEntry, isExpected: (status: number) => boolean): Ending {
  const { ExitCode: exit_code, Signal: signal = null, Reason: reason = null, Holder, Status } = entry;
  if (Holder !== "request") return readEnding({ exit_code, signal, reason });
  const measured = { duration_ms: entry.DurationMs, status: Status ?? null };
  // A whole answer has no reason, but the one for which we ended the run.
  if (Status !== undefined && reason === null) return readEnding({ ...measured, success: isExpected(Status) });
  return reason === "exit_unseen" ? readEnding({ reason }) : readEnding({ ...measured, sent: true, reason });
}
