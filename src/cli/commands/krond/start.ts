import { dirname, join, relative, resolve } from "node:path";
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
import type { DoorOpener } from "../../../operations/door.js";
import type { LoginCodes } from "../../../operations/page/login-codes.js";
import type { ConfigSource } from "../../../persist/config-files.js";
import { apiOptions } from "../../api-options.js";
import type { ParsedArgs } from "../../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../../exit.js";
import { plural } from "../../format.js";
import type { CliIo } from "../../io.js";
import { listenAddress, oneOf } from "../../listen-address.js";
import { findingsText, namedSources } from "../../load.js";
import { permitOf } from "../../permit-options.js";
import { plannerOptions } from "../../planner-options.js";
import { stateDirectoryOf } from "../../state-options.js";
import { storePlaceOf } from "../../store-option.js";
import { hasColour } from "../../style.js";
import { Signals } from "./signals.js";
import { trustChecks } from "./trust.js";

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("start takes no arguments", "krond start --config PATH");
  const told = tellingOf(args, io);
  const { log } = told;
  const isShared = args.text("node") !== undefined;
  if (isShared) refuseWithOthers(args);
  const store = storePlaceOf(args, io);
  const sources = isShared ? [] : sourcesOf(args, io);
  if (process.pid === 1) warnOfOrphans(log, io);
  const phase = phaseWithLog(log);
  const signals = new Signals(phase);
  const page: PageHints = { logins: null };
  const starting = startDaemon({
    sources,
    trust: trustChecks(args.text("trust-owner")),
    stateDirectory: stateDirectoryOf(args, io),
    store,
    log,
    metrics: listenAddress(args, "metrics", "9100"),
    inspect: inspectOptions(args),
    doors: doorsOf(args, io, (it) => {
      page.logins = it;
    }),
    planner: plannerOptions(args, io),
    cgroupRoot: cgroupRoot(args, io),
    permit: permitOf(args),
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
  const hints = { link: io.isErrTerminal ? linkOf(page.logins) : null, hasPage: page.logins !== null };
  if (told.format === "text") await io.err(hintText(args, sources, stateDirectoryOf(args, io), hints));
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
  const count = plural(findings.length, "problem");
  const names = sources.map(({ name }) => name);
  const hint = `lines of the files are not shown here, they may hold secrets: 'kron lint ${names[0] ?? ""}' shows them`;
  throw new CliError(EXIT.configuration, `${count} in ${names.join(", ")}: nothing was started`, hint);
}

/** What a daemon that shares its store with others cannot be asked for. */
function refuseWithOthers(args: ParsedArgs): void {
  const files = ["config", "crontab"].find((name) => args.all(name).length > 0);
  if (files === undefined) return;
  const why = "what several nodes run stands in their store";
  throw usageError(`--${files} is not for --node: ${why}`, "put it there once: kron apply --store postgres://… FILE");
}

function sourcesOf(args: ParsedArgs, io: CliIo): readonly ConfigSource[] {
  const { configuration: name, crontabs } = namedSources(args, io);
  return name === null ? crontabs : [{ path: resolve(io.cwd, name), name }, ...crontabs];
}

interface PageHints {
  logins: LoginCodes | null;
}

/** Only to whoever sits there: what is written elsewhere has other readers. */
function linkOf(logins: LoginCodes | null): string | null {
  return logins?.page == null ? null : `${logins.page}/login#${logins.issue("admin", null).code}`;
}

interface HintsOfPage {
  readonly link: string | null;
  readonly hasPage: boolean;
}

function hintText(
  args: ParsedArgs,
  sources: readonly ConfigSource[],
  stateDirectory: string,
  { link, hasPage }: HintsOfPage,
): string {
  const kron = kronCommand();
  const state = args.text("state") === undefined ? "" : ` --state ${args.text("state")}`;
  const page = [`${kron} open${state}`, "its page, in a browser"] as const;
  const rows = [
    ...(hasPage ? [page] : []),
    [`${kron} list${state}`, "what runs, and when the next runs are"],
    ...hintsOfFiles(kron, state, sources),
    [`${kron} why JOB${state}`, "what became of its period, and why"],
    [`${kron} logs JOB${state}`, "what its last run printed"],
  ] as const;
  const width = Math.max(...rows.map(([command]) => command.length));
  const lines = rows.map(([command, meaning]) => `  ${command.padEnd(width)}   ${meaning}\n`);
  const shown = link === null ? "" : `  its page, once and within a minute: ${link}\n`;
  return `krond: state in ${stateDirectory}; stop with Ctrl-C. In another terminal:\n${lines.join("")}${shown}`;
}

/** A node of several has no files: it is told what is to run. */
function hintsOfFiles(
  kron: string,
  state: string,
  [first]: readonly ConfigSource[],
): readonly (readonly [string, string])[] {
  if (first !== undefined) return [[`${kron} next --config ${first.name}`, "what lies ahead, to the second"]];
  return [
    [`${kron} apply${state} FILE...`, "tells all nodes what is to run"],
    [`${kron} node list${state}`, "which nodes there are"],
  ];
}

/** In a checkout there is no `kron` on the path. */
function kronCommand(): string {
  const program = process.argv[1] ?? "";
  return program.endsWith("krond.js") ? `node ${join(relative(process.cwd(), dirname(program)), "kron.js")}` : "kron";
}

/** What is not asked for is not loaded. */
function doorsOf(args: ParsedArgs, io: CliIo, onPage: (logins: LoginCodes) => void): readonly DoorOpener[] {
  const options = apiOptions(args, io);
  if (options === null) return [];
  const open: DoorOpener["open"] = async (ports) => {
    const door = await (await import("../../../api/door.js")).openApi(options, ports);
    if (options.hasPage === true) onPage(ports.acting.logins);
    return door;
  };
  return [{ name: "api", open }];
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
