/** Runs of an endpoint, a job or a tenant, as the daemon gives them: newest first, a page at a time. */
import type { RunAnswer } from "../../operations/endpoints/shapes.js";
import { OPERATION_LIMITS } from "../../operations/limits.js";
import type { OperationRequest } from "../../operations/registry.js";
import { nextLook } from "../follow.js";
import type { Ask } from "./tenant.js";

export interface RunPage {
  readonly rows: readonly RunAnswer[];
  readonly next: string | null;
}

export type FetchRuns = (cursor: string | null, limit: number) => Promise<RunPage>;
type Status = RunAnswer["status"];

export interface RunWish {
  /** Absent: all. */
  readonly statuses?: readonly Status[];
  /** RFC 3339. */
  readonly since?: string;
}

export function runsOfEndpoint(ask: Ask, endpointId: string, { statuses: status }: RunWish): FetchRuns {
  return (cursor, limit) => {
    const wanted = status === undefined ? {} : { status: [...status] };
    return ask({ op: "endpoints.runs", endpointId, cursor, limit, ...wanted });
  };
}

/** What has ended. */
export function runsOfTenant(ask: Ask, { statuses: status, since }: RunWish): FetchRuns {
  return (cursor, limit) => {
    const wanted = { ...(status === undefined ? {} : { status }), ...(since === undefined ? {} : { since }) };
    return ask({ op: "runs.list", cursor, limit, ...wanted } as OperationRequest);
  };
}

/** Until there are enough, or no more from then on. */
export async function* newest(
  fetch: FetchRuns,
  count: number,
  since: string | undefined,
  isWanted: (run: RunAnswer) => boolean,
): AsyncGenerator<readonly RunAnswer[]> {
  const sinceAt = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  let [cursor, left]: [string | null, number] = [null, count];
  do {
    const page: RunPage = await fetch(cursor, Math.min(left, OPERATION_LIMITS.listRows));
    const recent = page.rows.filter((run) => scheduledAt(run) >= sinceAt);
    const rows = recent.filter(isWanted).slice(0, left);
    yield rows;
    left -= rows.length;
    cursor = recent.length < page.rows.length ? null : page.next;
  } while (cursor !== null && left > 0);
}

/** Rows of one look; more than come between two looks. */
const MOST_NEWS = 5_000;

/** Oldest first, then what comes; a run is shown when it begins, where that is told, and again when it has ended. */
export async function* followed(
  fetch: FetchRuns,
  count: number,
  isWanted: (run: RunAnswer) => boolean,
): AsyncGenerator<readonly RunAnswer[]> {
  let known: ReadonlySet<string> | null = null;
  let fromAt: number | null = null;
  for (;;) {
    const rows: readonly RunAnswer[] = await untilKnown(fetch, known, count);
    // What was before the first look is of no interest later.
    fromAt ??= rows.length < count ? Number.NEGATIVE_INFINITY : Math.min(...rows.map(scheduledAt));
    const seen = known ?? new Set();
    const from = fromAt;
    const news = rows.filter((run) => isWanted(run) && scheduledAt(run) >= from && !seen.has(keyOf(run)));
    known = new Set(rows.map(keyOf));
    yield news.reverse();
    await nextLook();
  }
}

async function untilKnown(fetch: FetchRuns, known: ReadonlySet<string> | null, count: number): Promise<RunAnswer[]> {
  const rows: RunAnswer[] = [];
  let cursor: string | null = null;
  do {
    const limit = known === null ? Math.min(count, OPERATION_LIMITS.listRows) : OPERATION_LIMITS.listRows;
    const page: RunPage = await fetch(cursor, limit);
    rows.push(...page.rows);
    cursor = page.rows.some((run) => known?.has(keyOf(run)) === true) ? null : page.next;
    if (known === null && rows.length >= count) cursor = null;
  } while (cursor !== null && rows.length < MOST_NEWS);
  return rows;
}

function scheduledAt({ scheduledFor }: RunAnswer): number {
  return Date.parse(scheduledFor);
}

function keyOf({ id, status }: RunAnswer): string {
  return `${id} ${status}`;
}
