/** `kron import systemd`: timers and the services they start become jobs, with a verdict for every line of both. */

import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileWords } from "../../core/base/errors/file-words.js";
import { errorKind } from "../../core/base/errors/registry.js";
import { LIMITS } from "../../core/base/limits.js";
import { type CommentedJob, jobsYaml, NameBook } from "../../core/config/export.js";
import { formatProblem } from "../../core/config/format-problem.js";
import type { SystemdReading } from "../../core/config/systemd/report.js";
import { readTimer, serviceNameOf } from "../../core/config/systemd/timer.js";
import { readUnit, type Unit, type UnitText } from "../../core/config/systemd/unit.js";
import { definitionToRaw } from "../../core/job/schema.js";
import { formatSize } from "../../core/job/size.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { printReport } from "../output.js";
import { hasColour, paintFor } from "../style.js";
import { verdictCounts, verdictLine } from "./import-verdict.js";

/** Where units are looked for that do not stand beside their timer; the first wins. */
const SYSTEM_DIRECTORIES = [
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];
const USER_DIRECTORIES = ["/etc/systemd/user", "/run/systemd/user", "/usr/lib/systemd/user"];
/** Of one unit file; systemd's own are a few kilobytes. */
const UNIT_BYTES = LIMITS.crontabFileBytes;

interface Found {
  /** As it is opened, and as it is named to people. */
  readonly path: string;
  readonly shown: string;
}

export async function importTimers(
  names: readonly string[],
  timezone: string,
  args: ParsedArgs,
  io: CliIo,
): Promise<ExitCode> {
  if (args.has("system") || args.text("run-as") !== undefined) {
    throw usageError("--system and --run-as are for crontabs: units name their user themselves");
  }
  const form = outputForm(args);
  const shelf = new UnitShelf(io.cwd, args.has("user") ? USER_DIRECTORIES : SYSTEM_DIRECTORIES);
  const readings: SystemdReading[] = [];
  for (const { timer, shown } of await shelf.timersOf(names)) {
    const unit = await shelf.unit(timer, shown);
    const service = await shelf.beside(shown.path, serviceNameOf(unit));
    readings.push(readTimer(unit, service, { timezone, isUser: args.has("user") }));
  }
  const jobs = renamed(readings);
  if (form === "text") await printText(readings, jobs, args, io);
  else await printJson(readings, jobs, form, io);
  const isWhole = readings.every(({ problems, lines }) => {
    return problems.length === 0 && lines.every(({ verdict }) => verdict !== "unsupported");
  });
  return isWhole ? EXIT.ok : EXIT.configuration;
}

/** Finds unit files: those that were given, those beside them, and those of the system. */
class UnitShelf {
  readonly #cwd: string;
  readonly #directories: readonly string[];

  constructor(cwd: string, directories: readonly string[]) {
    this.#cwd = cwd;
    this.#directories = directories;
  }

  /** The timers of what was given: files, names of units, directories with all their timers. */
  async timersOf(names: readonly string[]): Promise<readonly { readonly timer: string; readonly shown: Found }[]> {
    const timers: { timer: string; shown: Found }[] = [];
    for (const name of names) {
      const path = resolve(this.#cwd, name);
      const stats = await stat(path).catch(() => null);
      if (stats?.isDirectory() === true) timers.push(...(await timersIn({ path, shown: name })));
      else if (basename(name).endsWith(".timer")) timers.push(await this.#named({ path, shown: name }));
      else if (!basename(name).endsWith(".service")) throw usageError(`${name} is neither a timer nor a directory`);
    }
    if (timers.length === 0) throw new CliError(EXIT.configuration, `no timer in ${names.join(", ")}`);
    return timers;
  }

  /** A unit with its drop-ins, also of a template whose instance is asked for. */
  async unit(name: string, { path, shown }: Found): Promise<Unit> {
    const texts = [await readText({ path, shown })];
    for (const dropIn of await filesIn(`${path}.d`, ".conf")) {
      texts.push(await readText({ path: join(`${path}.d`, dropIn), shown: join(`${shown}.d`, dropIn) }));
    }
    return readUnit(name, texts);
  }

  async beside(timerPath: string, name: string): Promise<Unit | null> {
    for (const directory of [dirname(timerPath), ...this.#directories]) {
      for (const file of [name, templateOf(name)]) {
        const path = join(directory, file);
        if (await isFile(path)) return this.unit(name, { path, shown: path });
      }
    }
    return null;
  }

  /** A path, or the name of a unit of the system: `fstrim.timer`, `dump@main.timer`. */
  async #named({ path, shown }: Found): Promise<{ readonly timer: string; readonly shown: Found }> {
    const timer = basename(shown);
    const isPath = shown.includes("/");
    for (const directory of isPath ? [dirname(path)] : [dirname(path), ...this.#directories]) {
      for (const file of [timer, templateOf(timer)]) {
        const found = join(directory, file);
        if (await isFile(found))
          return { timer, shown: { path: found, shown: isPath ? join(dirname(shown), file) : found } };
      }
    }
    throw new CliError(EXIT.configuration, `${shown}: there is no such timer`);
  }
}

async function timersIn({ path, shown }: Found): Promise<readonly { readonly timer: string; readonly shown: Found }[]> {
  const names = await filesIn(path, ".timer");
  return names.map((timer) => ({ timer, shown: { path: join(path, timer), shown: join(shown, timer) } }));
}

async function filesIn(directory: string, ending: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.endsWith(ending) && !name.startsWith(".")).sort();
}

/** `dump@main.service` is an instance of `dump@.service`. */
function templateOf(name: string): string {
  return name.replace(/@.*\.(\w+)$/, "@.$1");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

async function readText({ path, shown }: Found): Promise<UnitText> {
  try {
    const { size } = await stat(path);
    if (size > UNIT_BYTES) throw new Error(`is larger than ${formatSize(UNIT_BYTES)}`);
    return { file: shown, text: await readFile(path, "utf8") };
  } catch (error) {
    throw new CliError(EXIT.configuration, `${shown}: ${fileWords(error)}`);
  }
}

interface ImportedJob extends CommentedJob {
  readonly reading: SystemdReading;
}

/** Timers of two directories may have one name. */
function renamed(readings: readonly SystemdReading[]): readonly ImportedJob[] {
  const names = new NameBook();
  return readings.flatMap((reading) => {
    const { jobs, lines, file } = reading;
    const remarks = lines.filter(({ verdict }) => verdict !== "same");
    const notes = remarks.map(({ text, verdict, notes: why }) => {
      return `${verdict === "noted" ? "note" : "not supported"}: ${text}: ${why.join("; ")}`;
    });
    const times = lines.filter(({ text }) => /^On\w+=/.test(text)).map(({ text }) => text);
    return jobs.map((definition) => ({
      definition: { ...definition, identity: names.unused(definition.identity) },
      comments: [`${file}: ${times.join(", ")}`, ...notes],
      reading,
    }));
  });
}

async function printText(
  readings: readonly SystemdReading[],
  jobs: readonly ImportedJob[],
  args: ParsedArgs,
  io: CliIo,
): Promise<void> {
  const color = hasColour(args, io, io.isErrTerminal);
  const paint = paintFor(args, { ...io, isOutTerminal: io.isErrTerminal });
  if (jobs.length > 0) await io.out(jobsYaml(jobs));
  for (const { problems, lines } of readings) {
    for (const line of lines) await io.err(verdictLine(line.file, line, paint, line.text));
    for (const problem of problems) await io.err(`${formatProblem(problem, null, { color })}\n`);
  }
  const counts = `${plural(jobs.length, "job")} of ${plural(readings.length, "timer")}`;
  await io.err(`${counts}; ${verdictCounts(readings)}\n`);
}

async function printJson(
  readings: readonly SystemdReading[],
  jobs: readonly ImportedJob[],
  form: "json" | "jsonl",
  io: CliIo,
): Promise<void> {
  const timers = readings.map((reading) => ({
    timer: reading.name,
    file: reading.file,
    jobs: jobs.filter((job) => job.reading === reading).map(({ definition }) => definitionToRaw(definition)),
    lines: reading.lines,
    errors: reading.problems.map(({ file, line, problem: { code, message, hint } }) => {
      return { file, line, code, category: errorKind(code).category, message, hint: hint ?? null };
    }),
  }));
  const yaml = jobs.length === 0 ? "" : jobsYaml(jobs);
  await printReport(form, { timers, jobs: jobs.length, yaml }, timers, io);
}
