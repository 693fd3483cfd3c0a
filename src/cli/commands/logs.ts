import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobStatus } from "../../actors/supervisor/port.js";
import { ALL_JOBS } from "../../actors/supervisor/rows/job-query.js";
import { outputDirectoryOf } from "../../actors/supervisor/run/arm-request.js";
import { fileWords } from "../../core/base/errors/file-words.js";
import { type EpochMs, formatInstant, knownInstant } from "../../core/time/instant.js";
import type { ControlClient } from "../../krond/control/client.js";
import { outputDirectoryIn } from "../../krond/state/directory.js";
import type { ListPage } from "../../operations/jobs/list.js";
import { type Begun, filePrefix, OutputFiles } from "../../operations/jobs/output-files.js";
import type { HistoryRow } from "../../operations/records/history.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { withDaemonOrStore } from "../daemon.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import { nextLook, Tail } from "../follow.js";
import type { CliIo } from "../io.js";
import { jobPeriodOf } from "../job-period.js";
import { printValue } from "../output.js";
import { recordedRuns, requestText } from "../request-text.js";
import { stateDirectoryOf } from "../state-options.js";

interface Wanted {
  readonly written: string;
  readonly identity: string;
  readonly periodAt: EpochMs | null;
  readonly directory: string;
  readonly files: OutputFiles;
}

/** `run`: the one that is meant, as it is on record; it may have been another machine's. */
async function show(wanted: Wanted, run: HistoryRow | null, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const last = await wanted.files.newest().catch(unreadable);
  const elsewhere = run?.node === undefined ? "" : `: its run of ${run.period_id} was on the node ${run.node}`;
  if (last === null) {
    const hint = elsewhere === "" ? [] : [`its output lies there: kron logs ${wanted.written}, on that node`];
    throw new CliError(
      EXIT.usage,
      `no output of ${wanted.written} is kept in ${wanted.directory}${elsewhere}`,
      ...hint,
    );
  }
  if (run !== null && elsewhere !== "" && !last.startsWith(filePrefix(knownInstant(run.period_id)))) {
    await io.err(`kron: this is of an earlier run${elsewhere}, where its output lies\n`);
  }
  if (args.has("list")) {
    const paths = (await wanted.files.all()).map((name) => join(wanted.directory, name));
    await printValue(paths, () => `${paths.join("\n")}\n`, args, io);
    return EXIT.ok;
  }
  const path = join(wanted.directory, last);
  const text = await readFile(path, "utf8");
  await printValue({ path, text }, () => text, args, io);
  return EXIT.ok;
}

/** Run after run until somebody ends it; with a period, until its run has ended. */
async function follow(wanted: Wanted, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = outputForm(args);
  if (form === "json") throw usageError("what has no end is no JSON", "use -o jsonl");
  const first = await statusNow(wanted, args, io);
  if (first === "unknown") throw new CliError(EXIT.usage, `no job "${wanted.identity}"`);
  let [shown, tail]: [string | null, Tail | null] = [null, null];
  for (;;) {
    // Before the file is read: what is written up to the end of a run is shown.
    const isOver = wanted.periodAt !== null && (await statusNow(wanted, args, io)) !== "running";
    const newest = await wanted.files.newest().catch(unreadable);
    if (newest !== null && newest !== shown) {
      await tail?.close();
      [shown, tail] = [newest, await Tail.open(join(wanted.directory, newest))];
      if (form === "text" && wanted.periodAt === null) await io.err(`==> ${newest}\n`);
    }
    const path = join(wanted.directory, shown ?? "");
    for await (const text of tail?.news() ?? []) {
      await io.out(form === "text" ? text : `${JSON.stringify({ path, text })}\n`);
    }
    if (isOver) return EXIT.ok;
    await nextLook();
  }
}

async function statusNow({ identity, periodAt }: Wanted, args: ParsedArgs, io: CliIo) {
  const filter = { ...ALL_JOBS, identities: [identity] };
  const isRunning = ({ active }: JobStatus): boolean => {
    return active.some(({ periodId }) => periodAt !== null && periodId === formatInstant(periodAt));
  };
  const ask = async (client: ControlClient) => {
    const { rows } = (await client.ask({ op: "list", after: null, limit: 2, filter })) as ListPage;
    const row = rows.find((it) => it.identity === identity);
    if (row === undefined) return "unknown" as const;
    return isRunning(row) ? ("running" as const) : ("at rest" as const);
  };
  return withDaemonOrStore(args, io, ask, async () => "at rest" as const);
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [written, ...more] = args.positionals;
  if (written === undefined || more.length > 0) throw usageError("logs takes one job", "kron logs JOB[@PERIOD]");
  const { identity, periodAt } = await jobPeriodOf(written, args, io);
  const directory = outputDirectoryOf(outputDirectoryIn(stateDirectoryOf(args, io)), identity);
  const runs = (): Promise<readonly HistoryRow[] | null> => {
    return recordedRuns(identity, periodAt, args, io).catch(onlyFiles);
  };
  // Of a run that has printed nothing there is nothing to follow: no record is asked.
  const isFollowed = args.has("follow");
  const files = new OutputFiles(directory, periodAt, async () => (isFollowed ? new Set() : begunAmong(await runs())));
  const wanted = { written, identity, periodAt, directory, files };
  if (isFollowed) return follow(wanted, args, io);
  const found = args.has("list") ? null : ((await runs())?.[0] ?? null);
  if (found?.holder !== "request") return show(wanted, found, args, io);
  await printValue(found, () => requestText(found), args, io);
  return EXIT.ok;
}

function begunAmong(runs: readonly HistoryRow[] | null): Begun {
  return runs && new Set(runs.flatMap(({ attempt_id }) => attempt_id ?? []));
}

function unreadable(error: unknown): never {
  const path = error instanceof Error && "path" in error ? `${String(error.path)}: ` : "";
  throw new CliError(EXIT.usage, `${path}${fileWords(error)}`);
}

/** Output is kept for jobs that no store knows any more. */
function onlyFiles(error: unknown): null {
  if (error instanceof CliError && error.exitCode === EXIT.usage) return null;
  throw error;
}
