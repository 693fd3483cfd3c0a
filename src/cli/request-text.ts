/** A run that was a request, as it is on record: there is no output, there is an answer. */
import { endingText, readEnding } from "../core/state/ending.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import { RECORDS_LOOKED_AT } from "../operations/jobs/output-files.js";
import type { HistoryRow } from "../operations/records/history.js";
import type { ParsedArgs } from "./args.js";
import { askOrRun } from "./daemon.js";
import type { CliIo } from "./io.js";

/** The newest runs, or those of the period; newest first. */
export async function recordedRuns(
  identity: string,
  periodAt: EpochMs | null,
  args: ParsedArgs,
  io: CliIo,
): Promise<readonly HistoryRow[]> {
  const beforeAt = periodAt === null ? null : periodAt + 1;
  const request = { op: "history" as const, identity, limit: RECORDS_LOOKED_AT, beforeAt };
  const rows = await askOrRun<readonly HistoryRow[]>(args, io, request);
  const runs = rows.filter(({ started_at }) => started_at !== null);
  return runs.filter(({ period_id }) => periodAt === null || period_id === formatInstant(periodAt));
}

export function requestText(row: HistoryRow): string {
  const { period_id, source, started_at, ended_at, bytes, excerpt, detail } = row;
  const what = source === null ? period_id : `${period_id} (${source})`;
  const head = `${what}: sent ${started_at ?? "at an unknown time"}`;
  if (ended_at === null) return `${head}, no answer yet\n`;
  const reason = row.reason === null ? "" : ` (${row.reason})`;
  const how = row.sent === false ? `not sent${reason}` : `${endingText(readEnding({ ...row }))}${reason}`;
  const lines = [
    `${head}, ended ${ended_at}: ${how}`,
    ...(detail === undefined || detail === "" ? [] : [detail]),
    ...(row.duration_ms === undefined ? [] : [`${timingsText(row)}; ${bytes ?? 0} bytes`]),
    ...(excerpt === undefined || excerpt === "" ? [] : ["", harmless(excerpt)]),
  ];
  return `${lines.join("\n")}\n`;
}

function timingsText({ duration_ms, waited_ms, timings }: HistoryRow): string {
  const parts = [
    ["wait for room", waited_ms],
    ["name lookup", timings?.dns_ms],
    ["connect", timings?.connect_ms],
    ["TLS", timings?.tls_ms],
    ["first byte", timings?.first_byte_ms],
    ["total", duration_ms],
  ] as const;
  return parts.flatMap(([name, ms]) => (ms == null ? [] : [`${name} ${ms} ms`])).join(", ");
}

/** Whoever answered chose the words: nothing in them is obeyed by a terminal. */
function harmless(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, "\uFFFD");
}
