import { hostTimezone } from "../../actors/host-zone.js";
import { errorKind } from "../../core/base/errors/registry.js";
import { LIMITS } from "../../core/base/limits.js";
import {
  type CrontabForm,
  type CrontabLine,
  type CrontabReading,
  type CrontabRules,
  readCrontab,
} from "../../core/config/crontab/crontab.js";
import { crontabYaml, type ExportedJob, exportedJobs } from "../../core/config/crontab/export.js";
import { crontabFormOf, crontabOwnerOf, hasUnmailedJobs } from "../../core/config/crontab/report.js";
import { formatProblem } from "../../core/config/format-problem.js";
import { definitionToRaw } from "../../core/job/schema.js";
import { nearest } from "../../core/job/suggest.js";
import { zoneOf } from "../../core/time/zone.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { printReport } from "../output.js";
import { hasColour, type Paint, paintFor } from "../style.js";
import { readTextFile } from "../text-file.js";
import { importCronJobs } from "./import-cronjob.js";
import { importTimers } from "./import-systemd.js";
import { verdictCounts, verdictLine } from "./import-verdict.js";

const KINDS = ["crontab", "systemd", "cronjob"];

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [kind, ...files] = args.positionals;
  if (kind === undefined) throw usageError("import needs to know from what", "write: kron import crontab FILE...");
  if (!KINDS.includes(kind)) throw unknownKind(kind);
  if (kind === "systemd") {
    if (files.length === 0)
      throw usageError("import systemd needs a timer or a directory", "kron import systemd /etc/systemd/system");
    return importTimers(files, timezoneArg(args), args, io);
  }
  if (kind === "cronjob") {
    if (files.length === 0)
      throw usageError("import cronjob needs a file", "kubectl get cronjobs -o yaml | kron import cronjob -");
    return importCronJobs(files, args, io);
  }
  if (files.length === 0) throw usageError("import crontab needs a file", "crontab -l | kron import crontab -");
  return importCrontabs(files, args, io);
}

function unknownKind(kind: string): Error {
  const near = nearest(kind, KINDS);
  const hint = near === undefined ? `known: ${KINDS.join(", ")}` : `did you mean 'kron import ${near}'?`;
  return usageError(`cannot import from "${kind}"`, hint);
}

async function importCrontabs(files: readonly string[], args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = outputForm(args);
  const readings: CrontabReading[] = [];
  for (const file of files) {
    const { path, text } = await readTextFile(file, LIMITS.crontabFileBytes, io);
    readings.push(readCrontab(file === "-" ? "crontab" : file, text, rulesOf(path, args)));
  }
  const jobs = exportedJobs(readings);
  if (form === "text") await printText(readings, jobs, args, io);
  else await printJson(readings, jobs, form, io);
  const hint = formHint(readings, args);
  if (hint !== null) await io.err(`hint: ${hint}\n`);
  return readings.some(({ problems }) => problems.length > 0) ? EXIT.configuration : EXIT.ok;
}

function rulesOf(path: string | null, args: ParsedArgs): CrontabRules {
  if (args.has("user") && args.has("system")) throw usageError("--user and --system exclude each other");
  const known = path === null ? null : crontabFormOf(path);
  const given: CrontabForm | null = args.has("system") ? "system" : args.has("user") ? "user" : null;
  const form = given ?? known ?? "user";
  const owner = args.text("run-as") ?? (path === null ? null : crontabOwnerOf(path));
  if (form === "system" && args.text("run-as") !== undefined) {
    throw usageError("--run-as is for user crontabs: in the system form every line names its user");
  }
  return { form, timezone: timezoneArg(args), owner: form === "user" ? owner : null };
}

function timezoneArg(args: ParsedArgs): string {
  const given = args.text("timezone");
  const zone = zoneOf(given ?? hostTimezone());
  if (zone.ok) return zone.value.id;
  if (given === undefined) return "UTC";
  throw usageError(`--timezone: ${zone.error.message}`, zone.error.hint);
}

const UNMAILED =
  "note: without a MAILTO line above it cron mails a job's output to the owner; here nobody is mailed: see notify, and kron logs\n";

async function printText(
  readings: readonly CrontabReading[],
  jobs: readonly ExportedJob[],
  args: ParsedArgs,
  io: CliIo,
): Promise<void> {
  const color = hasColour(args, io, io.isErrTerminal);
  const paint = paintFor(args, { ...io, isOutTerminal: io.isErrTerminal });
  if (jobs.length > 0) await io.out(crontabYaml(jobs));
  for (const reading of readings) {
    for (const line of reading.lines) await io.err(lineText(reading, line, color, paint));
  }
  if (readings.some(hasUnmailedJobs)) await io.err(UNMAILED);
  await io.err(`${plural(jobs.length, "job")}; ${verdictCounts(readings)}\n`);
}

/** One line for each verdict; a job that cannot be taken over is shown like any other error. */
function lineText(reading: CrontabReading, line: CrontabLine, color: boolean, paint: Paint): string {
  const problems = reading.problems.filter((problem) => problem.line === line.line);
  if (problems.length > 0) {
    return problems.map((problem) => `${formatProblem(problem, line.text, { color })}\n`).join("");
  }
  return verdictLine(reading.file, line, paint);
}

async function printJson(
  readings: readonly CrontabReading[],
  jobs: readonly ExportedJob[],
  form: "json" | "jsonl",
  io: CliIo,
): Promise<void> {
  const lines = readings.flatMap((reading) => reading.lines.map((line) => lineJson(reading, line, jobs)));
  const yaml = jobs.length === 0 ? "" : crontabYaml(jobs);
  const files = readings.map(({ file }) => file);
  await printReport(form, { files, jobs: jobs.length, lines, yaml }, lines, io);
}

/** `live_identity`: of the job when krond reads the crontab itself. */
function lineJson(reading: CrontabReading, line: CrontabLine, jobs: readonly ExportedJob[]): unknown {
  const { kind, text, verdict, notes } = line;
  const job = jobs.find(({ source }) => source === line);
  const errors = reading.problems.filter((problem) => problem.line === line.line);
  return {
    file: reading.file,
    line: line.line,
    kind,
    verdict,
    notes,
    text,
    errors: errors.map(({ problem, column, length }) => {
      const { code, message, hint } = problem;
      return { column, length, code, category: errorKind(code).category, message, hint: hint ?? null };
    }),
    live_identity: line.identity,
    job: job === undefined ? null : definitionToRaw(job.definition),
  };
}

/** A copy of /etc/crontab has no path that tells its form; taken for a user's, every command begins with a user. */
function formHint(readings: readonly CrontabReading[], args: ParsedArgs): string | null {
  if (args.has("user") || args.has("system")) return null;
  const all = readings.flatMap(({ lines }) => lines.filter(({ identity }) => identity !== null));
  const named = all.filter(({ text }) => /^\s*(?:@\S+|(?:\S+\s+){4}\S+)\s+root\s/.test(text));
  const isLikely = named.length > 0 && readings.every(({ file }) => crontabFormOf(file) === null);
  return isLikely ? 'some commands begin with "root": if a user stands there, add --system' : null;
}
