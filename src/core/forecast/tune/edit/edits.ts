/** Changes to a text that leave everything else as it is, to the byte. */
import type { WindowRule } from "../../../decision/rule.js";

/** Puts `text` in the place of `[start, end)`; neither reaches beyond one line of the source. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where a job is written, and how it would be written otherwise. */
export interface JobSite {
  /** One-based. */
  readonly line: number;
  /** Whether the job itself says something about its window; not what it takes from the defaults of the file. */
  readonly hasOwnWindow: boolean;
  /** null when that cannot be written here without a change to something else. */
  windowEdit(window: WindowRule): TextEdit | null;
  saltEdit(salt: string): TextEdit | null;
  deadlineEdit(deadlineMs: number): TextEdit | null;
}

export type JobSites = ReadonlyMap<string, JobSite>;

/** In the order of the text; at one place in the order given. */
export function sortEdits(edits: readonly TextEdit[]): readonly TextEdit[] {
  return [...edits].sort((a, b) => a.start - b.start);
}

export function applyEdits(source: string, edits: readonly TextEdit[]): string {
  let text = "";
  let at = 0;
  for (const edit of sortEdits(edits)) {
    text += source.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + source.slice(at);
}

export function insertion(at: number, text: string): TextEdit {
  return { start: at, end: at, text };
}
