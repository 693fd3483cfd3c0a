/** Jobs in another order than that of their names: for that all of them have to be seen first. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { parseInstant } from "../../core/time/instant.js";

export const SORTS = ["name", "next", "last", "duration", "failures"] as const;
export type Sort = (typeof SORTS)[number];

/** Rows beyond those that are wanted, before the rest is dropped. */
const SPARE_ROWS = 20_000;

/** What is smallest comes first. */
const KEYS: Readonly<Record<Sort, (row: JobStatus) => number>> = {
  name: () => 0,
  next: ({ nextChosenTime }) => instantOf(nextChosenTime) ?? Number.POSITIVE_INFINITY,
  last: ({ lastRun }) => -(instantOf(lastRun?.endedAt) ?? Number.NEGATIVE_INFINITY),
  duration: ({ lastRun }) => {
    const [from, to] = [instantOf(lastRun?.startedAt), instantOf(lastRun?.endedAt)];
    return from === null || to === null ? Number.POSITIVE_INFINITY : from - to;
  },
  failures: ({ failures }) => -failures,
};

export interface Ordered {
  readonly rows: readonly JobStatus[];
  /** Of all that came, also those that are not wanted. */
  readonly total: number;
}

/** The first `wanted` in that order; equal ones stay in the order of their names. */
export async function inOrder(
  pages: AsyncIterable<readonly JobStatus[]>,
  sort: Sort,
  wanted: number,
): Promise<Ordered> {
  const key = KEYS[sort];
  const byKey = (one: JobStatus, other: JobStatus): number => {
    const [left, right] = [key(one), key(other)];
    if (left !== right) return left < right ? -1 : 1;
    return one.identity < other.identity ? -1 : 1;
  };
  let rows: JobStatus[] = [];
  let total = 0;
  for await (const page of pages) {
    rows.push(...page);
    total += page.length;
    if (rows.length >= wanted + SPARE_ROWS) rows = rows.sort(byKey).slice(0, wanted);
  }
  return { rows: rows.sort(byKey).slice(0, wanted), total };
}

function instantOf(text: string | null | undefined): number | null {
  const at = parseInstant(text ?? "");
  return at.ok ? at.value : null;
}
