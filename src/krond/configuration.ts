/**
 * The configuration as the daemon takes it: what the files say, less what cannot run here, and which jobs are to keep
 * the definition they have (S35).
 */
import type { LocatedJob } from "../core/config/located.js";
import type { Settings } from "../core/config/settings.js";
import type { JobDefinition } from "../core/job/definition.js";
import {
  type ConfigCheck,
  type ConfigFinding,
  type ConfigSource,
  loadConfiguration,
} from "../persist/configuration.js";

const CRONTAB_PREFIX = "crontab:";

export interface DaemonConfiguration {
  readonly files: readonly string[];
  readonly definitions: readonly JobDefinition[];
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  /** Whether a job that is in force and not among the definitions is to stay as it is (S35). */
  keeps(identity: string): boolean;
  /** Jobs among the definitions that this version would reject (S16). */
  readonly accepted: readonly string[];
  /** Something is wrong that belongs to no job: jobs may be missing without having been removed. */
  readonly isIncomplete: boolean;
}

export async function loadDaemonConfiguration(
  sources: readonly ConfigSource[],
  check: ConfigCheck | null,
): Promise<DaemonConfiguration> {
  const { files, jobs, settings, findings } = await loadConfiguration(sources, check);
  const all = [...findings, ...jobs.flatMap(unsupportedTarget), ...tooMany(jobs, settings)];
  const named = all.map(({ located }) => located.identity);
  const invalid = new Set(named.filter((identity) => identity !== null));
  const definitions = jobs.map(({ definition }) => definition).filter(({ identity }) => !invalid.has(identity));
  const isIncomplete = named.includes(null);
  const crontabs = [...invalid].flatMap(crontabOf);
  const keeps = (identity: string): boolean =>
    isIncomplete || invalid.has(identity) || crontabs.some((prefix) => identity.startsWith(prefix));
  return { files, definitions, settings, findings: all, accepted: [], isIncomplete, keeps };
}

/** A line of a crontab is named by what it says: nobody can tell which job a line was that cannot be read any more. */
function crontabOf(identity: string): string[] {
  return identity.startsWith(CRONTAB_PREFIX) ? [identity.slice(0, identity.lastIndexOf(":") + 1)] : [];
}

function unsupportedTarget({ definition, file, line, column }: LocatedJob): ConfigFinding[] {
  if (definition.target.kind === "process") return [];
  const message = "http targets are not available yet";
  const hint = "give a command, such as [curl, --fail, URL]";
  const problem = { code: "target-unavailable" as const, message, path: ["http"], hint };
  return [{ located: { problem, file, line, column, length: 1, identity: definition.identity }, sourceLine: null }];
}

function tooMany(jobs: readonly LocatedJob[], { limits }: Settings): ConfigFinding[] {
  const first = jobs[limits.jobs];
  if (first === undefined) return [];
  const message = `${jobs.length} jobs are configured, the limit is ${limits.jobs}`;
  const problem = { code: "limit-exceeded" as const, message, path: [] };
  const { file, line, column } = first;
  return [{ located: { problem, file, line, column, length: 1, identity: null }, sourceLine: null }];
}
