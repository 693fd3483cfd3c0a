/** Jobs in another order than that of their names: for that all of them have to be seen first. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { coarseLength, UNKNOWN_LENGTH } from "../../core/base/coarse.js";
import { instantOrNull } from "../../core/time/instant.js";

export const SORTS = ["name", "next", "last", "duration", "lateness", "failures"] as const;
export type Sort = (typeof SORTS)[number];

/** Rows beyond those that are wanted, before the rest is dropped. */
const SPARE_ROWS = 20_000;

/** What is smallest comes first; null: nothing is known of it, and it comes last. */
const KEYS: Readonly<Record<Sort, (row: JobStatus) => number | null>> = {
  name: () => 0,
  next: ({ nextChosenTime }) => instantOrNull(nextChosenTime),
  last: ({ lastRun }) => negative(instantOrNull(lastRun?.endedAt)),
  duration: ({ lastRun }) => lengthKey(lastRun?.durationMs),
  lateness: ({ lastRun }) => lengthKey(lastRun?.lateMs),
  failures: ({ failures }) => -failures,
};

interface Ordered {
  readonly rows: readonly JobStatus[];
  /** Of all that came, also those that are not wanted. */
  readonly total: number;
}

/** The first `wanted` in that order, or the other way round; equal ones stay in the order of their names. */
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

function comparison(sort: Sort, isReversed: boolean): (one: JobStatus, other: JobStatus) => number {
  const key = KEYS[sort];
  const turned = isReversed ? -1 : 1;
  const byName = sort === "name" ? turned : 1;
  return (one, other) => {
    const [left, right] = [key(one), key(other)];
    if (left !== right) return left === null ? 1 : right === null ? -1 : (left - right) * turned;
    return one.identity < other.identity ? -byName : byName;
  };
}

/** As the daemon orders them by itself. A daemon of an earlier version tells no times. */
function lengthKey(ms: number | null | undefined): number | null {
  const length = coarseLength(ms ?? null);
  return length === UNKNOWN_LENGTH ? null : -length;
}

function negative(value: number | null): number | null {
  return value === null ? null : -value;
}
