/** Of a period that was missed because nobody could look: from when to when that was, as the ledger has it (S13, S24). */
import type { JobStatus } from "../../actors/supervisor/port.js";
import type { LostTime } from "../../core/period/cause.js";
import { formatSecond, instantOrNull } from "../../core/time/instant.js";
import { readLedgerEntry } from "../../core/why/records.js";
import type { StateReader } from "../../persist/store.js";
import type { NowAnswer } from "../shapes/now.js";

/** Of a period that nobody could look at. */
const LOST: readonly string[] = ["down", "stalled", "clock_jump", "paused"] satisfies LostTime["cause"][];

/** What is on record of one period: its outcome, its run, and what was noted of it. */
const RECORDS = 8;

type Lost = Pick<NowAnswer["problems"][number], "lost">;

export async function withLostTime(
  reader: Pick<StateReader, "ledgerLatest">,
  rows: readonly JobStatus[],
): Promise<readonly (JobStatus & Lost)[]> {
  return Promise.all(rows.map(async (row) => ({ ...row, ...(await lostOf(reader, row)) })));
}

async function lostOf(
  reader: Pick<StateReader, "ledgerLatest">,
  { identity, lastOutcome, lastReason, lastPeriodId }: JobStatus,
): Promise<Lost> {
  const nominalAt = instantOrNull(lastPeriodId);
  if (nominalAt === null || lastOutcome !== "missed" || lastReason === null || !LOST.includes(lastReason)) return {};
  const records = await reader.ledgerLatest(identity, RECORDS, nominalAt + 1);
  for (const record of records) {
    const entry = record.isIntact ? readLedgerEntry(record) : null;
    if (entry?.kind !== "period" || entry.at !== nominalAt) continue;
    const { fromAt, untilAt } = entry;
    return fromAt === null || untilAt === null
      ? {}
      : { lost: { from: formatSecond(fromAt), to: formatSecond(untilAt) } };
  }
  return {};
}
