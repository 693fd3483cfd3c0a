import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { formatProblem } from "../core/config/format-problem.js";
import type { LocatedJob } from "../core/config/located.js";
import { editDistance } from "../core/job/suggest.js";
import { type ConfigFinding, type Configuration, loadConfiguration } from "../persist/configuration.js";
import type { ParsedArgs } from "./args.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { type LocatedKronJob, readKronJobFile, STANDARD_INPUT } from "./kube/kron-job-file.js";
import { hasColour } from "./style.js";

const SYSTEM_DIRECTORY = "/etc/krond.d";

/** --config, $KRON_CONFIG, /etc/krond.d, $XDG_CONFIG_HOME/krond: the first that is given or there. */
export function findConfiguration(args: ParsedArgs, io: CliIo): string {
  const given = args.text("config") ?? io.env["KRON_CONFIG"];
  if (given !== undefined && given !== "") return given;
  const home = io.env["HOME"] ?? homedir();
  const personal = join(io.env["XDG_CONFIG_HOME"] || join(home, ".config"), "krond");
  const found = [SYSTEM_DIRECTORY, personal].find((directory) => existsSync(directory));
  if (found !== undefined) return found;
  throw usageError(
    "no configuration found",
    `give --config PATH, set KRON_CONFIG, or write files into ${SYSTEM_DIRECTORY}`,
  );
}

/** The configuration when it is in order; otherwise all that is wrong with it, on standard error. */
export async function loadJobs(args: ParsedArgs, io: CliIo): Promise<Configuration> {
  return loadSound([findConfiguration(args, io)], args, io);
}

/** As `loadJobs`, of the files and directories that the command was given, when it was given any. */
export async function loadAllJobs(args: ParsedArgs, io: CliIo): Promise<Configuration> {
  return loadSound(configurationNames(args, io), args, io);
}

export function configurationNames(args: ParsedArgs, io: CliIo): readonly string[] {
  const { positionals } = args;
  if (positionals.length === 0) return [findConfiguration(args, io)];
  if (args.text("config") === undefined) return positionals;
  throw usageError("files are given twice: as arguments and with --config");
}

/** Files of Kron's own, and KronJobs of Kubernetes, with everything that is wrong with any of them. */
export async function loadNamed(names: readonly string[], io: CliIo): Promise<Configuration> {
  const own: string[] = [];
  const jobs: LocatedJob[] = [];
  const findings: ConfigFinding[] = [];
  const files: string[] = [];
  for (const name of names) {
    const reading = await readKronJobFile(name, io);
    if (reading === null && name === STANDARD_INPUT) throw usageError("standard input holds no KronJob");
    if (reading === null) {
      own.push(name);
      continue;
    }
    files.push(name);
    jobs.push(...reading.jobs);
    findings.push(...reading.findings);
  }
  const loaded = await loadConfiguration(own.map((name) => ({ path: resolve(io.cwd, name), name })));
  return {
    ...loaded,
    files: [...loaded.files, ...files],
    jobs: [...loaded.jobs, ...jobs],
    findings: [...loaded.findings, ...findings],
  };
}

/** Of a KronJob without a uid every second is another one than the cluster will choose. */
async function noteMissingUids(jobs: readonly LocatedJob[], io: CliIo): Promise<void> {
  const without = jobs.filter((job) => isKronJob(job) && !job.kronJob.hasUid);
  const [first] = without;
  if (first === undefined) return;
  const { name } = (first as LocatedKronJob).kronJob;
  const more = without.length === 1 ? "" : ` and ${without.length - 1} more`;
  await io.err(
    `kron: note: ${first.file}: ${name}${more} has no metadata.uid. The API server gives one, and chosen times depend on ` +
      `it: these are only examples\n  hint: kubectl get kronjob ${name} -o yaml shows the one in the cluster\n`,
  );
}

function isKronJob(job: LocatedJob): job is LocatedKronJob {
  return "kronJob" in job;
}

async function loadSound(names: readonly string[], args: ParsedArgs, io: CliIo): Promise<Configuration> {
  const configuration = await loadNamed(names, io);
  if (configuration.findings.length === 0) {
    await noteMissingUids(configuration.jobs, io);
    return configuration;
  }
  const color = hasColour(args, io, io.isErrTerminal);
  await io.err(findingsText(configuration.findings, color));
  const count = configuration.findings.length;
  throw new CliError(EXIT.configuration, `${count} ${count === 1 ? "problem" : "problems"} in ${names.join(", ")}`);
}

export function findingsText(findings: readonly ConfigFinding[], color: boolean): string {
  return findings.map(({ located, sourceLine }) => `${formatProblem(located, sourceLine, { color })}\n`).join("");
}

export function findJob(jobs: readonly LocatedJob[], identity: string): LocatedJob {
  const job = jobs.find(({ definition }) => definition.identity === identity) ?? findKronJob(jobs, identity);
  if (job !== undefined) return job;
  const near = nearIdentity(
    identity,
    jobs.slice(0, GUESSED_JOBS).map(({ definition }) => definition.identity),
  );
  throw usageError(`no job "${identity}"`, near === undefined ? undefined : `did you mean "${near}"?`);
}

/** By NAME or NAMESPACE/NAME, as long as that says which. */
function findKronJob(jobs: readonly LocatedJob[], wanted: string): LocatedJob | undefined {
  const named = jobs.filter(
    (job) => isKronJob(job) && [job.kronJob.name, `${job.kronJob.namespace}/${job.kronJob.name}`].includes(wanted),
  );
  if (named.length < 2) return named[0];
  const identities = named.map(({ definition }) => definition.identity).join(", ");
  throw usageError(`"${wanted}" may be any of ${identities}`, "write NAMESPACE/NAME");
}

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
