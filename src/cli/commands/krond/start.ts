import { dirname, join, relative, resolve } from "node:path";
import { type AddressRange, parseRange } from "../../../core/base/address.js";
import { exitStatusOf } from "../../../core/base/errors/exit-status.js";
import { type BootRefusal, startDaemon } from "../../../krond/boot/boot.js";
import { checkCgroupRoot, delegatedCgroup } from "../../../krond/boot/cgroup-root.js";
import type { Daemon } from "../../../krond/boot/daemon.js";
import { logCrash, logRefusal } from "../../../krond/boot/refusal-lines.js";
import { safeFinding } from "../../../krond/boot/safe-findings.js";
import { phaseWithLog } from "../../../krond/boot/start.js";
import type { InspectOptions } from "../../../krond/inspect/seam.js";
import { isJournal } from "../../../krond/log/journal.js";
import type { DaemonLog } from "../../../krond/log/log.js";
import { createLog, LOG_FORMATS, type LogFormat, usualLogFormat } from "../../../krond/log/logging.js";
import { descriptorSink } from "../../../krond/log/sink.js";
import type { ConfigSource } from "../../../persist/configuration.js";
import type { ParsedArgs } from "../../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { listenAddress, oneOf } from "../../listen-address.js";
import { findConfiguration, findingsText } from "../../load.js";
import { stateDirectoryOf } from "../../state-options.js";
import { storePlaceOf } from "../../store-option.js";
import { hasColour } from "../../style.js";
import { crontabSource } from "./crontab-source.js";
import { Signals } from "./signals.js";
import { trustChecks } from "./trust.js";

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("start takes no arguments", "krond start --config PATH");
  const told = tellingOf(args, io);
  const { log } = told;
  const store = storePlaceOf(args, io);
  const sources = sourcesOf(args, io);
  if (process.pid === 1) warnOfOrphans(log, io);
  const phase = phaseWithLog(log);
  const signals = new Signals(phase);
  const starting = startDaemon({
    sources,
    trust: trustChecks(args.text("trust-owner")),
    stateDirectory: stateDirectoryOf(args, io),
    store,
    log,
    metrics: listenAddress(args, "metrics", "9100"),
    inspect: inspectOptions(args),
    cgroupRoot: cgroupRoot(args, io),
    permit: { allowPrivate: args.has("allow-private"), allow: allowedRanges(args) },
    metricsJobs: (args.text("metrics-jobs") ?? "").split(",").filter((pattern) => pattern !== ""),
    env: io.env,
    phase,
  });
  const started = await starting.catch((error: unknown) => {
    logCrash(log, error);
    throw error;
  });
  if (!started.ok) return refuse(started.error, sources, told, args, io);
  signals.attach(started.value);
  if (told.format === "text") await io.err(hintText(args, sources, stateDirectoryOf(args, io)));
  return serve(started.value);
}

/** How the daemon speaks, and to whom: the log to programs, a few words on standard error to whoever has typed the command. */
interface Telling {
  readonly format: LogFormat;
  readonly log: DaemonLog;
  /** Log and words are read in one place by the same eyes: there one of them is enough. */
  readonly isOnePlace: boolean;
}

function tellingOf(args: ParsedArgs, io: CliIo): Telling {
  const format = oneOf(args, "log-format", LOG_FORMATS) ?? usualLogFormat(io.isOutTerminal);
  const hasPriorities = isJournal(STANDARD_OUTPUT, io.env);
  const log = createLog({ format, sink: descriptorSink(STANDARD_OUTPUT), now: io.now, hasPriorities });
  const isTerminal = format === "text" && io.isOutTerminal && io.isErrTerminal;
  return { format, log, isOnePlace: isTerminal || (hasPriorities && isJournal(STANDARD_ERROR, io.env)) };
}

/** Children that lose their parent become ours then, and nothing here waits for children that it did not start. */
function warnOfOrphans(log: DaemonLog, io: CliIo): void {
  const message = "krond is process 1, and nobody reaps what jobs leave behind";
  const hint = "put an init in front of it, such as tini, or 'docker run --init'";
  log.daemon({ at: io.now(), event: "no_init", component: "scheduler", level: "warn", fields: { message, hint } });
}

/** Until the daemon has ended by itself, by a signal or by request. Then nothing must keep the process. */
async function serve(daemon: Daemon): Promise<ExitCode> {
  const exitCode = await daemon.ended;
  // Whatever timer or descriptor is left: everything that matters is closed.
  process.exit(exitCode);
}

/** To the log an ERROR line for each reason, to people words with a way out; in one place only one of them. */
async function refuse(
  refusal: BootRefusal,
  sources: readonly ConfigSource[],
  { log, isOnePlace }: Telling,
  args: ParsedArgs,
  io: CliIo,
): Promise<ExitCode> {
  const { exitCode, findings, error } = refusal;
  // It was told to stop, and nothing was begun.
  if (exitCode === EXIT.ok) process.exit(exitCode);
  if (!isOnePlace || !io.isErrTerminal) logRefusal(log, refusal);
  if (isOnePlace && !io.isErrTerminal) return error === null ? EXIT.configuration : exitStatusOf(error.code);
  if (error !== null) throw new CliError(exitStatusOf(error.code), error.message, error.hint);
  await io.err(findingsText(findings.map(safeFinding), hasColour(args, io, io.isErrTerminal)));
  const count = `${findings.length} ${findings.length === 1 ? "problem" : "problems"}`;
  const names = sources.map(({ name }) => name);
  const hint = `lines of the files are not shown here, they may hold secrets: 'kron lint ${names[0] ?? ""}' shows them`;
  throw new CliError(EXIT.configuration, `${count} in ${names.join(", ")}: nothing was started`, hint);
}

function sourcesOf(args: ParsedArgs, io: CliIo): ConfigSource[] {
  const crontab = args.text("crontab");
  const crontabs = crontab === undefined ? [] : [crontabSource(crontab, io)];
  if (crontabs.length > 0 && args.text("config") === undefined && !io.env["KRON_CONFIG"]) return crontabs;
  const name = findConfiguration(args, io);
  return [{ path: resolve(io.cwd, name), name }, ...crontabs];
}

function hintText(args: ParsedArgs, sources: readonly ConfigSource[], stateDirectory: string): string {
  const kron = kronCommand();
  const state = args.text("state") === undefined ? "" : ` --state ${args.text("state")}`;
  const rows = [
    [`${kron} list${state}`, "what runs, and when the next runs are"],
    [`${kron} next --config ${sources[0]?.name ?? "PATH"}`, "what lies ahead, to the second"],
    [`${kron} why JOB${state}`, "what became of its period, and why"],
    [`${kron} logs JOB${state}`, "what its last run printed"],
  ] as const;
  const width = Math.max(...rows.map(([command]) => command.length));
  const lines = rows.map(([command, meaning]) => `  ${command.padEnd(width)}   ${meaning}\n`);
  return `krond: state in ${stateDirectory}; stop with Ctrl-C. In another terminal:\n${lines.join("")}`;
}

/** In a checkout there is no `kron` on the path. */
function kronCommand(): string {
  const program = process.argv[1] ?? "";
  return program.endsWith("krond.js") ? `node ${join(relative(process.cwd(), dirname(program)), "kron.js")}` : "kron";
}

function inspectOptions(args: ParsedArgs): InspectOptions | null {
  const address = listenAddress(args, "inspect", "8080");
  const origins = (args.text("inspect-origin") ?? "").split(",").filter((origin) => origin !== "");
  if (address === null) {
    if (origins.length > 0) throw usageError("--inspect-origin is for --inspect", "krond start --inspect 8080");
    return null;
  }
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong === undefined) return { ...address, origins };
  throw usageError(`--inspect-origin: "${wrong}" is no origin`, "write it like https://stately.ai");
}

/** Named, or found; a wrong name is not replaced by a guess. */
function cgroupRoot(args: ParsedArgs, io: CliIo): string | null {
  const written = args.text("cgroup-root");
  if (written === undefined) return delegatedCgroup(io.env);
  const checked = checkCgroupRoot(written);
  if (!checked.ok) throw usageError(`--cgroup-root ${written}: ${checked.error}`);
  return checked.value;
}

function allowedRanges(args: ParsedArgs): AddressRange[] {
  const texts = (args.text("allow") ?? "").split(",").filter((text) => text !== "");
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw usageError(`--allow: "${text}" is no address`, "write 127.0.0.1 or 10.20.0.0/16");
    return range;
  });
}
