/** What happened to a job, newest first: the records of the ledger as rows for people and programs. */
import { isPeriod } from "../../core/period/occasion.js";
import { type EndingFields, endingFields, holderField, NO_ENDING_FIELDS } from "../../core/state/ending.js";
import { type EpochMs, formatInstant, formatSecond } from "../../core/time/instant.js";
import type { HintEndEntry, HintEntry, LedgerEntry, RetryEntry, RunEntry } from "../../core/why/records.js";
import type { StateReader } from "../../persist/store.js";
import { entriesUpTo, isKnown } from "./ledger-view.js";

export interface HistoryRequest {
  readonly identity: string;
  readonly limit: number;
  /** Only what is about earlier instants. */
  readonly beforeAt: EpochMs | null;
}

export interface HistoryRow extends EndingFields {
  readonly period_id: string;
  /** null for the job's own periods. */
  readonly source: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly chosen_time: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** Of a further attempt of a period: which period, and the how manieth attempt. */
  readonly retry_of?: string;
  readonly attempt?: number;
}

/** A period and its run are two records; other kinds lie between them. */
const RECORDS_PER_ROW = 4;
const FARTHEST_INSTANT = 253_402_300_799_000;

/** null for a job that the store does not know. */
export async function readHistory(reader: StateReader, request: HistoryRequest): Promise<readonly HistoryRow[] | null> {
  const { identity, limit, beforeAt } = request;
  if (!(await isKnown(reader, identity))) return null;
  const upTo = beforeAt === null ? FARTHEST_INSTANT : beforeAt - 1;
  const entries = await entriesUpTo(reader, identity, upTo, limit * RECORDS_PER_ROW);
  return rowsOf(entries).slice(0, limit);
}

/** A period with its run is one row; a run of another source, a gap and a pause are rows of their own. Of hints the runs tell. */
export function rowsOf(entries: readonly LedgerEntry[]): HistoryRow[] {
  const runs = new Map(
    entries.flatMap((entry) => (entry.kind === "run" && isPeriod(entry.source) ? [[entry.at, entry] as const] : [])),
  );
  return entries.flatMap((entry) => {
    // S44: of a boot that was due its run tells, or what became of it.
    if (isUntold(entry) || (entry.kind === "boot" && entry.isDue)) return [];
    if (entry.kind === "run" && isPeriod(entry.source)) return [];
    return [rowOf(entry, runs.get(entry.at) ?? null)];
  });
}

const EMPTY = {
  source: null,
  reason: null,
  chosen_time: null,
  started_at: null,
  ended_at: null,
  exit_code: null,
  signal: null,
};

type Untold = HintEntry | HintEndEntry | RetryEntry;
type Told = Exclude<LedgerEntry, Untold>;

function isUntold(entry: LedgerEntry): entry is Untold {
  return entry.kind === "hint" || entry.kind === "hint_end" || entry.kind === "retry";
}

function rowOf(entry: Told, run: RunEntry | null): HistoryRow {
  const period_id = idOf(entry);
  switch (entry.kind) {
    case "period": {
      const { outcome, reason, decision } = entry;
      const chosen_time = decision?.chosen_time || null;
      const base = { ...EMPTY, period_id, outcome: outcome ?? "none", reason, chosen_time };
      return run === null ? base : { ...base, ...runFields(run), reason: run.ending?.reason ?? reason };
    }
    case "run":
      return {
        ...EMPTY,
        period_id,
        source: entry.source,
        outcome: "executed",
        ...runFields(entry),
        ...attemptFields(entry),
      };
    case "gap": {
      const count = entry.isCountExact ? `${entry.count}` : `at least ${entry.count}`;
      const reason = `${count} periods up to ${formatInstant(entry.lastAt)}`;
      return { ...EMPTY, period_id, outcome: "not_evaluated", reason };
    }
    case "paused":
      return {
        ...EMPTY,
        period_id,
        outcome: "paused",
        reason: `until ${formatInstant(entry.untilAt)}: ${entry.reason}`,
      };
    case "resumed":
      return { ...EMPTY, period_id, outcome: "resumed" };
    case "slot": {
      const { source, outcome, reason } = entry;
      return { ...EMPTY, period_id, source, outcome, reason };
    }
    case "boot":
      return { ...EMPTY, period_id, source: "reboot", outcome: "none", reason: "before_definition" };
  }
}

/** A slot may be sub-second (S40); when somebody paused a job is told to the second (S1). */
function idOf({ kind, at }: LedgerEntry): string {
  return kind === "run" || kind === "period" || kind === "slot" ? formatInstant(at) : formatSecond(at);
}

/** S43. */
function attemptFields({ retryOf, attempt }: RunEntry): Pick<HistoryRow, "retry_of" | "attempt"> {
  return retryOf === null || attempt === null ? {} : { retry_of: retryOf, attempt };
}

function runFields({ startedAt, endedAt, holder, ending }: RunEntry): Partial<HistoryRow> {
  const how = ending === null ? NO_ENDING_FIELDS : endingFields(ending);
  return { started_at: startedAt, ended_at: endedAt, ...holderField(holder), ...how };
}
