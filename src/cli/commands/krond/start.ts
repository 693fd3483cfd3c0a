import { dirname, join, relative, resolve } from "node:path";
import { exitStatusOf } from "../../../core/base/errors/exit-status.js";
import { type BootRefusal, startDaemon } from "../../../krond/boot/boot.js";
import { checkCgroupRoot, delegatedCgroup } from "../../../krond/boot/cgroup-root.js";
import type { Daemon } from "../../../krond/boot/daemon.js";
import { safeFinding } from "../../../krond/boot/safe-findings.js";
import type { InspectOptions } from "../../../krond/inspect/seam.js";
import { createLog, usualLogFormat } from "../../../krond/log/logging.js";
import { descriptorSink } from "../../../krond/log/sink.js";
import type { ConfigSource } from "../../../persist/configuration.js";
import { CONFIG_OPTION, type ParsedArgs } from "../../args.js";
import type { Command } from "../../command.js";
import { CliError, EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { listenAddress, oneOf } from "../../listen-address.js";
import { findConfiguration, findingsText } from "../../load.js";
import { STATE_OPTION, stateDirectoryOf } from "../../state-options.js";
import { hasColour } from "../../style.js";
import { crontabSource } from "./crontab-source.js";
import { Signals } from "./signals.js";
import { trustChecks } from "./trust.js";

const STANDARD_OUTPUT = 1;

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("start takes no arguments", "krond start --config PATH");
  const format = oneOf(args, "log-format", ["text", "json"] as const) ?? usualLogFormat(io.isOutTerminal);
  const backend = oneOf(args, "store", ["lmdb", "files"] as const) ?? "lmdb";
  const log = createLog({ format, sink: descriptorSink(STANDARD_OUTPUT), now: io.now });
  const sources = sourcesOf(args, io);
  if (format === "text") await io.err(hintText(args, sources, stateDirectoryOf(args, io)));
  const signals = new Signals();
  const starting = startDaemon({
    sources,
    trust: trustChecks(args.text("trust-owner")),
    stateDirectory: stateDirectoryOf(args, io),
    backend,
    log,
    metrics: listenAddress(args, "metrics", "9100"),
    inspect: inspectOptions(args),
    cgroupRoot: cgroupRoot(args, io),
    metricsJobs: (args.text("metrics-jobs") ?? "").split(",").filter((pattern) => pattern !== ""),
    env: io.env,
    onPool: (pool) => signals.closeFirst(() => pool.close()),
  });
  const started = await signals.unlessEnding(starting);
  if (!started.ok) return refuse(started.error, sources, args, io);
  signals.attach(started.value);
  return serve(started.value);
}

/** Until the daemon has ended by itself, by a signal or by request. Then nothing must keep the process. */
async function serve(daemon: Daemon): Promise<ExitCode> {
  const exitCode = await daemon.ended;
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
    { name: "metrics", value: "[HOST:]PORT", help: "serve /metrics, /healthz and /readyz there (default: nowhere)" },
    {
      name: "metrics-jobs",
      value: "GLOB,...",
      help: "give these jobs metrics of their own, such as prod/* (default: none)",
    },
    {
      name: "inspect",
      value: "[[HOST:]PORT]",
      bare: "0",
      help: "let XState inspectors attach there by WebSocket (default: nowhere; without PORT: a free one)",
    },
    { name: "inspect-origin", value: "ORIGIN,...", help: "let web pages of these origins attach too" },
    {
      name: "cgroup-root",
      value: "DIR",
      help: "make a cgroup v2 group for each run there (default: our own, if systemd delegates it)",
    },
    { name: "trust-owner", value: "USER,...", help: "believe configuration files of these users too" },
  ],
  run,
};
