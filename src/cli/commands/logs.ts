import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { outputDirectoryOf } from "../../actors/supervisor/arm-request.js";
import { formatInstant } from "../../core/time/instant.js";
import { outputDirectoryIn } from "../../krond/state-directory.js";
import type { ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { parseJobPeriod } from "../job-period.js";
import { printValue } from "../output.js";
import { STATE_OPTION, stateDirectoryOf } from "../state-options.js";

/** Files of a job's runs, oldest first: their names sort so. */
async function filesOf(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith(".log")).sort();
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isMissing) return [];
    throw new CliError(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [written, ...more] = args.positionals;
  if (written === undefined || more.length > 0) throw usageError("logs takes one job", "kron logs JOB[@PERIOD]");
  const { identity, periodAt } = parseJobPeriod(written);
  const directory = outputDirectoryOf(outputDirectoryIn(stateDirectoryOf(args, io)), identity);
  const prefix = periodAt === null ? "" : `${formatInstant(periodAt).replaceAll(":", "")}.`;
  const names = (await filesOf(directory)).filter((name) => name.startsWith(prefix));
  const last = names.at(-1);
  if (last === undefined) throw new CliError(EXIT.usage, `no output of ${written} is kept in ${directory}`);
  if (args.has("list")) {
    const paths = names.map((name) => join(directory, name));
    await printValue(paths, () => `${paths.join("\n")}\n`, args, io);
    return EXIT.ok;
  }
  const path = join(directory, last);
  const text = await readFile(path, "utf8");
  await printValue({ path, text }, () => text, args, io);
  return EXIT.ok;
}

export const LOGS: Command = {
  name: "logs",
  summary: "show what a run printed",
  usage: "JOB[@PERIOD] [OPTIONS]",
  details: `
Shows the output of the newest run of JOB, or of the run of PERIOD. --list names the files that are kept, newest last.

  tail -f "$(kron logs prod/db-backup --list | tail -n 1)"`,
  options: [STATE_OPTION, { name: "list", help: "name the files instead of showing one" }],
  run,
};
