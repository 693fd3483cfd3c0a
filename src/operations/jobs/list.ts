/**
 * A list of jobs, answered a page at a time: however many jobs there are, an answer is small. Whoever asks goes on behind
 * `next`, or says how many to leave out.
 */
import { z } from "zod";
import type { JobPage } from "../../actors/supervisor/port.js";
import { BY_NAME, INDEX_SORTS, type IndexSort, STANDINGS } from "../../actors/supervisor/rows/job-query.js";
import { OUTCOMES } from "../../core/state/document.js";
import { withCalled } from "../endpoints/called.js";
import { withEndpointNames } from "../endpoints/names.js";
import { httpForm } from "../http.js";
import { OPERATION_LIMITS } from "../limits.js";
import { storeOperation } from "../operation.js";
import { LIST_ANSWER } from "../shapes/job.js";
import { identity, instant, words } from "../shapes/words.js";

/** A daemon that was started before an update tells no total, and knows no offset. */
export type ListPage = Pick<JobPage, "rows" | "next" | "absent"> & Partial<Pick<JobPage, "total">>;

const FILTER = z.strictObject({
  identities: words(identity),
  standings: words(z.enum(STANDINGS)),
  tags: words(z.string().max(512)),
  search: z.string().max(512).optional(),
  isFailing: z.boolean().optional(),
  isRunning: z.boolean().optional(),
  outcomes: words(z.enum(OUTCOMES)).optional(),
  dueBy: instant.optional(),
});

/** Over HTTP the filter has no name of its own, and a page behind another is asked for in one way whatever the order. */
const LIST_FORM = httpForm({
  takes: z.strictObject({
    identities: FILTER.shape.identities.default([]),
    standings: FILTER.shape.standings.default([]),
    tags: FILTER.shape.tags.default([]),
    search: FILTER.shape.search,
    isFailing: FILTER.shape.isFailing,
    isRunning: FILTER.shape.isRunning,
    outcomes: FILTER.shape.outcomes.default([]),
    dueBy: FILTER.shape.dueBy,
    sort: z.enum(INDEX_SORTS).default("name"),
    reverse: z.boolean().default(false),
    limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
    cursor: z.string().nullable(),
    /** Instead of a cursor, for whoever shows a place in the middle; no page is told to follow then. */
    offset: z.int().min(0).optional(),
  }),
  toInput: ({ sort, reverse, limit, cursor, offset, ...filter }) => {
    if (offset !== undefined) return { filter, limit, after: null, sort, reverse, offset };
    if (isByName(sort, reverse)) return { filter, limit, after: cursor };
    return { filter, limit, after: null, sort, reverse, offset: offsetOf(cursor) };
  },
  toAnswer: (page: JobPage, { sort, reverse, limit, cursor, offset }) => {
    if (offset !== undefined) return { ...page, next: null };
    if (isByName(sort, reverse)) return page;
    const end = offsetOf(cursor) + limit;
    return { ...page, next: end < (page.total ?? 0) ? `${end}` : null };
  },
});

function isByName(sort: IndexSort, isReversed: boolean): boolean {
  return sort === BY_NAME.sort && !isReversed;
}

function offsetOf(cursor: string | null): number {
  return cursor === null ? 0 : Number(cursor);
}

export const LIST = storeOperation({
  name: "list",
  summary: "a page of the jobs that somebody looks for, and how many there are",
  http: { method: "GET", path: "/schedules", isPaged: true, form: LIST_FORM },
  input: z.strictObject({
    /** null: from the first one on. */
    after: identity.nullable(),
    limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
    filter: FILTER,
    /** With an offset alone. */
    sort: z.enum(INDEX_SORTS).optional(),
    reverse: z.boolean().optional(),
    /** Instead of `after`. */
    offset: z.int().min(0).optional(),
  }),
  output: LIST_ANSWER,
  run: async (asked, { jobs, reader, now }): Promise<JobPage> => {
    const { after, limit, sort = "name", reverse = false, offset } = asked;
    const filter = await withCalled(asked.filter, reader, now);
    const isByOffset = offset !== undefined;
    const order = isByOffset ? { sort, isReversed: reverse } : BY_NAME;
    const page = await jobs.find({ filter, order, from: isByOffset ? { offset } : { after }, limit });
    return { ...page, rows: await withEndpointNames(reader, page.rows) };
  },
});
