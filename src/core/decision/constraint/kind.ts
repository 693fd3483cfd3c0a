/** What a kind of constraint has to say of itself. Each stands in a file of its own, and `table.ts` has a row for each. */
import type { Problem } from "../../base/problem.js";
import { MINUTE_MS } from "../../time/instant.js";
import type { Calendars } from "./calendars.js";
import { type Piece, problem, split } from "./pieces.js";
import type { IntRange } from "./range.js";

export type { IntRange } from "./range.js";

/** What a clause says beside its kind. */
export interface ClauseBody {
  readonly ranges: readonly IntRange[];
  /** Of a kind whose ranges are known to people by a name. */
  readonly name?: string;
}

/** Where a clause is read: what is wrong is noted, and names are looked up. */
export interface ClauseReading {
  readonly problems: Problem[];
  readonly calendars: Calendars;
}

export interface ConstraintKind {
  /** What may stand before the `=`. Two words are two spellings of one kind. */
  readonly words: readonly string[];
  /** All that stands behind `word=`, as the clauses that it means: one, but for names, which are a clause each. */
  read(word: string, value: Piece, reading: ClauseReading): readonly ClauseBody[];
  /** The canonical text of a whole clause; `read` reads it back, wherever that is. */
  format(body: ClauseBody): string;
  /**
   * The same for people, where the canonical text may be too long for them; with a value, of a clause that has just
   * matched it. Absent: the canonical text.
   */
  readonly brief?: (body: ClauseBody, value: number | null) => string;
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

/** Bounds the work of judging one candidate. */
export const RANGES_PER_CLAUSE = 1024;

/** Reads a list of elements between commas, each of which is a range, as one clause. */
export function listOf(
  readElement: (word: string, element: Piece, problems: Problem[]) => IntRange | null,
): ConstraintKind["read"] {
  return (word, value, { problems }) => {
    const elements = split(value, ",");
    if (elements.length > RANGES_PER_CLAUSE) {
      const message = `${elements.length} values in one clause, more than the limit of ${RANGES_PER_CLAUSE}`;
      problems.push(problem("limit-exceeded", value, message));
      return [];
    }
    const ranges = elements.map((element) => readElement(word, element, problems)).filter((range) => range !== null);
    return [{ ranges: Object.freeze(ranges) }];
  };
}

/** The same numbers in their order, with what touches put together. For ranges that do not wrap. */
export function mergedRanges(ranges: readonly IntRange[]): readonly IntRange[] {
  const merged: IntRange[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to + 1) merged.push(rangeOf(from, to));
    else if (to > last.to) merged[merged.length - 1] = rangeOf(last.from, to);
  }
  return Object.freeze(merged);
}
