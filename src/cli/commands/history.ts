import { endingText, readEnding, resultOf } from "../../core/state/ending.js";
import type { ControlClient } from "../../krond/control/client.js";
import type { HistoryRow, HistoryWishes } from "../../operations/records/history.js";
import type { AllHistoryPage, JobHistoryRow } from "../../operations/records/history-of-all.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { askOrRun, withDaemon, withDaemonOrStore } from "../daemon.js";
import { EXIT, usageError } from "../exit.js";
import { nextLook } from "../follow.js";
import type { CliIo } from "../io.js";
import { nameCell } from "../job-name.js";
import { newestOf } from "../list/newest.js";
import { printPages } from "../list-output.js";
import { outcomeText } from "../outcome-text.js";
import { printValue } from "../output.js";
import { paintFor } from "../style.js";
import { type Cell, type Column, FittedTable } from "../table.js";
import { DEFAULT_COUNT, HISTORY_OUTCOMES } from "./specs/history.js";

const MOST = 10_000;
/** Rows that the daemon gives at a time of a history of everything. */
const PAGE = 1_000;

function endCell(row: HistoryRow): Cell {
  if (row.started_at === null) return { text: "-" };
  if (row.ended_at === null) return { text: "running", colour: "cyan" };
  const ending = readEnding({ ...row });
  const result = resultOf(ending);
  return { text: endingText(ending), colour: result === "success" ? "green" : result === "unknown" ? "yellow" : "red" };
}

function outcomeCell(row: HistoryRow): Cell {
  const text = outcomeText(row.outcome, row.ended_at === null ? null : readEnding({ ...row }));
  const isBad = row.outcome === "missed" || row.outcome === "unschedulable" || text !== row.outcome;
  return isBad ? { text, colour: "red" } : { text };
}

function sourceText({ source, retry_of, attempt }: HistoryRow): string {
  return retry_of === undefined ? `${source}` : `${source} of ${retry_of}, attempt ${attempt}`;
}

const JOB: Column<JobHistoryRow> = { title: "JOB", rank: 5, least: 12, cap: 40, cell: nameCell };

const COLUMNS: readonly Column<HistoryRow>[] = [
  {
    title: "PERIOD",
    rank: 6,
    least: 20,
    cell: (row) => (row.source === null ? row.period_id : `${row.period_id} (${sourceText(row)})`),
  },
  { title: "OUTCOME", rank: 7, least: 16, cell: outcomeCell },
  { title: "CHOSEN", rank: 1, least: 8, cell: ({ chosen_time }) => timeCell(chosen_time) },
  { title: "STARTED", rank: 3, least: 8, cell: ({ started_at }) => timeCell(started_at) },
  { title: "ENDED", rank: 2, least: 8, cell: ({ ended_at }) => timeCell(ended_at) },
  { title: "EXIT", rank: 8, least: 4, cell: endCell },
  { title: "REASON", rank: 4, least: 6, cell: reasonCell },
];

function reasonCell({ reason, refused_by }: HistoryRow): string {
  return refused_by === undefined ? (reason ?? "") : `${reason}, ${refused_by}`;
}

/** On a narrow terminal the time of day has to do: the period has the date. */
function timeCell(time: string | null): Cell {
  return time === null ? { text: "-" } : { text: time, short: time.slice(11, 19) };
}

function tableOf<T>(columns: readonly Column<T>[], args: ParsedArgs, io: CliIo): FittedTable<T> {
  return new FittedTable(columns, io.outColumns ?? null, paintFor(args, io));
}

/** Oldest first, then what comes; a run is shown when it begins and again when it has ended. */
async function* followed(
  client: ControlClient,
  identity: string,
  count: number,
): AsyncGenerator<readonly HistoryRow[]> {
  let known: ReadonlySet<string> = new Set();
  for (let limit = count; ; limit = DEFAULT_COUNT) {
    const rows = (await client.ask({ op: "history", identity, limit, beforeAt: null })) as readonly HistoryRow[];
    const keyed = rows.map((row) => [JSON.stringify(row), row] as const);
    const news = keyed.filter(([key]) => !known.has(key)).map(([, row]) => row);
    known = new Set(keyed.map(([key]) => key));
    yield news.reverse();
    await nextLook();
  }
}

async function wishesOf(args: ParsedArgs, io: CliIo): Promise<HistoryWishes> {
  const outcomes = (args.text("outcome") ?? "").split(",").filter((word) => word !== "");
  const wrong = outcomes.find((word) => !(HISTORY_OUTCOMES as readonly string[]).includes(word));
  if (wrong !== undefined) {
    throw usageError(`--outcome: "${wrong}" is not one of ${HISTORY_OUTCOMES.join(", ")}`);
  }
  const hasSince = args.text("since") !== undefined;
  const sinceAt = hasSince ? await (await import("../moments.js")).momentArg(args, "since", io, "back") : undefined;
  return {
    ...(sinceAt === undefined ? {} : { sinceAt }),
    ...(outcomes.length === 0 ? {} : { outcomes }),
    ...(args.has("failed") ? { failed: true } : {}),
    // For 'kron verify'; a table has no room for them.
    ...(outputForm(args) === "text" ? {} : { decisions: true }),
  };
}

async function ofAll(limit: number, wishes: HistoryWishes, args: ParsedArgs, io: CliIo): Promise<number> {
  const rows = await withDaemonOrStore(
    args,
    io,
    (client) =>
      newestOf(limit, wishes, async (request) => {
        return (await client.ask({ op: "history_of_all", limit: PAGE, ...request })) as AllHistoryPage;
      }),
    async (reader) => {
      const { answerOverStore } = await import("../offline.js");
      return newestOf(limit, wishes, async (request) => {
        const asked = { op: "history_of_all" as const, limit: PAGE, ...request };
        return (await answerOverStore(asked, reader, io)) as AllHistoryPage;
      });
    },
  );
  const table = tableOf<JobHistoryRow>([JOB, ...COLUMNS], args, io);
  const text = () => (rows.length === 0 ? "nothing of that kind is on record\n" : table.text(rows));
  await printValue(rows, text, args, io);
  return EXIT.ok;
}

function follow(identity: string, limit: number, args: ParsedArgs, io: CliIo): Promise<number> {
  if (outputForm(args) === "json") throw usageError("what has no end is no JSON", "use -o jsonl");
  const filter =
    ["since", "outcome"].find((name) => args.text(name) !== undefined) ?? (args.has("failed") ? "failed" : null);
  if (filter !== null) throw usageError(`--follow shows everything that comes, and --${filter} looks back`);
  return withDaemon(args, io, async (client) => {
    await printPages(followed(client, identity, limit), tableOf(COLUMNS, args, io), args, io);
    return EXIT.ok;
  });
}

export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const [identity, ...more] = args.positionals;
  if (more.length > 0) throw usageError("history takes one job, or none for all of them", "kron history JOB");
  const limit = countArg(args, "count", DEFAULT_COUNT, MOST);
  if (identity === undefined && args.has("follow"))
    throw usageError("--follow needs a job", "kron history JOB --follow");
  if (identity !== undefined && args.has("follow")) return follow(identity, limit, args, io);
  const wishes = await wishesOf(args, io);
  if (identity === undefined) return ofAll(limit, wishes, args, io);
  const request = { op: "history" as const, identity, limit, beforeAt: null, ...wishes };
  const rows = await askOrRun<readonly HistoryRow[]>(args, io, request);
  const isFiltered = wishes.sinceAt !== undefined || wishes.outcomes !== undefined || wishes.failed === true;
  const nothing = isFiltered
    ? `nothing of that kind is on record for ${identity}\n`
    : `nothing is on record for ${identity} yet\n`;
  await printValue(rows, () => (rows.length === 0 ? nothing : tableOf(COLUMNS, args, io).text(rows)), args, io);
  return EXIT.ok;
}
