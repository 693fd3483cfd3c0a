/** What a kind of constraint has to say of itself. Each stands in a file of its own, and `table.ts` has a row for each. */
import type { Problem } from "../../base/problem.js";
import { MINUTE_MS } from "../../time/instant.js";
import type { Piece } from "./pieces.js";

/** Ranges are inclusive. A range with `from > to` wraps, where its kind lets it. */
export interface IntRange {
  readonly from: number;
  readonly to: number;
}

export interface ConstraintKind {
  /** What may stand before the `=`. Two words are two spellings of one kind. */
  readonly words: readonly string[];
  /** One element of the list behind `word=`; null when it is wrong, which is noted. */
  read(word: string, element: Piece, problems: Problem[]): IntRange | null;
  /** The canonical text of a whole clause; `read` reads its elements back. */
  format(ranges: readonly IntRange[]): string;
  /** What of a candidate its ranges are held against: its wall clock as days since 1970 and the minute of that day. */
  judged(days: number, minute: number): number;
  /** How often at most its mind changes on a wall clock, for those who look at a whole window. */
  readonly grainMs: number;
}

/** For kinds that change their mind at whole hours: of zones a quarter of an hour apart. */
export const QUARTER_MS = 15 * MINUTE_MS;

export function rangeOf(from: number, to: number): IntRange {
  return Object.freeze({ from, to });
}
