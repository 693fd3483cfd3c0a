import { resolve } from "node:path";
import { exitStatusOf } from "../../../core/errors/exit-status.js";
import { type BootRefusal, type Daemon, startDaemon } from "../../../krond/daemon.js";
import { descriptorLog } from "../../../krond/stdout-log.js";
import type { ConfigSource } from "../../../persist/configuration.js";
import { CONFIG_OPTION, type ParsedArgs } from "../../args.js";
import type { Command } from "../../command.js";
import { CliError, EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { findConfiguration, findingsText } from "../../load.js";
import { STATE_OPTION, stateDirectoryOf } from "../../state-options.js";
import { hasColour } from "../../style.js";
import { crontabSource } from "./crontab-source.js";
import { onSignals } from "./signals.js";
import { trustChecks } from "./trust.js";

const STANDARD_OUTPUT = 1;

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("start takes no arguments", "krond start --config PATH");
  const format = oneOf(args, "log-format", ["text", "json"] as const) ?? (io.isOutTerminal ? "text" : "json");
  const backend = oneOf(args, "store", ["lmdb", "files"] as const) ?? "lmdb";
  const log = descriptorLog(STANDARD_OUTPUT, format);
  const sources = sourcesOf(args, io);
  if (format === "text") await io.err(hintText(args, sources, stateDirectoryOf(args, io)));
  const started = await startDaemon({
    sources,
    trust: trustChecks(args.text("trust-owner")),
    stateDirectory: stateDirectoryOf(args, io),
    backend,
    log,
    env: io.env,
    ...launcherEntry(io),
  });
  if (!started.ok) return refuse(started.error, sources, args, io);
  return serve(started.value);
}

/** Until the daemon has ended by itself, by a signal or by request. Then nothing must keep the process. */
async function serve(daemon: Daemon): Promise<ExitCode> {
  const stopListening = onSignals(daemon);
  const exitCode = await daemon.ended;
  stopListening();
  // Whatever timer or descriptor is left: everything that matters is closed.
  process.exit(exitCode);
}

async function refuse(
  refusal: BootRefusal,
  sources: readonly ConfigSource[],
  args: ParsedArgs,
  io: CliIo,
): Promise<never> {
  const { findings, error } = refusal;
  if (error !== null) throw new CliError(exitStatusOf(error.code), error.message, error.hint);
  await io.err(findingsText(findings, hasColour(args, io, io.isErrTerminal)));
  const count = `${findings.length} ${findings.length === 1 ? "problem" : "problems"}`;
  throw new CliError(
    EXIT.configuration,
    `${count} in ${sources.map(({ name }) => name).join(", ")}: nothing was started`,
  );
}

function sourcesOf(args: ParsedArgs, io: CliIo): ConfigSource[] {
  const crontab = args.text("crontab");
  const crontabs = crontab === undefined ? [] : [crontabSource(crontab, io)];
  if (crontabs.length > 0 && args.text("config") === undefined && !io.env["KRON_CONFIG"]) return crontabs;
  const name = findConfiguration(args, io);
  return [{ path: resolve(io.cwd, name), name }, ...crontabs];
}

function hintText(args: ParsedArgs, sources: readonly ConfigSource[], stateDirectory: string): string {
  const state = args.text("state") === undefined ? "" : ` --state ${args.text("state")}`;
  const [first] = sources;
  return [
    `krond: state in ${stateDirectory}; stop with Ctrl-C. In another terminal:`,
    `  kron list${state}                 what runs, and when the next runs are`,
    `  kron next --config ${first?.name ?? "PATH"}    what lies ahead, to the second`,
    `  kron why JOB@PERIOD${state}       what became of a period, and why`,
    `  kron logs JOB${state}             what its last run printed`,
    "",
  ].join("\n");
}

/** Tests run programs from other places than the built one. */
function launcherEntry(io: CliIo): { launcherEntry?: string } {
  const entry = io.env["KRON_LAUNCHER"];
  return entry ? { launcherEntry: entry } : {};
}

function oneOf<T extends string>(args: ParsedArgs, name: string, allowed: readonly T[]): T | undefined {
  const given = args.text(name);
  if (given === undefined) return undefined;
  const found = allowed.find((value) => value === given);
  if (found === undefined) throw usageError(`--${name}: "${given}" is not one of ${allowed.join(", ")}`);
  return found;
}

export const START: Command = {
  name: "start",
  summary: "run the daemon in the foreground",
  usage: "[OPTIONS]",
  details: `
Runs the daemon in the foreground, its log on standard output. SIGHUP reads the configuration again, SIGTERM and SIGINT
stop it: running jobs go on and are found again by the next start. A second signal stops at once.

  krond start --config /etc/krond.d --state /var/lib/krond`,
  options: [
    CONFIG_OPTION,
    { name: "crontab", value: "FILE", help: "run the jobs of a crontab too" },
    STATE_OPTION,
    { name: "store", value: "lmdb|files", help: "how state is kept (default: lmdb)" },
    { name: "log-format", value: "text|json", help: "form of the log (default: text on a terminal, else json)" },
    { name: "trust-owner", value: "USER,...", help: "believe configuration files of these users too" },
  ],
  run,
};
