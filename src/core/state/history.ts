/** Past runs of a document, and their texts. A list is never changed: another run makes another list. */
import type { HistoryEntry, StateDocument } from "./document.js";
import { withUnknown } from "./unknown-fields.js";

type History = readonly HistoryEntry[];

/** The texts of entries with commas between them, and how long each of them is. */
interface HistoryText {
  readonly text: string;
  readonly lengths: readonly number[];
}

/** Most of a document is its history, of which a run changes one entry: the others are not made into texts anew. */
const TEXTS = new WeakMap<History, HistoryText>();

/** The oldest entries are dropped first. History is for people: no rule reads it. */
export function appendHistory(document: StateDocument, entry: HistoryEntry, limit: number): History {
  const kept = Math.max(0, limit);
  if (kept === 0) return [];
  const before = document.History;
  const history = [...before, entry].slice(-kept);
  const known = TEXTS.get(before);
  if (known !== undefined) TEXTS.set(history, appended(known, before.length + 1 - history.length, entryText(entry)));
  return history;
}

/** As it stands in the text of a document. */
export function historyText(history: History): string {
  const known = TEXTS.get(history) ?? textOf(history);
  TEXTS.set(history, known);
  return `[${known.text}]`;
}

/**
 * The history was read from this document: its entries stand there as they would be written, and need not be made into texts
 * again. Where they have braces inside, or the newest stands in another form than Kron's own (S30), all of them are: whoever
 * wrote it has written the others, for a document is written as a whole.
 */
export function keepHistoryText(history: History, documentText: string): void {
  const newest = history.at(-1);
  const found = newest === undefined ? null : historyIn(documentText, history);
  if (newest === undefined || found === null) return;
  const own = entryText(newest);
  if (found.lengths.at(-1) === own.length && found.text.endsWith(own)) TEXTS.set(history, found);
}

function textOf(history: History): HistoryText {
  const texts = history.map(entryText);
  return { text: texts.join(","), lengths: texts.map(({ length }) => length) };
}

/** Without the first `dropped` entries, and with one more at the end. */
function appended({ text, lengths }: HistoryText, dropped: number, entry: string): HistoryText {
  const rest = lengths.slice(dropped);
  if (rest.length === 0) return { text: entry, lengths: [entry.length] };
  // Each one is followed by a comma.
  const start = lengths.slice(0, dropped).reduce((sum, length) => sum + length + 1, 0);
  return { text: `${text.slice(start)},${entry}`, lengths: [...rest, entry.length] };
}

const HISTORY = ',"History":[';
const FIRST_FIELD = '{"PeriodID":"';

/** Each brace that opens is the beginning of an entry, right behind the end of the one before; or it is not found out. */
function historyIn(text: string, history: History): HistoryText | null {
  const found = text.indexOf(HISTORY);
  const start = found + HISTORY.length;
  const end = found < 0 ? -1 : text.indexOf("]", start);
  if (end < 0) return null;
  const lengths: number[] = [];
  let at = start;
  for (const { PeriodID } of history) {
    if (!text.startsWith(FIRST_FIELD, at) || !text.startsWith(`${PeriodID}"`, at + FIRST_FIELD.length)) return null;
    const brace = text.indexOf("{", at + 1);
    const isLast = brace < 0 || brace > end;
    const entryEnd = isLast ? end : brace - 1;
    if (!text.startsWith(isLast ? "}]" : "},", entryEnd - 1)) return null;
    lengths.push(entryEnd - at);
    at = entryEnd + 1;
  }
  return at === end + 1 ? { text: text.slice(start, end), lengths } : null;
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
