/**
 * What happened to all jobs: the ledger from its beginning to its end, a stretch of bounded cost at a time. Whoever asks
 * puts the rows in order, and goes on behind `next`.
 */
import { turnOfLoop } from "../../actors/turns.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { StateReader, StoredRecord } from "../../persist/store.js";
import { type HistoryRow, type HistoryWishes, wantedRows } from "./history.js";
import { entriesOf } from "./ledger-view.js";

const ALL_HISTORY_LIMITS = {
  /** Records of one reading. */
  page: 500,
  /** Records that are looked at for one answer. */
  scanned: 5_000,
  /** Records about one instant of a job; there are a few. */
  together: 64,
} as const;

interface AllHistoryRequest extends HistoryWishes {
  /** null: from the beginning. */
  readonly cursor: string | null;
  /** Rows of one answer. */
  readonly limit: number;
}

export interface JobHistoryRow extends HistoryRow {
  readonly identity: string;
  /** Of the job of a crontab alone. */
  readonly called?: string;
}

export interface AllHistoryPage {
  /** Job after job, each one newest first. */
  readonly rows: readonly JobHistoryRow[];
  /** null: there is no more. */
  readonly next: string | null;
}

/** Where a stretch ended: the place in the ledger, and the records about one instant that were told of already. */
interface Place {
  readonly ledger: string | null;
  readonly identity: string;
  readonly at: EpochMs;
}

const BEGINNING: Place = { ledger: null, identity: "", at: 0 };

export async function readAllHistory(reader: StateReader, request: AllHistoryRequest): Promise<AllHistoryPage> {
  const rows: JobHistoryRow[] = [];
  let place = request.cursor === null ? BEGINNING : placeOf(request.cursor);
  for (let scanned = 0; scanned < ALL_HISTORY_LIMITS.scanned && rows.length < request.limit; ) {
    const { records, next } = await reader.ledgerScan(place.ledger, ALL_HISTORY_LIMITS.page);
    scanned += records.length;
    const { identity, at } = place;
    const fresh = records.filter((record) => record.identity !== identity || record.at !== at);
    rows.push(...rowsOfJobs(await completed(reader, fresh, next !== null), request));
    const last = records.at(-1);
    if (next === null) return { rows, next: null };
    place = { ledger: next, identity: last?.identity ?? identity, at: last?.at ?? at };
    await turnOfLoop();
  }
  return { rows, next: JSON.stringify(place) };
}

/** A page may end between the record of a period and that of its run. */
async function completed(
  reader: StateReader,
  records: readonly StoredRecord[],
  isCut: boolean,
): Promise<readonly StoredRecord[]> {
  const last = records.at(-1);
  if (!isCut || last === undefined) return records;
  const { identity, at } = last;
  const around = await reader.ledgerLatest(identity, ALL_HISTORY_LIMITS.together, at + 1);
  const isOfLast = (record: StoredRecord): boolean => record.identity === identity && record.at === at;
  return [...records.filter((record) => !isOfLast(record)), ...around.filter(isOfLast)];
}

function rowsOfJobs(records: readonly StoredRecord[], wishes: HistoryWishes): JobHistoryRow[] {
  const { sinceAt } = wishes;
  const byJob = new Map<string, StoredRecord[]>();
  for (const record of records) {
    // Most of a ledger is older than what is asked for: it is not even parsed.
    if (sinceAt !== undefined && record.at < sinceAt) continue;
    const known = byJob.get(record.identity);
    if (known === undefined) byJob.set(record.identity, [record]);
    else known.push(record);
  }
  return [...byJob].flatMap(([identity, own]) => {
    return wantedRows(entriesOf(own), wishes).map((row) => ({ identity, ...row }));
  });
}

/** Ours, given back by a client; one that is not begins at the beginning. */
function placeOf(cursor: string): Place {
  try {
    const { ledger, identity, at } = JSON.parse(cursor) as Place;
    return typeof ledger === "string" ? { ledger, identity, at } : BEGINNING;
  } catch {
    return BEGINNING;
  }
}
