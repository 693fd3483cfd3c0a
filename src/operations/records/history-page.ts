/** A history cut into pages. Rows are told to the second, so that those of one second are never cut apart. */
import { floorToSecond, knownInstant } from "../../core/time/instant.js";
import type { HistoryRow } from "./history.js";

/** Rows of one second that a page may have more than were asked for. */
export const TOGETHER = 64;

interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** Where to go on: before this instant. null at the end. */
  readonly next: string | null;
}

/** Of up to `limit + TOGETHER` rows, newest first. */
export function historyPage(found: readonly HistoryRow[], limit: number): HistoryPage {
  if (found.length <= limit) return { rows: found, next: null };
  const ahead = secondOf(found[limit]);
  const whole = found.findIndex((row) => secondOf(row) === ahead);
  const behind = found.findIndex((row) => secondOf(row) < ahead);
  // Where all of them are of one second, the page has all of that second.
  const end = whole > 0 ? whole : behind < 0 ? found.length : behind;
  const rows = found.slice(0, end);
  return { rows, next: `${secondOf(rows.at(-1))}` };
}

function secondOf(row: HistoryRow | undefined): number {
  return row === undefined ? Number.NEGATIVE_INFINITY : floorToSecond(knownInstant(row.period_id));
}
