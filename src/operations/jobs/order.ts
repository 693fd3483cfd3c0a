/** Jobs in another order than that of their names: for that all of them have to be seen first. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { type Compare, comparisonOf } from "../../actors/supervisor/rows/job-order.js";
import { compareNames } from "../../core/base/identity.js";
import { type EpochMs, instantOrNull } from "../../core/time/instant.js";

/** Those of a daemon's index, and one for which every job has to be read. */
export const SORTS = ["name", "next", "last", "duration", "lateness", "failures"] as const;
export type Sort = (typeof SORTS)[number];

/** Rows beyond those that are wanted, before the rest is dropped. */
const SPARE_ROWS = 20_000;

interface Ordered {
  readonly rows: readonly JobStatus[];
  /** Of all that came, also those that are not wanted. */
  readonly total: number;
}

/** The first `wanted` in that order, or the other way round; what has never run, or has no next run, is last either way. */
export async function inOrder(
  pages: AsyncIterable<readonly JobStatus[]>,
  sort: Sort,
  wanted: number,
  isReversed = false,
): Promise<Ordered> {
  const byKey = comparison(sort, isReversed);
  let rows: JobStatus[] = [];
  let total = 0;
  for await (const page of pages) {
    rows.push(...page);
    total += page.length;
    if (rows.length >= wanted + SPARE_ROWS) rows = rows.sort(byKey).slice(0, wanted);
  }
  return { rows: rows.sort(byKey).slice(0, wanted), total };
}

function comparison(sort: Sort, isReversed: boolean): Compare {
  if (sort !== "last") return comparisonOf({ sort, isReversed });
  const turned = isReversed ? -1 : 1;
  return (one, other) => {
    const [left, right] = [endedAt(one), endedAt(other)];
    if (left === right) return compareNames(one.identity, other.identity);
    return left === null ? 1 : right === null ? -1 : (right - left) * turned;
  };
}

function endedAt({ lastRun }: JobStatus): EpochMs | null {
  return instantOrNull(lastRun?.endedAt);
}
