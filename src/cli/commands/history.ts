import { endingText, readEnding } from "../../core/state/ending.js";
import type { ControlClient } from "../../krond/control/client.js";
import { type HistoryRow, readHistory } from "../../krond/state/history.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { askOrRead, withDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { nextLook } from "../follow.js";
import type { CliIo } from "../io.js";
import { printPages, TextTable } from "../list-output.js";
import { printValue } from "../output.js";
import { type Paint, paintFor } from "../style.js";
import { DEFAULT_COUNT } from "./specs/history.js";

const MOST = 10_000;

function endText(row: HistoryRow): string {
  if (row.started_at === null) return "-";
  return row.ended_at === null ? "running" : endingText(readEnding({ ...row }));
}

function sourceText({ source, retry_of, attempt }: HistoryRow): string {
  return retry_of === undefined ? `${source}` : `${source} of ${retry_of}, attempt ${attempt}`;
}

const HEADER = ["PERIOD", "OUTCOME", "CHOSEN", "STARTED", "ENDED", "EXIT", "REASON"];

function cellsOf(row: HistoryRow): readonly string[] {
  return [
    row.source === null ? row.period_id : `${row.period_id} (${sourceText(row)})`,
    row.outcome,
    row.chosen_time ?? "-",
    row.started_at ?? "-",
    row.ended_at ?? "-",
    endText(row),
    row.reason ?? "",
  ];
}

function table(rows: readonly HistoryRow[], paint: Paint): string {
  return new TextTable(HEADER, cellsOf, paint).text(rows);
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

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError("history takes one job", "kron history JOB");
  const limit = countArg(args, "count", DEFAULT_COUNT, MOST);
  if (args.has("follow")) {
    if (outputForm(args) === "json") throw usageError("what has no end is no JSON", "use -o jsonl");
    const rows = new TextTable(HEADER, cellsOf, paintFor(args, io));
    return withDaemon(args, io, async (client) => {
      await printPages(followed(client, identity, limit), rows, args, io);
      return EXIT.ok;
    });
  }
  const request = { op: "history" as const, identity, limit, beforeAt: null };
  const { value: rows } = await askOrRead(args, io, request, (reader) => readHistory(reader, request));
  const nothing = `nothing is on record for ${identity} yet\n`;
  await printValue(rows, () => (rows.length === 0 ? nothing : table(rows, paintFor(args, io))), args, io);
  return EXIT.ok;
}
