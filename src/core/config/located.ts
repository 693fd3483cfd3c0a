/** What readers of configuration give back: jobs and problems, each with its place in a file. */

import type { Problem } from "../base/problem.js";
import type { JobDefinition } from "../job/definition.js";
import type { SettingChange } from "./settings.js";

/** One-based; columns count UTF-16 units, as editors do. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface LocatedJob extends Place {
  readonly definition: JobDefinition;
}

export interface LocatedProblem extends Place {
  readonly problem: Problem;
  /** How much of the line the trouble covers; at least 1. */
  readonly length: number;
  /** The job in question, as far as it is known. */
  readonly identity: string | null;
}

/** What others than its reader hold against a sound job, each with the path of the field that it is about. */
export type Against = (identity: string) => readonly Problem[];

/** In the order of the file. */
export function byPlace(a: Place, b: Place): number {
  return a.line - b.line || a.column - b.column;
}

export interface LocatedSetting extends Place, SettingChange {}

export interface ConfigReading {
  readonly jobs: readonly LocatedJob[];
  readonly settings: readonly LocatedSetting[];
  readonly problems: readonly LocatedProblem[];
}

/** A stretch of the source text, as offsets in UTF-16 units. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Finds the line of an offset; built only when a place is asked for, because most texts are in order. */
export class LineIndex {
  readonly #text: string;
  #starts: readonly number[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  placeOf({ start, end }: Stretch): { readonly line: number; readonly column: number; readonly length: number } {
    const starts = this.#lineStarts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= start) low = middle;
      else high = middle - 1;
    }
    const lineStart = starts[low] as number;
    const lineEnd = (starts[low + 1] ?? this.#text.length + 1) - 1;
    return { line: low + 1, column: start - lineStart + 1, length: Math.max(1, Math.min(end, lineEnd) - start) };
  }

  /** The text of a one-based line, without its end. */
  lineText(line: number): string | null {
    const starts = this.#lineStarts();
    const start = starts[line - 1];
    if (start === undefined) return null;
    return this.#text.slice(start, (starts[line] ?? this.#text.length + 1) - 1).replace(/\r$/, "");
  }

  #lineStarts(): readonly number[] {
    if (this.#starts !== null) return this.#starts;
    const starts = [0];
    for (let at = this.#text.indexOf("\n"); at >= 0; at = this.#text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.#starts = starts;
    return starts;
  }
}
