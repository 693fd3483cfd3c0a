import { type HistoryRow, readHistory } from "../../krond/history.js";
import { countArg, type ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { askOrRead } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { STATE_OPTION } from "../state-options.js";
import { type Paint, paintFor, renderTable } from "../style.js";

const DEFAULT_COUNT = 20;
const MOST = 10_000;

function endText({ exit_code, signal, started_at, ended_at }: HistoryRow): string {
  if (started_at === null) return "-";
  if (ended_at === null) return "running";
  return signal ?? (exit_code === null ? "unknown" : String(exit_code));
}

function table(rows: readonly HistoryRow[], paint: Paint): string {
  const header = ["PERIOD", "OUTCOME", "CHOSEN", "STARTED", "ENDED", "EXIT", "REASON"];
  const cells = rows.map((row) => [
    row.source === null ? row.period_id : `${row.period_id} (${row.source})`,
    row.outcome,
    row.chosen_time ?? "-",
    row.started_at ?? "-",
    row.ended_at ?? "-",
    endText(row),
    row.reason ?? "",
  ]);
  return renderTable(header, cells, ["left", "left", "left", "left", "left", "left", "left"], paint);
}

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError("history takes one job", "kron history JOB");
  const limit = countArg(args, "count", DEFAULT_COUNT, MOST);
  const request = { op: "history" as const, identity, limit, beforeAt: null };
  const { value: rows } = await askOrRead(args, io, request, (reader) => readHistory(reader, request));
  const nothing = `nothing is on record for ${identity} yet\n`;
  await printValue(rows, () => (rows.length === 0 ? nothing : table(rows, paintFor(args, io))), args, io);
  return EXIT.ok;
}

export const HISTORY: Command = {
  name: "history",
  summary: "show what happened to a job, newest first",
  usage: "JOB [OPTIONS]",
  details: `
Shows the periods of JOB that reached an outcome, its manual runs, and what was passed over, newest first.

  kron history prod/db-backup --count 5`,
  options: [STATE_OPTION, { name: "count", short: "n", value: "N", help: `how many (default: ${DEFAULT_COUNT})` }],
  run,
};
