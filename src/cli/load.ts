import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { hostTimezone } from "../actors/host-zone.js";
import { type Configuration, loadConfiguration } from "../actors/pool/load/configuration.js";
import { LIMITS } from "../core/base/limits.js";
import { crontabFormOf, crontabOwnerOf } from "../core/config/crontab/report.js";
import { formatProblem } from "../core/config/format-problem.js";
import { configFormatOf } from "../core/config/formats.js";
import type { LocatedJob } from "../core/config/located.js";
import { formatOfText } from "../core/config/text-format.js";
import { editDistance } from "../core/job/suggest.js";
import { zoneOf } from "../core/time/zone.js";
import { CONFIG_OPEN_FLAGS, type ConfigFinding, type ConfigSource } from "../persist/config-files.js";
import type { ParsedArgs } from "./args.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { plural } from "./format.js";
import type { CliIo } from "./io.js";
import { findKronJob, noteMissingUids } from "./kube/kron-job-names.js";
import { hasColour } from "./style.js";
import { readTextFile } from "./text-file.js";

const SYSTEM_DIRECTORY = "/etc/krond.d";

/** --config, $KRON_CONFIG, /etc/krond.d, $XDG_CONFIG_HOME/krond: the first that is given or there. */
function foundConfiguration(args: ParsedArgs, io: CliIo): string | undefined {
  const given = args.text("config") ?? io.env["KRON_CONFIG"];
  if (given !== undefined && given !== "") return given;
  const home = io.env["HOME"] ?? homedir();
  const personal = join(io.env["XDG_CONFIG_HOME"] || join(home, ".config"), "krond");
  return [SYSTEM_DIRECTORY, personal].find((directory) => existsSync(directory));
}

function findConfiguration(args: ParsedArgs, io: CliIo): string {
  const found = foundConfiguration(args, io);
  if (found !== undefined) return found;
  throw usageError(
    "no configuration found",
    `give --config PATH, set KRON_CONFIG, or write files into ${SYSTEM_DIRECTORY}`,
  );
}

/** The configuration when it is in order; otherwise all that is wrong with it, on standard error. */
export async function loadJobs(args: ParsedArgs, io: CliIo): Promise<Configuration> {
  return loadSources(await configuredSources(args, io), args, io);
}

/** As `loadJobs`; nothing where there are no files, as on a node of several. */
export async function loadJobsIfAny(args: ParsedArgs, io: CliIo): Promise<Configuration["jobs"]> {
  const isAny = args.all("crontab").length > 0 || foundConfiguration(args, io) !== undefined;
  return isAny ? (await loadJobs(args, io)).jobs : [];
}

/** As `loadJobs`, of the files and directories that the command was given, when it was given any. */
export async function loadAllJobs(args: ParsedArgs, io: CliIo): Promise<Configuration> {
  return loadSources(await configurationSources(args, io), args, io);
}

/** What cron would take the file for: its place tells the form and the owner. */
function crontabSource(name: string, io: CliIo): ConfigSource {
  const path = resolve(io.cwd, name);
  const form = crontabFormOf(path) ?? "user";
  const zone = zoneOf(hostTimezone());
  const timezone = zone.ok ? zone.value.id : "UTC";
  return { path, name, crontab: { form, timezone, owner: form === "user" ? crontabOwnerOf(path) : null } };
}

interface NamedSources {
  /** null: crontabs alone need no configuration. */
  readonly configuration: string | null;
  readonly crontabs: readonly ConfigSource[];
}

/** What --config and --crontab name, or what is found without them. */
export function namedSources(args: ParsedArgs, io: CliIo): NamedSources {
  const crontabs = args.all("crontab").map((name) => crontabSource(name, io));
  const isAlone = crontabs.length > 0 && args.text("config") === undefined && !io.env["KRON_CONFIG"];
  return { configuration: isAlone ? null : findConfiguration(args, io), crontabs };
}

async function configuredSources(args: ParsedArgs, io: CliIo): Promise<readonly ConfigSource[]> {
  const { configuration, crontabs } = namedSources(args, io);
  return configuration === null ? crontabs : [await sourceOf(configuration, io), ...crontabs];
}

/** What the command was given: files of any kind, "-" for standard input, directories; else as `configuredSources`. */
export async function configurationSources(args: ParsedArgs, io: CliIo): Promise<readonly ConfigSource[]> {
  const { positionals } = args;
  if (positionals.length === 0) return configuredSources(args, io);
  if (args.text("config") !== undefined) throw usageError("files are given twice: as arguments and with --config");
  const sources: ConfigSource[] = [];
  for (const name of positionals) sources.push(await sourceOf(name, io));
  return [...sources, ...args.all("crontab").map((name) => crontabSource(name, io))];
}

/** Files of Kron's own tell by their names what they are, crontabs by their place, their name or what is in them. */
export async function sourceOf(name: string, io: CliIo): Promise<ConfigSource> {
  if (name === "-") return inputSource(io);
  const path = resolve(io.cwd, name);
  const isNamed = crontabFormOf(path) !== null || /^(crontab|.*\.(crontab|cron))$/.test(basename(path));
  if (isNamed || (configFormatOf(name) === null && (await holdsCrontab(path)))) return crontabSource(name, io);
  return { path, name };
}

async function inputSource(io: CliIo): Promise<ConfigSource> {
  const name = "standard input";
  const { text } = await readTextFile("-", LIMITS.yamlFileBytes, io);
  const given = { text, format: formatOfText(text) };
  return given.format === "crontab" ? { ...crontabSource("crontab", io), given } : { path: name, name, given };
}

/** Enough of a file to tell what it is. */
const LOOKED_AT_BYTES = 64 * 1024;

async function holdsCrontab(path: string): Promise<boolean> {
  const handle = await open(path, CONFIG_OPEN_FLAGS).catch(() => null);
  if (handle === null) return false;
  try {
    if (!(await handle.stat()).isFile()) return false;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOOKED_AT_BYTES), 0, LOOKED_AT_BYTES, 0);
    return formatOfText(buffer.toString("utf8", 0, bytesRead)) === "crontab";
  } finally {
    await handle.close();
  }
}

/** The configuration of files of any kind, as `loadJobs` has it. */
export async function loadSources(
  sources: readonly ConfigSource[],
  args: ParsedArgs,
  io: CliIo,
): Promise<Configuration> {
  // Reads YAML by itself; who only asks where the configuration is need not wait for it.
  const { withKronJobs } = await import("./kube/kron-job-file.js");
  const configuration = await loadConfiguration(await withKronJobs(sources));
  await refuseFindings(configuration.findings, sources, args, io);
  await noteMissingUids(configuration.jobs, io);
  return configuration;
}

export async function refuseFindings(
  findings: readonly ConfigFinding[],
  sources: readonly ConfigSource[],
  args: ParsedArgs,
  io: CliIo,
): Promise<void> {
  if (findings.length === 0) return;
  await io.err(findingsText(findings, hasColour(args, io, io.isErrTerminal)));
  const names = sources.map(({ name }) => name).join(", ");
  throw new CliError(EXIT.configuration, `${plural(findings.length, "problem")} in ${names}`);
}

export function findingsText(findings: readonly ConfigFinding[], color: boolean): string {
  return findings.map(({ located, sourceLine }) => `${formatProblem(located, sourceLine, { color })}\n`).join("");
}

export function findJob(jobs: readonly LocatedJob[], identity: string): LocatedJob {
  const isIt = (job: LocatedJob): boolean => job.definition.identity === identity || crontabPlace(job) === identity;
  const job = jobs.find(isIt) ?? findKronJob(jobs, identity);
  if (job !== undefined) return job;
  const near = nearIdentity(
    identity,
    jobs.slice(0, GUESSED_JOBS).map(({ definition }) => definition.identity),
  );
  throw usageError(`no job "${identity}"`, near === undefined ? undefined : `did you mean "${near}"?`);
}

/** `crontab:FILE:LINE`, by which the job of a crontab can be named, too; null for any other. */
function crontabPlace({ definition, file, line }: LocatedJob): string | null {
  return definition.identity.startsWith(CRONTAB_PREFIX) ? `${CRONTAB_PREFIX}${basename(file)}:${line}` : null;
}

/** What stands beside the identity of a crontab's job, which is a hash: where it stands, and what it says. */
export function shownPlace(job: LocatedJob): string | null {
  const place = crontabPlace(job);
  return place === null ? null : `${place} ${shortened(job.definition.description)}`;
}

function shortened(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS - 1)}\u2026` : text;
}

const CRONTAB_PREFIX = "crontab:";
const SHOWN_CHARS = 48;

/** Jobs that are looked at for a guess, and how far a guess may lie off. */
const GUESSED_JOBS = 10_000;
const FARTHEST_GUESS = 3;

/** A job whose name ends in what was asked for, or is nearly the same. */
function nearIdentity(wanted: string, identities: readonly string[]): string | undefined {
  const ending = identities.find((identity) => identity.endsWith(`/${wanted}`));
  if (ending !== undefined) return ending;
  const scored = identities.map((identity) => ({ identity, distance: editDistance(wanted, identity) }));
  const best = scored.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= FARTHEST_GUESS ? best.identity : undefined;
}
