/** The jobs of a daemon, a page at a time. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import type { IndexSort, ListFilter } from "../../actors/supervisor/rows/job-query.js";
import { type ControlClient, ControlError } from "../../krond/control/client.js";
import type { ListPage } from "../../operations/jobs/list.js";
import { OPERATION_LIMITS } from "../../operations/limits.js";

/** A daemon that was started before an update tells less. */
const UNTOLD = {
  once: null,
  startFailure: null,
  lastRun: null,
  lastPeriodRun: null,
  failures: 0,
  usual: null,
  lastRunAt: null,
  hints: { interval: null, oneshot: null },
} as const;

/** `onAbsent`: nodes whose jobs are missing. */
export async function* livePages(
  client: ControlClient,
  filter: ListFilter,
  onAbsent: OnAbsent = () => undefined,
): AsyncGenerator<readonly JobStatus[]> {
  let after: string | null = null;
  do {
    const request = { op: "list" as const, after, limit: OPERATION_LIMITS.listRows, filter };
    const page = (await client.ask(request)) as ListPage;
    onAbsent(page.absent ?? []);
    yield rowsOf(page);
    after = page.next;
  } while (after !== null);
}

type OnAbsent = (nodes: readonly string[]) => void;

function rowsOf({ rows }: ListPage): readonly JobStatus[] {
  return rows.map((row) => ({ ...UNTOLD, ...row }));
}

export interface Wish {
  readonly filter: ListFilter;
  readonly sort: IndexSort;
  readonly isReversed: boolean;
  readonly offset: number;
  readonly count: number;
}

/** A stretch of what there is, and how much that is; the rows come while they are asked for. */
export interface Found {
  readonly total: number;
  readonly pages: AsyncIterable<readonly JobStatus[]>;
}

/** Cut out by the daemon, which sees no more of its jobs than those. null: it was started before it could. */
export async function foundBy(
  client: ControlClient,
  wish: Wish,
  onAbsent: OnAbsent = () => undefined,
): Promise<Found | null> {
  const { filter, sort, isReversed, offset, count } = wish;
  const limit = Math.min(count, OPERATION_LIMITS.listRows);
  const request = { op: "list" as const, after: null, limit, filter, sort, reverse: isReversed, offset };
  try {
    const first = (await client.ask(request)) as ListPage;
    const total = first.total ?? 0;
    onAbsent(first.absent ?? []);
    const pages = rest(client, filter, rowsOf(first), Math.min(count, total - offset) - limit);
    return { total, pages };
  } catch (error) {
    if (error instanceof ControlError && error.kind === "bad-request") return null;
    throw error;
  }
}

/** By name from there on, whatever has come or gone before. */
async function* rest(
  client: ControlClient,
  filter: ListFilter,
  first: readonly JobStatus[],
  more: number,
): AsyncGenerator<readonly JobStatus[]> {
  yield first;
  let after = first.at(-1)?.identity ?? null;
  for (let left = more; left > 0 && after !== null; left -= OPERATION_LIMITS.listRows) {
    const limit = Math.min(left, OPERATION_LIMITS.listRows);
    const page = (await client.ask({ op: "list", after, limit, filter })) as ListPage;
    yield rowsOf(page);
    after = page.next;
  }
}
