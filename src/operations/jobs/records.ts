/** What is on record of jobs: what happened to one or to all, why, and which hints are in force. */
import { z } from "zod";
import type { WhyAnswer } from "../../core/why/facts.js";
import { httpForm } from "../http.js";
import { OPERATION_LIMITS } from "../limits.js";
import { storeOperation } from "../operation.js";
import type { Reading } from "../ports.js";
import { withCrontabNames } from "../records/crontab-names.js";
import { type HintsAnswer, readHints } from "../records/hints.js";
import { type HistoryRow, readHistory } from "../records/history.js";
import { readAllHistory } from "../records/history-of-all.js";
import { historyPage, TOGETHER } from "../records/history-page.js";
import { documentOf, readWhy } from "../records/why.js";
import { HINTS_ANSWER } from "../shapes/job.js";
import { ALL_HISTORY_ANSWER, HISTORY_ANSWER, WHY_ANSWER } from "../shapes/record.js";
import { identity, instant, words } from "../shapes/words.js";
import { found } from "./existing.js";

/** Which rows of a history are wanted, and whether decisions come with them. */
const HISTORY_WISHES = {
  sinceAt: instant.optional(),
  outcomes: words(z.string().max(64)).optional(),
  failed: z.boolean().optional(),
  decisions: z.boolean().optional(),
};

const limit = z.int().min(1).max(OPERATION_LIMITS.historyEntries);

/** Over HTTP a history comes page by page. */
const HISTORY_FORM = httpForm({
  takes: z.strictObject({ identity, limit, cursor: z.string().nullable(), ...HISTORY_WISHES }),
  // Those of one second belong together, and a page ends between two of them.
  toInput: ({ cursor, limit, ...wishes }) => {
    return { ...wishes, limit: limit + TOGETHER, beforeAt: cursor === null ? null : Number(cursor) };
  },
  gives: z.strictObject({ rows: HISTORY_ANSWER, next: z.string().nullable() }),
  toAnswer: (rows: readonly HistoryRow[], { limit }) => historyPage(rows, limit),
});

export const HISTORY = storeOperation({
  name: "history",
  summary: "what happened to a job, newest first",
  http: { method: "GET", path: "/schedules/:identity/history", isPaged: true, form: HISTORY_FORM },
  input: z.strictObject({ identity, limit, beforeAt: instant.nullable(), ...HISTORY_WISHES }),
  output: HISTORY_ANSWER,
  run: async (request, { reader }): Promise<readonly HistoryRow[]> => {
    const rows = found(await readHistory(reader, request), request.identity);
    // A job with a document that this version cannot use has a history that it does not know.
    await documentOf(reader, request.identity);
    return rows;
  },
});

export const HISTORY_OF_ALL = storeOperation({
  name: "history_of_all",
  summary: "what happened to all jobs, a stretch at a time",
  http: { method: "GET", path: "/history", isPaged: true },
  input: z.strictObject({ cursor: z.string().max(4_096).nullable(), limit, ...HISTORY_WISHES }),
  output: ALL_HISTORY_ANSWER,
  run: async (request, { reader }) => {
    const { rows, next } = await readAllHistory(reader, request);
    return { rows: await withCrontabNames(reader, rows), next };
  },
});

export const WHY = storeOperation({
  name: "why",
  summary: "what became of a period, and why",
  http: { method: "GET", path: "/schedules/:identity/why" },
  input: z.strictObject({ identity, periodAt: instant.nullable(), at: instant.nullable() }),
  output: WHY_ANSWER,
  run: async (request, ports): Promise<WhyAnswer> => {
    const presence = ports.presence();
    const daemon = { isAlive: presence !== "none", isStopping: presence === "stopping" };
    const moment = { now: request.at ?? ports.now(), ledger: ports.ledger() };
    const unserved = await ports.among?.unserved(request.identity);
    const nodes = unserved === undefined ? {} : { unserved };
    return found(await readWhy(ports.reader, { ...request, ...moment, ...daemon, ...nodes }), request.identity);
  },
});

export const HINTS = storeOperation({
  name: "hints",
  summary: "the hints of a job that are in force",
  http: { method: "GET", path: "/schedules/:identity/hints" },
  input: z.strictObject({ identity }),
  output: HINTS_ANSWER,
  run: (request, ports) => hintsOf(ports, request.identity),
});

export async function hintsOf({ reader, now }: Reading, of: string): Promise<HintsAnswer> {
  return found(await readHints(reader, of, now()), of);
}
