/**
 * How the last runs of a job went, from the text of its document. At a restart that is asked of every job, and nearly always
 * the newest of them succeeded: then that one entry is all there is to read.
 */
import { isInStatuses, USUAL_SUCCESS } from "../job/status-reader.js";
import { storedDefinition } from "../job/stored.js";
import type { HistoryEntry } from "../state/document.js";
import { resultOf } from "../state/ending.js";
import { parseDocument } from "../state/parse.js";
import { endingOf, isRun, timesOf } from "../state/past-runs.js";
import { hasUsualSuccess, newestEntryText } from "./cut.js";
import { expectedBy, type IsExpected, NEVER_RAN, type Past, pastOf } from "./glance.js";

interface PastTexts {
  /** Of the document. */
  readonly key: string;
  readonly documentText: string;
  readonly definitionText: string;
  /** Kron wrote the document itself, and it is as it was written. */
  readonly isOwn: boolean;
}

export function pastIn({ key, documentText, definitionText, isOwn }: PastTexts): Past {
  const isExpected = expectedIn(definitionText);
  if (!isOwn) {
    const read = parseDocument(documentText, key);
    return read.ok ? pastOf(read.value.History, isExpected) : NEVER_RAN;
  }
  const text = newestEntryText(documentText);
  if (text === "") return NEVER_RAN;
  const newest = text === null ? null : entryOrNull(text);
  if (newest !== null && isRun(newest) && resultOf(endingOf(newest, isExpected)) === "success") {
    return { result: "success", failures: 0, ...timesOf(newest) };
  }
  const { History } = JSON.parse(documentText) as { readonly History: readonly HistoryEntry[] };
  return pastOf(History, isExpected);
}

function entryOrNull(text: string): HistoryEntry | null {
  try {
    return JSON.parse(text) as HistoryEntry;
  } catch {
    return null;
  }
}

/** The definition is read only where an answer was given that few jobs wait for. */
function expectedIn(definitionText: string): IsExpected {
  if (hasUsualSuccess(definitionText)) return (status) => isInStatuses(status, USUAL_SUCCESS);
  return (status) => {
    const definition = storedDefinition(definitionText);
    return definition !== null && expectedBy(definition)(status);
  };
}
