/** Runs of endpoints: of one, across a tenant, or one alone, as the ledger has them. */
import { z } from "zod";
import { type EndedResult, endedResultOf, RUN_RESULTS } from "../../core/endpoint/ended-run.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { placeOfRun, type RunPlace, runKeyAt, runsBefore, runsOf } from "../../core/endpoint/run-index.js";
import { type Hint, hintText } from "../../core/governor/hint.js";
import { isSuccess } from "../../core/state/ending.js";
import { type EpochMs, knownInstant, parseInstant } from "../../core/time/instant.js";
import { type LedgerEntry, type RunEntry, readLedgerEntry } from "../../core/why/records.js";
import type { StateReader } from "../../persist/store.js";
import { OPERATION_LIMITS } from "../limits.js";
import { OperationError, tenantOperation } from "../operation.js";
import { listOf, time } from "../shapes/words.js";
import { endpointOf, refusedFor } from "./change.js";
import { identityIn, readEndpoint } from "./records.js";
import { violationsOf } from "./run-bounds.js";
import { placeOf, readRunId, runAnswer } from "./run-view.js";
import { endpointId, RUN_ANSWER, RUN_DETAIL_ANSWER, type RunAnswer, type RunDetailAnswer, runId } from "./shapes.js";

const limit = z.int().min(1).max(OPERATION_LIMITS.listRows);
const statuses = z.array(z.enum(["running", ...RUN_RESULTS])).max(6);
const RUNS_ANSWER = z.strictObject({ rows: listOf(RUN_ANSWER), next: z.string().nullable() });
type RunsAnswer = z.output<typeof RUNS_ANSWER>;

/** Records that one request looks at before it says where to go on. */
const MOST_LOOKED_AT = 5_000;
const PAGE = 500;
/** Of one instant there are a few records: a run, its period, a retry. */
const OF_ONE_INSTANT = 64;
const LOOKED_BACK = 100;

export const LIST_RUNS_OF_ENDPOINT = tenantOperation({
  name: "endpoints.runs",
  summary: "the runs of an endpoint, newest first",
  http: { method: "GET", path: "/endpoints/:endpointId/runs", isPaged: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ endpointId, cursor: runId.nullable(), limit, status: statuses.optional() }),
  output: RUNS_ANSWER,
  run: async ({ cursor, limit: most, status, ...of }, ports, { tenant }): Promise<RunsAnswer> => {
    const endpoint = await endpointOf(ports, tenant, of.endpointId);
    const name = { jobId: endpoint.jobId, endpointId: endpoint.id };
    const behind = cursor === null ? null : placeOf(tenant, mustBeRun(cursor));
    const rows: RunAnswer[] = [];
    let looked = 0;
    for await (const entry of runsBehind(ports.reader, identityIn(tenant, endpoint), behind)) {
      looked += 1;
      const row = runAnswer(name, entry);
      if (status === undefined || status.includes(row.status)) rows.push(row);
      if (rows.length > most) return { rows: rows.slice(0, most), next: rows[most - 1]?.id ?? null };
      if (looked >= MOST_LOOKED_AT) return { rows, next: row.id };
    }
    return { rows, next: null };
  },
});

export const LIST_RUNS = tenantOperation({
  name: "runs.list",
  summary: "the runs of all endpoints of a tenant that have ended, newest first, those of deleted endpoints included",
  http: { method: "GET", path: "/runs", isPaged: true },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({
    cursor: z.string().max(300).nullable(),
    limit,
    status: z.array(z.enum(RUN_RESULTS)).min(1).max(5).optional(),
    since: time.optional(),
    until: time.optional(),
  }),
  output: RUNS_ANSWER,
  run: async ({ cursor, limit: most, status = RUN_RESULTS, ...bounds }, { reader }, { tenant }) => {
    const sinceAt = boundAt(bounds.since, "since") ?? Number.NEGATIVE_INFINITY;
    const untilAt = boundAt(bounds.until, "until");
    const wanted = { statuses: [...new Set(status)], cursor, untilAt, limit: most + 1 };
    const keys = await newestRuns(reader, tenant, wanted);
    const recent = keys.filter((key) => (placeOfRun(key)?.at ?? 0) >= sinceAt);
    const page = recent.slice(0, most);
    const rows = (await Promise.all(page.map((key) => runOfKey(reader, key)))).filter((row) => row !== null);
    return { rows, next: recent.length > most ? (page.at(-1) ?? null) : null };
  },
});

export const GET_RUN = tenantOperation({
  name: "runs.get",
  summary: "one run, with what was in force when it began",
  http: { method: "GET", path: "/runs/:runId" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ runId }),
  output: RUN_DETAIL_ANSWER,
  run: async (request, { reader }, { tenant }): Promise<RunDetailAnswer> => {
    const name = readRunId(request.runId);
    const place = name === null ? null : placeOf(tenant, name);
    const entry = place === null ? null : await runAt(reader, place);
    if (name === null || place === null || entry === null) throw noRun(request.runId);
    const { jobId, endpointId: of } = name;
    const begunAt = entry.startedAt === null ? entry.at : knownInstant(entry.startedAt);
    const before = await entriesUpTo(reader, place.identity, entry.at);
    const hints = hintsInForce(before, begunAt);
    const endpoint = await readEndpoint(reader, tenant, of);
    return {
      ...runAnswer({ jobId, endpointId: of }, entry),
      failureCount: failuresBefore(before, entry.at),
      hints: hints.map(hintText),
      violations: violationsOf(entry, endpoint),
    };
  },
});

/** Runs of one endpoint behind one of them, newest first; null: all. */
async function* runsBehind(reader: StateReader, identity: string, behind: RunPlace | null): AsyncGenerator<RunEntry> {
  let before = behind === null ? undefined : behind.at + 1;
  let isBehind = behind === null;
  for (;;) {
    const records = await reader.ledgerLatest(identity, PAGE, ...(before === undefined ? [] : [before]));
    const last = records.at(-1);
    if (last === undefined) return;
    const isAll = records.length < PAGE;
    // Those of the oldest instant may be cut: they are read again.
    const whole = isAll ? records : records.filter(({ at }) => at > last.at);
    for (const record of whole.length === 0 ? records : whole) {
      if (!isBehind) isBehind = record.at < (behind?.at ?? 0);
      const isIt = record.at === behind?.at && record.kind === behind.kind;
      const entry = record.isIntact && isBehind ? readLedgerEntry(record) : null;
      if (isIt) isBehind = true;
      else if (entry?.kind === "run") yield entry;
    }
    if (isAll) return;
    before = whole.length === 0 ? last.at : last.at + 1;
  }
}

interface Wanted {
  readonly statuses: readonly EndedResult[];
  readonly cursor: string | null;
  readonly untilAt: EpochMs | null;
  readonly limit: number;
}

/** Names of entries, from all ends together in the order of time. */
async function newestRuns(reader: StateReader, tenant: string, wanted: Wanted): Promise<readonly string[]> {
  const { statuses: ends, cursor, untilAt, limit: most } = wanted;
  const from = cursor === null ? null : placeOfRun(cursor);
  if (cursor !== null && (from === null || !isNameOf(cursor, from, tenant))) throw badCursor();
  const found = await Promise.all(
    ends.map(async (end) => {
      const after = afterOf(tenant, end, cursor, untilAt);
      const stored = await reader.objects({ prefix: runsOf(tenant, end), limit: most, ...after });
      return stored.map(({ key }) => key);
    }),
  );
  return found
    .flat()
    .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
    .slice(0, most);
}

function isNameOf(key: string, place: RunPlace, tenant: string): boolean {
  return RUN_RESULTS.some((status) => key === runKeyAt(tenant, status, place));
}

/** Where to go on among the runs with this end: behind the same instant and name that the last page ended with. */
function afterOf(tenant: string, end: EndedResult, cursor: string | null, untilAt: EpochMs | null): { after?: string } {
  if (cursor !== null) return { after: runsOf(tenant, end) + orderOf(cursor) };
  return untilAt === null ? {} : { after: runsBefore(tenant, end, untilAt) };
}

/** What is behind the status in the name: the instant, counted back, and whose run it is. */
function orderOf(key: string): string {
  return key.split("/").slice(3).join("/");
}

async function runOfKey(reader: StateReader, key: string): Promise<RunAnswer | null> {
  const place = placeOfRun(key);
  const name = place === null ? null : endpointName(place.identity);
  const entry = place === null ? null : await runAt(reader, place);
  if (name === null || entry === null) return null;
  return runAnswer({ jobId: name.jobId, endpointId: name.endpointId }, entry);
}

export async function runAt(reader: StateReader, { identity, at, kind }: RunPlace): Promise<RunEntry | null> {
  const records = await reader.ledgerLatest(identity, OF_ONE_INSTANT, at + 1);
  const record = records.find((one) => one.at === at && one.kind === kind && one.isIntact);
  const entry = record === undefined ? null : readLedgerEntry(record);
  return entry?.kind === "run" ? entry : null;
}

async function entriesUpTo(reader: StateReader, identity: string, at: EpochMs): Promise<readonly LedgerEntry[]> {
  const records = await reader.ledgerLatest(identity, LOOKED_BACK, at + 1);
  return records.flatMap((record) => (record.isIntact ? (readLedgerEntry(record) ?? []) : []));
}

/** Newest first. */
function failuresBefore(entries: readonly LedgerEntry[], at: EpochMs): number {
  const runs = entries.flatMap((entry) => (entry.kind === "run" && entry.at < at ? [entry] : []));
  const ended = runs.flatMap(({ ending }) => ending ?? []);
  const failed = ended.filter((ending) => endedResultOf(ending) !== "cancelled");
  const firstSound = failed.findIndex(isSuccess);
  return firstSound < 0 ? failed.length : firstSound;
}

/** S41: the newest of each kind, if it had not ended by then. */
function hintsInForce(entries: readonly LedgerEntry[], at: EpochMs): Hint[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (entry.kind === "hint_end") seen.add(entry.hint);
    if (entry.kind !== "hint" || seen.has(entry.hint.kind)) return [];
    seen.add(entry.hint.kind);
    return entry.hint.expiresAt > at ? [entry.hint] : [];
  });
}

function mustBeRun(id: string) {
  const name = readRunId(id);
  if (name === null) throw badCursor();
  return name;
}

function boundAt(text: string | undefined, field: string): EpochMs | null {
  if (text === undefined) return null;
  const read = parseInstant(text);
  if (!read.ok) throw refusedFor([{ ...read.error, path: [field] }]);
  return read.value;
}

function badCursor(): OperationError {
  return new OperationError("bad-request", "the cursor is not one of ours");
}

function noRun(id: string): OperationError {
  return new OperationError("not-found", `no run "${id}"`);
}
