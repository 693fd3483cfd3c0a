import { resolve } from "node:path";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { isOnce } from "../../core/cron/at.js";
import { isEvery } from "../../core/cron/every.js";
import { isReboot } from "../../core/cron/reboot.js";
import { compileRule } from "../../core/decision/compile.js";
import type { CompiledRule } from "../../core/decision/model.js";
import { toDecisionRecord } from "../../core/decision/record.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../../core/time/instant.js";
import { decisionsOf, soonest, type Upcoming, upcomingOf } from "../../operations/jobs/ahead.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { pastRuns } from "../forecast/past-runs.js";
import { formatDistance, formatWall } from "../format.js";
import type { CliIo } from "../io.js";
import { findJob, loadJobs, shownPlace } from "../load.js";
import { momentArg } from "../moments.js";
import { type Cell, type Column, screenOf, tableText, WHOLE, withoutYear } from "../table.js";
import { DEFAULT_COUNT, DEFAULT_OVERVIEW_COUNT } from "./specs/next.js";

const MOST = 1_000_000;

/** Records between two moments at which the reader may interrupt. */
const CHUNK = 256;

const VERSIONS = { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION };

/** A decision record; of an interval there is none, and less to say. */
function recordOf({ compiled, decision, at }: Upcoming): unknown {
  if (decision !== null) return toDecisionRecord(compiled, decision, VERSIONS);
  const { identity, schedule } = compiled.rule;
  return { identity, schedule, source: "interval", chosen_time: formatInstant(at) };
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

function chosenText({ decision, at }: Upcoming): string {
  return decision?.chosenAt === null ? "unschedulable" : formatInstant(at);
}

function shiftText({ decision }: Upcoming): string {
  if (decision === null || decision.chosenAt === null) return "-";
  const shiftMs = decision.chosenAt - Math.floor(decision.nominalAt / SECOND_MS) * SECOND_MS;
  return `${shiftMs < 0 ? "-" : "+"}${formatDuration(Math.abs(shiftMs))}`;
}

function distanceText({ decision, at: dueAt }: Upcoming, at: EpochMs): string {
  return formatDistance(at, decision?.chosenAt === null ? decision.windowStartAt : dueAt);
}

function periodText({ compiled, decision }: Upcoming): string {
  return decision?.periodId ?? compiled.rule.schedule;
}

/** One job: each row is a period. */
function periodColumns(at: EpochMs): readonly Column<Upcoming>[] {
  return [
    { title: "PERIOD", rank: 4, least: WHOLE, cell: (row) => withoutYear(periodText(row)) },
    { title: "CHOSEN (UTC)", rank: 5, least: WHOLE, cell: (row) => withoutYear(chosenText(row)) },
    { title: "SHIFT", rank: 2, least: WHOLE, cell: shiftText, align: "right" },
    { title: "CHOSEN (LOCAL)", shortTitle: "LOCAL", rank: 1, least: WHOLE, cell: localCell },
    { title: "FROM NOW", rank: 3, least: WHOLE, cell: (row) => distanceText(row, at) },
  ];
}

function localCell({ decision, at, compiled }: Upcoming): Cell {
  if (decision?.chosenAt === null) return { text: "-" };
  const text = formatWall(at, compiled.zone);
  return { text, short: text.slice("2026-".length) };
}

/** All jobs together, soonest first. */
function overviewColumns(at: EpochMs, placeOf: ReadonlyMap<string, string | null>): readonly Column<Upcoming>[] {
  return [
    { title: "CHOSEN (UTC)", rank: 6, least: WHOLE, cell: (row) => withoutYear(chosenText(row)) },
    { title: "FROM NOW", rank: 4, least: WHOLE, cell: (row) => distanceText(row, at) },
    { title: "JOB", rank: 5, least: 20, cell: ({ compiled }) => jobCell(compiled.rule.identity, placeOf) },
    { title: "PERIOD", rank: 2, least: WHOLE, cell: (row) => withoutYear(periodText(row)) },
    { title: "SHIFT", rank: 3, least: WHOLE, cell: shiftText, align: "right" },
    { title: "WINDOW", rank: 1, least: WHOLE, cell: windowText },
  ];
}

function windowText({ decision, compiled }: Upcoming): string {
  const { mode, durationMs } = compiled.rule.window;
  return decision === null ? "-" : `${mode} ${formatDuration(durationMs)}`;
}

/** The job of a crontab is called by a hash: its line stands beside it. */
function jobCell(identity: string, placeOf: ReadonlyMap<string, string | null>): Cell {
  const place = placeOf.get(identity) ?? null;
  return place === null ? { text: identity } : { text: `${identity}  ${place}`, short: place };
}

async function nextOfOne(identity: string, args: ParsedArgs, io: CliIo, at: EpochMs): Promise<ExitCode> {
  const count = countArg(args, "count", DEFAULT_COUNT, MOST);
  const { jobs } = await loadJobs(args, io);
  return nextOfDefinition(findJob(jobs, identity).definition, args, io, at, count);
}

export async function nextOfDefinition(
  definition: JobDefinition,
  args: ParsedArgs,
  io: CliIo,
  at: EpochMs,
  count: number = countArg(args, "count", DEFAULT_COUNT, MOST),
): Promise<ExitCode> {
  const { identity } = definition;
  const compiled = compileRule(definition);
  const lastRunOf = await lastRunsOf([definition], args, io);
  const upcoming = upcomingOf(compiled, decisionsOf(compiled, at), lastRunOf(identity), at);
  await print(take(upcoming, count), args, io, (rows) => tableText(periodColumns(at), rows, screenOf(args, io)));
  const note = noteOf(compiled, lastRunOf(identity), at);
  if (outputForm(args) === "text" && note !== null) await io.out(`\n${note}\n`);
  return EXIT.ok;
}

/** Only intervals count from the last run, and only a state directory knows it. */
async function lastRunsOf(
  definitions: readonly JobDefinition[],
  args: ParsedArgs,
  io: CliIo,
): Promise<(identity: string) => EpochMs | null> {
  const state = args.text("state");
  const intervals = definitions.filter(({ schedule }) => isEvery(schedule)).map(({ identity }) => identity);
  if (state === undefined || intervals.length === 0) return () => null;
  const past = await pastRuns(resolve(io.cwd, state), intervals, io.now());
  return (identity) => past.get(identity)?.lastRunAt ?? null;
}

function noteOf(compiled: CompiledRule, lastRunAt: EpochMs | null, at: EpochMs): string | null {
  if (isOnce(compiled.rule.schedule)) return onceNote(compiled, at);
  if (compiled.isReboot)
    return "Once for each boot of the machine, at the first look of the daemon; no instant is known.";
  return compiled.everyMs === null ? boundsNote(compiled) : intervalNote(compiled, lastRunAt);
}

function onceNote(compiled: CompiledRule, at: EpochMs): string {
  const [next] = decisionsOf(compiled, at);
  if (next !== undefined) return "Once: there is no run after it.";
  const [missed] = compiled.schedule.between(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  return missed === undefined
    ? "Never: a clock change skips its time, and dst.gap is skip."
    : "Once, and that time is over: 'kron why' says what became of it.";
}

function intervalNote({ everyMs }: CompiledRule, lastRunAt: EpochMs | null): string {
  const every = `Every ${formatDuration(everyMs ?? 0)} from the start of one run to the next`;
  return lastRunAt === null
    ? `${every}; counted from now. With --state it is counted from the last run.`
    : `${every}; counted from the last run, ${formatInstant(lastRunAt)}.`;
}

function boundsNote({ minMs, maxMs }: CompiledRule): string | null {
  const bounds = [
    ...(minMs === null ? [] : [`at least ${formatDuration(minMs)}`]),
    ...(maxMs === null ? [] : [`at most ${formatDuration(maxMs)}`]),
  ];
  if (bounds.length === 0) return null;
  return `From the start of one run to the next it is ${bounds.join(" and ")}: 'kron forecast' counts with that.`;
}

async function nextOfAll(args: ParsedArgs, io: CliIo, at: EpochMs): Promise<ExitCode> {
  const count = countArg(args, "count", DEFAULT_OVERVIEW_COUNT, MOST);
  const { jobs } = await loadJobs(args, io);
  const active = jobs.filter(({ definition }) => !definition.policy.suspend);
  const definitions = active.map(({ definition }) => definition);
  const lastRunOf = await lastRunsOf(definitions, args, io);
  const upcoming = soonest(definitions.map(compileRule), lastRunOf, at, count);
  const placeOf = new Map(active.map((job) => [job.definition.identity, shownPlace(job)]));
  await print(upcoming, args, io, (rows) => tableText(overviewColumns(at, placeOf), rows, screenOf(args, io)));
  const suspended = jobs.length - active.length;
  const over = definitions.filter((definition) => isOnce(definition.schedule) && isOver(definition, at)).length;
  if (outputForm(args) === "text" && over > 0) {
    await io.out(`\n${over === 1 ? "One job that runs once has" : `${over} jobs that run once have`} no time left.\n`);
  }
  const atBoot = definitions.filter(({ schedule }) => isReboot(schedule)).length;
  if (outputForm(args) === "text" && atBoot > 0) {
    await io.out(`\n${atBoot === 1 ? "One job runs" : `${atBoot} jobs run`} at boot, at no instant that is known.\n`);
  }
  if (outputForm(args) === "text" && suspended > 0) {
    await io.out(`\n${suspended === 1 ? "One suspended job is" : `${suspended} suspended jobs are`} not shown.\n`);
  }
  return EXIT.ok;
}

function isOver(definition: JobDefinition, at: EpochMs): boolean {
  const [next] = decisionsOf(compileRule(definition), at);
  return next === undefined;
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
  const at = (await momentArg(args, "at", io)) ?? io.now();
  return identity === undefined ? nextOfAll(args, io, at) : nextOfOne(identity, args, io, at);
}
