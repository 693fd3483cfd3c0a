/** The newest rows of a history that comes job after job: so many of them are kept, whatever there is. */
import { compareNames } from "../../core/base/identity.js";
import { type EpochMs, parseInstant } from "../../core/time/instant.js";
import type { HistoryWishes } from "../../operations/records/history.js";
import type { AllHistoryPage, JobHistoryRow } from "../../operations/records/history-of-all.js";

type AskPage = (request: HistoryWishes & { readonly cursor: string | null }) => Promise<AllHistoryPage>;

export async function newestOf(limit: number, wishes: HistoryWishes, ask: AskPage): Promise<readonly JobHistoryRow[]> {
  let rows: JobHistoryRow[] = [];
  let cursor: string | null = null;
  let { sinceAt } = wishes;
  do {
    const page: AllHistoryPage = await ask({ ...wishes, ...(sinceAt === undefined ? {} : { sinceAt }), cursor });
    rows = [...rows, ...page.rows].sort(newestFirst).slice(0, limit);
    const oldest = rows[limit - 1];
    // What is older than the last one that has a place need not even be looked at.
    if (oldest !== undefined) sinceAt = Math.max(sinceAt ?? Number.NEGATIVE_INFINITY, instantOf(oldest));
    cursor = page.next;
  } while (cursor !== null);
  return rows;
}

function newestFirst(one: JobHistoryRow, other: JobHistoryRow): number {
  const [left, right] = [instantOf(one), instantOf(other)];
  if (left !== right) return right - left;
  return compareNames(one.identity, other.identity);
}

function instantOf({ period_id }: JobHistoryRow): EpochMs {
  const at = parseInstant(period_id);
  return at.ok ? at.value : 0;
}
