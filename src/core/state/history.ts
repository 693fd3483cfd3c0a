import type { HistoryEntry, StateDocument } from "./document.js";

/** The oldest entries are dropped first. History is for people: no rule reads it. */
export function appendHistory(document: StateDocument, entry: HistoryEntry, limit: number): readonly HistoryEntry[] {
  const kept = Math.max(0, limit);
  return kept === 0 ? [] : [...document.History, entry].slice(-kept);
}
