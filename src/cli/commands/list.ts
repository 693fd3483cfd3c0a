import type { JobStatus } from "../../actors/supervisor/port.js";
import { isReboot } from "../../core/cron/reboot.js";
import { parseInstant } from "../../core/time/instant.js";
import type { ControlClient } from "../../krond/control/client.js";
import { type ListFilter, ListJudge, STANDINGS } from "../../krond/control/list-filter.js";
import { LIST_LIMITS, type ListPage } from "../../krond/control/list-request.js";
import { CONTROL_LIMITS } from "../../krond/control-answers.js";
import type { StateReader } from "../../persist/store.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { withDaemonOrStore } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { formatDistance } from "../format.js";
import type { CliIo } from "../io.js";
import { printPages, TextTable } from "../list-output.js";
import { paintFor } from "../style.js";

function nextText({ standing, pausedUntil, nextChosenTime, schedule }: JobStatus, now: number): string {
  if (standing === "suspended" || standing === "removed") return standing;
  const at = parseInstant(nextChosenTime ?? "");
  const when = at.ok ? `${nextChosenTime} (${formatDistance(now, at.value)})` : isReboot(schedule) ? "at boot" : "-";
  return pausedUntil === null ? when : `${when} paused until ${pausedUntil}`;
}

function lastText({ lastPeriodId, lastOutcome, lastReason }: JobStatus): string {
  if (lastOutcome === null) return "-";
  return `${lastOutcome}${lastReason === null ? "" : ` (${lastReason})`} ${lastPeriodId ?? ""}`;
}

const HEADER = ["JOB", "SCHEDULE", "NEXT (UTC)", "RUNNING", "LAST OUTCOME, PERIOD"];
const MOST = 10_000_000;

function cellsOf(row: JobStatus, now: number): readonly string[] {
  const running = row.active.length === 0 ? "-" : row.active.map(({ pid, holder }) => holder ?? pid).join(",");
  return [row.identity, `${row.schedule} ${row.timezone}`, nextText(row, now), running, lastText(row)];
}

function words(args: ParsedArgs, name: string): readonly string[] {
  const found = (args.text(name) ?? "").split(",").filter((word) => word !== "");
  if (found.length <= CONTROL_LIMITS.filterWords) return found;
  throw usageError(`--${name}: more than ${CONTROL_LIMITS.filterWords} words`);
}

function filterOf(args: ParsedArgs): ListFilter {
  const standings = words(args, "standing").map((word) => {
    const standing = STANDINGS.find((known) => known === word);
    if (standing === undefined) throw usageError(`--standing: "${word}" is not one of ${STANDINGS.join(", ")}`);
    return standing;
  });
  return { identities: words(args, "identity"), standings, tags: words(args, "tag") };
}

async function* livePages(client: ControlClient, filter: ListFilter): AsyncGenerator<readonly JobStatus[]> {
  let after: string | null = null;
  do {
    const request = { op: "list" as const, after, limit: LIST_LIMITS.rows, filter };
    const page = (await client.ask(request)) as ListPage;
    yield page.rows;
    after = page.next;
  } while (after !== null);
}

async function* storedPages(
  reader: StateReader,
  filter: ListFilter,
  now: number,
): AsyncGenerator<readonly JobStatus[]> {
  const { offlineStatuses } = await import("../../krond/state/offline-status.js");
  const judge = new ListJudge(filter, reader);
  for await (const rows of offlineStatuses(reader, now)) yield judge.wanted(rows);
}

async function* firstOf<T>(pages: AsyncIterable<readonly T[]>, count: number): AsyncGenerator<readonly T[]> {
  let left = count;
  for await (const rows of pages) {
    yield rows.slice(0, left);
    left -= rows.length;
    if (left <= 0) return;
  }
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("list takes no arguments", "kron list --identity 'prod/*'");
  const now = io.now();
  const filter = filterOf(args);
  const count = countArg(args, "count", MOST, MOST);
  const isText = outputForm(args) === "text";
  const table = new TextTable<JobStatus>(HEADER, (row) => cellsOf(row, now), paintFor(args, io));
  const print = (pages: AsyncIterable<readonly JobStatus[]>): Promise<void> =>
    printPages(firstOf(pages, count), table, args, io);
  await withDaemonOrStore(
    args,
    io,
    (client) => print(livePages(client, filter)),
    async (reader) => {
      if (isText) await io.out("No daemon runs: this is what the last one left behind.\n");
      await print(storedPages(reader, filter, now));
    },
  );
  return EXIT.ok;
}
