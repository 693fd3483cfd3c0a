import type { JobStatus } from "../../actors/supervisor/port.js";
import { parseInstant } from "../../core/time/instant.js";
import { offlineStatuses } from "../../krond/offline-status.js";
import type { ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { askOrRead } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { formatDistance } from "../format.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { STATE_OPTION } from "../state-options.js";
import { type Paint, paintFor, renderTable } from "../style.js";

function nextText({ standing, pausedUntil, nextChosenTime }: JobStatus, now: number): string {
  if (standing === "suspended" || standing === "removed") return standing;
  const at = parseInstant(nextChosenTime ?? "");
  const when = at.ok ? `${nextChosenTime} (${formatDistance(now, at.value)})` : "-";
  return pausedUntil === null ? when : `${when} paused until ${pausedUntil}`;
}

function lastText({ lastPeriodId, lastOutcome, lastReason }: JobStatus): string {
  if (lastOutcome === null) return "-";
  return `${lastOutcome}${lastReason === null ? "" : ` (${lastReason})`} ${lastPeriodId ?? ""}`;
}

function table(rows: readonly JobStatus[], now: number, paint: Paint): string {
  const header = ["JOB", "SCHEDULE", "NEXT (UTC)", "RUNNING", "LAST OUTCOME, PERIOD"];
  const cells = rows.map((row) => [
    row.identity,
    `${row.schedule} ${row.timezone}`,
    nextText(row, now),
    row.active.length === 0 ? "-" : row.active.map(({ pid }) => pid).join(","),
    lastText(row),
  ]);
  return renderTable(header, cells, ["left", "left", "left", "left", "left"], paint);
}

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("list takes no arguments");
  const now = io.now();
  const { value, isLive } = await askOrRead(args, io, { op: "list" }, (reader) => offlineStatuses(reader, now));
  const rows = [...value].sort((one, other) => (one.identity < other.identity ? -1 : 1));
  const note = isLive ? "" : "No daemon runs: this is what the last one left behind.\n";
  await printValue(rows, () => note + table(rows, now, paintFor(args, io)), args, io);
  return EXIT.ok;
}

export const LIST: Command = {
  name: "list",
  summary: "show all jobs: what runs, what is next, what was last",
  usage: "[OPTIONS]",
  details: `
Shows every job of the daemon with its next run, the processes that are running, and the last outcome. When no daemon
runs, it reads what the last one left in the state directory.

  kron list --state /var/lib/krond`,
  options: [STATE_OPTION],
  run,
};
