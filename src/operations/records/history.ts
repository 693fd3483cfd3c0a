/** What happened to a job, newest first: the records of the ledger as rows for people and programs. */
import { turnOfLoop } from "../../actors/turns.js";
import type { DecisionRecord } from "../../core/decision/model.js";
import { hintText } from "../../core/governor/hint.js";
import { isPeriod } from "../../core/period/occasion.js";
import { startFailureOf } from "../../core/period/reasons.js";
import {
  type EndingFields,
  endingFields,
  holderField,
  NO_ENDING_FIELDS,
  readEnding,
  resultOf,
} from "../../core/state/ending.js";
import { PERIOD_SOURCE } from "../../core/state/start-failure.js";
import { type EpochMs, formatInstant, formatSecond } from "../../core/time/instant.js";
import { refusedBy } from "../../core/why/constraints.js";
import type { GapEntry, HintEndEntry, HintEntry, LedgerEntry, RetryEntry, RunEntry } from "../../core/why/records.js";
import type { StateReader } from "../../persist/store.js";
import { entriesOf, isKnown } from "./ledger-view.js";

/** Which rows are wanted. What is not given lets everything through. */
export interface HistoryWishes {
  /** Nothing about earlier instants. */
  readonly sinceAt?: EpochMs | undefined;
  /** Only rows of one of these outcomes. */
  readonly outcomes?: readonly string[] | undefined;
  /** Only what should not have come so: see `isFailure`. */
  readonly failed?: boolean | undefined;
  /** Rows with the decision of their period, for `kron verify`. */
  readonly decisions?: boolean | undefined;
}

interface HistoryRequest extends HistoryWishes {
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
  /** Of `unschedulable`: which constraints refused the seconds that were drawn. */
  readonly refused_by?: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** Of a run: its output lies in the file with this name. */
  readonly attempt_id?: string;
  /** On which one of several nodes it ran. */
  readonly node?: string;
  /** Only where it was asked for. */
  readonly decision?: DecisionRecord | null;
  /** Of a further attempt of a period: which period, and the how manieth attempt. */
  readonly retry_of?: string;
  readonly attempt?: number;
}

/** Records of one reading: a store may read them without a pause, and a filter may let nothing of a long ledger through. */
const PER_READING = 500;
const FARTHEST_INSTANT = 253_402_300_799_000;

/** null for a job that the store does not know. */
export async function readHistory(reader: StateReader, request: HistoryRequest): Promise<readonly HistoryRow[] | null> {
  const { identity, limit, beforeAt, sinceAt } = request;
  if (!(await isKnown(reader, identity))) return null;
  let upToAt = beforeAt === null ? FARTHEST_INSTANT : beforeAt - 1;
  let size = PER_READING;
  const rows: HistoryRow[] = [];
  for (;;) {
    const records = await reader.ledgerLatest(identity, size, upToAt + 1);
    const oldestAt = records.at(-1)?.at ?? null;
    const isAll = oldestAt === null || records.length < size;
    // Records about one instant belong together: those of the oldest may be cut, and are read again.
    const whole = isAll ? records : records.filter(({ at }) => at > oldestAt);
    rows.push(...wantedRows(entriesOf(whole), request));
    if (isAll || rows.length >= limit || (sinceAt !== undefined && oldestAt < sinceAt)) return rows.slice(0, limit);
    upToAt = oldestAt;
    // More than that about one instant: only then more are read at a time.
    size = whole.length === 0 ? size * 2 : PER_READING;
    await turnOfLoop();
  }
}

/** Of entries about one job, newest first. */
export function wantedRows(entries: readonly LedgerEntry[], wishes: HistoryWishes): HistoryRow[] {
  const { sinceAt, decisions = false } = wishes;
  const recent = sinceAt === undefined ? entries : entries.filter(({ at }) => at >= sinceAt);
  return rowsOf(recent, decisions).filter((row) => isWanted(row, wishes));
}

function isWanted(row: HistoryRow, { outcomes = [], failed = false }: HistoryWishes): boolean {
  return (outcomes.length === 0 || outcomes.includes(row.outcome)) && (!failed || isFailure(row));
}

/** A run that ended without success, a period that was missed or found no second, or a slot that could not be started. */
function isFailure(row: HistoryRow): boolean {
  if (row.outcome === "missed" || row.outcome === "unschedulable" || startFailureOf(row.reason) !== null) return true;
  return row.ended_at !== null && resultOf(readEnding({ ...row })) !== "success";
}

/** A period with its run is one row; a run of another source, a gap and a pause are rows of their own. Of hints the runs tell. */
export function rowsOf(entries: readonly LedgerEntry[], hasDecisions = false): HistoryRow[] {
  const runs = new Map(
    entries.flatMap((entry) => (entry.kind === "run" && isPeriod(entry.source) ? [[entry.at, entry] as const] : [])),
  );
  const periods = new Set(entries.flatMap(({ kind, at }) => (kind === "period" ? [at] : [])));
  return entries.flatMap((entry) => {
    // S24: what became of it in the end says why.
    if (entry.kind === "start_failed" && entry.source === PERIOD_SOURCE && periods.has(entry.at)) return [];
    // S44: of a boot that was due its run tells, or what became of it.
    if (isUntold(entry) || (entry.kind === "boot" && entry.isDue)) return [];
    if (entry.kind === "run" && isPeriod(entry.source)) return [];
    const row = rowOf(entry, runs.get(entry.at) ?? null);
    return [hasDecisions ? { ...row, decision: entry.kind === "period" ? entry.decision : null } : row];
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
      const refused = refusedBy(decision);
      const about = refused === null ? {} : { refused_by: refused };
      const base = { ...EMPTY, period_id, outcome: outcome ?? "none", reason, chosen_time, ...about };
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
      const counted = entry.count === 1 ? "1 period" : `${entry.count} periods`;
      const count = entry.isCountExact ? counted : `at least ${counted}`;
      const cause = entry.reason === null ? "" : `: ${entry.reason}${spanText(entry)}`;
      const hint = entry.hint === null ? "" : ` by ${hintText(entry.hint)}`;
      const reason = `${count} up to ${formatInstant(entry.lastAt)}${cause}${hint}`;
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
    case "start_failed":
      return {
        ...EMPTY,
        period_id,
        source: entry.source === PERIOD_SOURCE ? null : entry.source,
        outcome: "none",
        reason: entry.reason,
      };
    case "boot":
      return { ...EMPTY, period_id, source: "reboot", outcome: "none", reason: "before_definition" };
  }
}

/** A slot may be sub-second (S40); when somebody paused a job is told to the second (S1). */
function idOf({ kind, at }: LedgerEntry): string {
  return kind === "run" || kind === "period" || kind === "slot" || kind === "start_failed"
    ? formatInstant(at)
    : formatSecond(at);
}

/** When nobody could look. */
function spanText({ fromAt, untilAt }: GapEntry): string {
  return fromAt === null || untilAt === null ? "" : ` from ${formatSecond(fromAt)} to ${formatSecond(untilAt)}`;
}

/** S43. */
function attemptFields({ retryOf, attempt }: RunEntry): Pick<HistoryRow, "retry_of" | "attempt"> {
  return retryOf === null || attempt === null ? {} : { retry_of: retryOf, attempt };
}

function runFields({ attemptId, startedAt, endedAt, holder, node, ending }: RunEntry): Partial<HistoryRow> {
  const how = ending === null ? NO_ENDING_FIELDS : endingFields(ending);
  const where = {
    ...(attemptId === null ? {} : { attempt_id: attemptId }),
    ...(node === null ? {} : { node }),
  };
  return { started_at: startedAt, ended_at: endedAt, ...holderField(holder), ...where, ...how };
}
