import { resolve } from "node:path";
import { loadEachJob } from "../../actors/pool/load/configuration.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import type { Problem } from "../../core/base/problem.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { checkOverlap, type Forecast, Forecaster } from "../../core/forecast/forecaster.js";
import { GROUPINGS } from "../../core/forecast/groups.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { countArg, type ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode } from "../exit.js";
import { csvLines } from "../forecast/csv.js";
import { HTML_BUCKETS, htmlPage } from "../forecast/html.js";
import { choiceArg, horizonOf } from "../forecast/options.js";
import { type PastByJob, pastRuns } from "../forecast/past-runs.js";
import { plotText } from "../forecast/plot.js";
import { bucketReports, type ForecastReport, reportOf } from "../forecast/report.js";
import { forecastText, gateText } from "../forecast/text.js";
import type { CliIo } from "../io.js";
import { withKronJobs } from "../kube/kron-job-file.js";
import { noteMissingUids } from "../kube/kron-job-names.js";
import { configurationSources, refuseFindings, shownPlace } from "../load.js";
import { durationArg } from "../moments.js";
import { paintFor } from "../style.js";
import { screenOf } from "../table.js";
import { DEFAULT_TOP, FORECAST_FORMS } from "./specs/forecast.js";

type Form = (typeof FORECAST_FORMS)[number];

const MOST_TOP = 1000;
const PLOT_WIDTH = { fallback: 80, most: 1000 };
/** Rows that are written in one piece. */
const CHUNK = 1024;
/** Jobs between two notes on how far it got. */
const PROGRESS_JOBS = 50_000;
const NO_PAST: PastByJob = new Map();

/** Gives every job once, or refuses the configuration when something is wrong with it. */
type JobSource = (take: (definition: JobDefinition) => void) => Promise<void>;

interface Told {
  readonly forecast: Forecast;
  readonly called: ReadonlyMap<string, string>;
}

async function forecastOf(horizon: Horizon, args: ParsedArgs, io: CliIo): Promise<Told> {
  const called = new Map<string, string>();
  const sources = await configurationSources(args, io);
  const readable = await withKronJobs(sources);
  const forecast = await compute(
    async (take) => {
      const { findings } = await loadEachJob(readable, (job) => {
        const place = shownPlace(job);
        if (place !== null) called.set(job.definition.identity, place);
        take(job.definition);
      });
      await refuseFindings(findings, sources, args, io);
    },
    horizon,
    args,
    io,
  );
  await noteMissingUids(
    readable.flatMap(({ given }) => given?.reading?.jobs ?? []),
    io,
  );
  return { forecast, called };
}

async function compute(source: JobSource, horizon: Horizon, args: ParsedArgs, io: CliIo): Promise<Forecast> {
  const assumedMs = durationArg(args, "assume-duration");
  const state = args.text("state");
  const hasDurations = assumedMs !== undefined || state !== undefined;
  if (hasDurations) refuseUnless(checkOverlap(horizon));
  const past = state === undefined ? NO_PAST : await pastOf(source, resolve(io.cwd, state), io.now());
  const forecaster = new Forecaster(horizon, { by: choiceArg(args, "by", GROUPINGS, "identity"), hasDurations });
  let problem: Problem | null = null;
  let count = 0;
  await source((definition) => {
    if (problem !== null) return;
    const { durationMs = null, lastRunAt = null, standing } = past.get(definition.identity) ?? {};
    problem = forecaster.add(definition, { durationMs: durationMs ?? assumedMs ?? null, lastRunAt, standing });
    count += 1;
    if (io.isErrTerminal && count % PROGRESS_JOBS === 0) void io.err(`\rforecast: ${count} jobs`);
  });
  if (io.isErrTerminal && count >= PROGRESS_JOBS) await io.err("\r\u001b[K");
  refuse(problem);
  return forecaster.result();
}

async function pastOf(source: JobSource, directory: string, now: number): Promise<PastByJob> {
  const identities: string[] = [];
  await source(({ identity, policy }) => {
    if (!policy.suspend) identities.push(identity);
  });
  return pastRuns(directory, identities, now);
}

function refuse(problem: Problem | null): void {
  if (problem !== null) throw new CliError(EXIT.usage, problem.message, problem.hint);
}

function refuseUnless(checked: ReturnType<typeof checkOverlap>): void {
  if (!checked.ok) refuse(checked.error);
}

async function print(form: Form, forecast: Forecast, report: ForecastReport, args: ParsedArgs, io: CliIo) {
  const hasGroups = args.text("by") !== undefined && forecast.by !== "identity";
  const paint = paintFor(args, io);
  switch (form) {
    case "text":
      return io.out(forecastText(report, hasGroups, screenOf(args, io)));
    case "plot": {
      const width = countArg(args, "width", io.outColumns ?? PLOT_WIDTH.fallback, PLOT_WIDTH.most);
      return io.out(plotText(forecast, width, paint));
    }
    case "html":
      return io.out(htmlPage(forecast, report, hasGroups));
    case "json":
      return printPieces(jsonLines(forecast, report), io);
    case "jsonl":
      return printPieces(jsonLinesOfBuckets(forecast), io);
    case "csv":
      return printPieces(csvLines(forecast), io);
  }
}

function* jsonLinesOfBuckets(forecast: Forecast): Generator<string> {
  for (const bucket of bucketReports(forecast)) yield `${JSON.stringify(bucket)}\n`;
}

/** One JSON value, written bucket by bucket: the text of a million of them is never held as one. */
function* jsonLines(forecast: Forecast, report: ForecastReport): Generator<string> {
  const head = JSON.stringify(report, null, 2);
  yield `${head.slice(0, head.lastIndexOf("\n"))},\n  "buckets": [`;
  let separator = "\n    ";
  for (const bucket of bucketReports(forecast)) {
    yield `${separator}${JSON.stringify(bucket)}`;
    separator = ",\n    ";
  }
  yield "\n  ]\n}\n";
}

async function printPieces(pieces: Iterable<string>, io: CliIo): Promise<void> {
  let chunk: string[] = [];
  for (const piece of pieces) {
    chunk.push(piece);
    if (chunk.length < CHUNK) continue;
    await io.out(chunk.join(""));
    chunk = [];
  }
  await io.out(chunk.join(""));
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = choiceArg(args, "output", FORECAST_FORMS, "text");
  const top = countArg(args, "top", DEFAULT_TOP, MOST_TOP);
  const maxPeak = args.text("max-peak") === undefined ? null : countArg(args, "max-peak", 1, 999_999_999);
  const horizon = await horizonOf(args, io);
  if (form === "html" && horizon.buckets > HTML_BUCKETS) {
    const message = `a page shows at most ${HTML_BUCKETS} buckets, these are ${horizon.buckets}`;
    throw new CliError(EXIT.usage, message, "take larger buckets or a shorter horizon");
  }
  const { forecast, called } = await forecastOf(horizon, args, io);
  const versions = { engineVersion: ENGINE_VERSION, tzVersion: zoneDataVersion() };
  const report = reportOf(forecast, { top, maxPeak, ...versions, called });
  await print(form, forecast, report, args, io);
  if (report.gate?.exceeded !== true) return EXIT.ok;
  await io.err(gateText(report.gate));
  return EXIT.configuration;
}
