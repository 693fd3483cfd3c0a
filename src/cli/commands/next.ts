import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { compileRule } from "../../core/decision/compile.js";
import type { CompiledRule, Decision } from "../../core/decision/model.js";
import { toDecisionRecord } from "../../core/decision/record.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../../core/time/instant.js";
import { countArg, instantArg, outputForm, type ParsedArgs } from "../args.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { formatDistance, formatWall } from "../format.js";
import type { CliIo } from "../io.js";
import { findJob, loadJobs } from "../load.js";
import { type Paint, paintFor, renderTable } from "../style.js";
import { decisionsAfter, soonest } from "../upcoming.js";
import { DEFAULT_COUNT, DEFAULT_OVERVIEW_COUNT } from "./specs/next.js";

interface Upcoming {
  readonly compiled: CompiledRule;
  readonly decision: Decision;
}

const MOST = 1_000_000;

/** Records between two moments at which the reader may interrupt. */
const CHUNK = 256;

const VERSIONS = { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION };

function recordOf({ compiled, decision }: Upcoming): unknown {
  return toDecisionRecord(compiled, decision, VERSIONS);
}

function* take<T>(values: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const value of values) {
    yield value;
    taken += 1;
    if (taken >= count) return;
  }
}

async function printRecords(upcoming: Iterable<Upcoming>, io: CliIo): Promise<void> {
  let lines: string[] = [];
  for (const each of upcoming) {
    lines.push(`${JSON.stringify(recordOf(each))}\n`);
    if (lines.length < CHUNK) continue;
    await io.out(lines.join(""));
    lines = [];
  }
  await io.out(lines.join(""));
}

function chosenText({ decision }: Upcoming): string {
  return decision.chosenAt === null ? "unschedulable" : formatInstant(decision.chosenAt);
}

function shiftText({ decision }: Upcoming): string {
  if (decision.chosenAt === null) return "-";
  const shiftMs = decision.chosenAt - Math.floor(decision.nominalAt / SECOND_MS) * SECOND_MS;
  return `${shiftMs < 0 ? "-" : "+"}${formatDuration(Math.abs(shiftMs))}`;
}

function distanceText({ decision }: Upcoming, at: EpochMs): string {
  return formatDistance(at, decision.chosenAt ?? decision.windowStartAt);
}

/** One job: each row is a period. */
function periodTable(rows: readonly Upcoming[], at: EpochMs, paint: Paint): string {
  const header = ["PERIOD", "CHOSEN (UTC)", "SHIFT", "CHOSEN (LOCAL)", "FROM NOW"];
  const cells = rows.map((row) => [
    row.decision.periodId,
    chosenText(row),
    shiftText(row),
    row.decision.chosenAt === null ? "-" : formatWall(row.decision.chosenAt, row.compiled.zone),
    distanceText(row, at),
  ]);
  return renderTable(header, cells, ["left", "left", "right", "left", "left"], paint);
}

/** All jobs together, soonest first. */
function overviewTable(rows: readonly Upcoming[], at: EpochMs, paint: Paint): string {
  const header = ["CHOSEN (UTC)", "FROM NOW", "JOB", "PERIOD", "SHIFT", "WINDOW"];
  const cells = rows.map((row) => [
    chosenText(row),
    distanceText(row, at),
    row.compiled.rule.identity,
    row.decision.periodId,
    shiftText(row),
    `${row.compiled.rule.window.mode} ${formatDuration(row.compiled.rule.window.durationMs)}`,
  ]);
  return renderTable(header, cells, ["left", "left", "left", "left", "right", "left"], paint);
}

async function nextOfOne(identity: string, args: ParsedArgs, io: CliIo, at: EpochMs): Promise<ExitCode> {
  const count = countArg(args, "count", DEFAULT_COUNT, MOST);
  const { jobs } = await loadJobs(args, io);
  const compiled = compileRule(findJob(jobs, identity).definition);
  const decisions = take(decisionsAfter(compiled, at), count);
  const upcoming = (function* (): Generator<Upcoming> {
    for (const decision of decisions) yield { compiled, decision };
  })();
  await print(upcoming, args, io, (rows) => periodTable(rows, at, paintFor(args, io)));
  return EXIT.ok;
}

async function nextOfAll(args: ParsedArgs, io: CliIo, at: EpochMs): Promise<ExitCode> {
  const count = countArg(args, "count", DEFAULT_OVERVIEW_COUNT, MOST);
  const { jobs } = await loadJobs(args, io);
  const active = jobs.filter(({ definition }) => !definition.policy.suspend);
  const upcoming = soonest(
    active.map(({ definition }) => compileRule(definition)),
    at,
    count,
  );
  await print(upcoming, args, io, (rows) => overviewTable(rows, at, paintFor(args, io)));
  const suspended = jobs.length - active.length;
  if (outputForm(args) === "text" && suspended > 0) {
    await io.out(`\n${suspended === 1 ? "One suspended job is" : `${suspended} suspended jobs are`} not shown.\n`);
  }
  return EXIT.ok;
}

async function print(
  upcoming: Iterable<Upcoming>,
  args: ParsedArgs,
  io: CliIo,
  table: (rows: readonly Upcoming[]) => string,
): Promise<void> {
  const form = outputForm(args);
  if (form === "jsonl") await printRecords(upcoming, io);
  else if (form === "json") await io.out(`${JSON.stringify([...upcoming].map(recordOf), null, 2)}\n`);
  else await io.out(table([...upcoming]));
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [identity, ...more] = args.positionals;
  if (more.length > 0) throw usageError("next takes at most one job");
  outputForm(args);
  const at = instantArg(args, "at") ?? io.now();
  return identity === undefined ? nextOfAll(args, io, at) : nextOfOne(identity, args, io, at);
}
