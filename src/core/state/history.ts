/** Past runs of a document, and their texts. A list is never changed: another run makes another list. */
import type { HistoryEntry, StateDocument } from "./document.js";
import { withUnknown } from "./unknown-fields.js";

type History = readonly HistoryEntry[];

/** Most of a document is its history, of which a run changes one entry: the others are not made into texts anew. */
const TEXTS = new WeakMap<History, readonly string[]>();

/** The oldest entries are dropped first. History is for people: no rule reads it. */
export function appendHistory(document: StateDocument, entry: HistoryEntry, limit: number): History {
  const kept = Math.max(0, limit);
  if (kept === 0) return [];
  const history = [...document.History, entry].slice(-kept);
  const texts = TEXTS.get(document.History);
  if (texts !== undefined) TEXTS.set(history, [...texts, entryText(entry)].slice(-kept));
  return history;
}

/** As it stands in the text of a document. */
export function historyText(history: History): string {
  const known = TEXTS.get(history);
  const texts = known ?? history.map(entryText);
  if (known === undefined) TEXTS.set(history, texts);
  return `[${texts.join(",")}]`;
}

function entryText(entry: HistoryEntry): string {
  // JSON.stringify leaves out what is undefined: exactly the additive fields that are absent.
  const ordered: Record<keyof HistoryEntry, unknown> = {
    PeriodID: entry.PeriodID,
    Outcome: entry.Outcome,
    NominalTime: entry.NominalTime,
    ChosenTime: entry.ChosenTime,
    CompletedAt: entry.CompletedAt,
    ExitCode: entry.ExitCode,
    Reason: entry.Reason,
    StartedAt: entry.StartedAt,
    Signal: entry.Signal,
    Source: entry.Source,
    Holder: entry.Holder,
    Status: entry.Status,
    DurationMs: entry.DurationMs,
    RetryOf: entry.RetryOf,
    Attempt: entry.Attempt,
  };
  return JSON.stringify(withUnknown(ordered, entry));
}
