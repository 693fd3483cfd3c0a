/**
 * A list of jobs, answered a page at a time: however many jobs there are, an answer is small, and what it costs to make
 * one is bounded. Whoever asks goes on behind `next`.
 */
import type { JobStatus } from "../../actors/supervisor/port.js";
import type { StateReader } from "../../persist/store.js";
import type { JobLister } from "./job-pages.js";
import { type ListFilter, ListJudge, literalPrefix } from "./list-filter.js";

export const LIST_LIMITS = {
  /** Rows of one answer. */
  rows: 500,
  /** Jobs that are looked at for one answer. */
  scanned: 5_000,
  /** Jobs that are asked for at a time. */
  page: 500,
} as const;

export interface ListQuery {
  /** null: from the first one on. */
  readonly after: string | null;
  readonly limit: number;
  readonly filter: ListFilter;
}

export interface ListPage {
  /** In the order of their identities. */
  readonly rows: readonly JobStatus[];
  /** Where the next page begins; null: there is none. It may be set although all pages behind it are empty. */
  readonly next: string | null;
}

export async function listPage(
  lister: JobLister,
  reader: Pick<StateReader, "newestVersion">,
  { after, limit, filter }: ListQuery,
): Promise<ListPage> {
  const judge = new ListJudge(filter, reader);
  const prefix = literalPrefix(filter.identities);
  const rows: JobStatus[] = [];
  let cursor = after ?? before(prefix);
  for (let scanned = 0; scanned < LIST_LIMITS.scanned; ) {
    const page = await lister.list({
      limit: LIST_LIMITS.page,
      ...(cursor === null ? {} : { afterIdentity: cursor }),
    });
    scanned += page.length;
    for (const row of await judge.wanted(page)) {
      if (rows.length === limit) return { rows, next: rows.at(-1)?.identity ?? null };
      rows.push(row);
    }
    cursor = page.at(-1)?.identity ?? null;
    const isBehind = cursor !== null && cursor > prefix && !cursor.startsWith(prefix);
    if (cursor === null || page.length < LIST_LIMITS.page || isBehind) return { rows, next: null };
  }
  return { rows, next: cursor };
}

/** Less than everything that begins so, and more than nearly everything before. */
function before(prefix: string): string | null {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix === "" || last === 0 ? null : `${prefix.slice(0, -1)}${String.fromCharCode(last - 1)}\uffff`;
}
