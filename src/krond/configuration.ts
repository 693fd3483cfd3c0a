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

export interface DaemonConfiguration {
  readonly files: readonly string[];
  readonly definitions: readonly JobDefinition[];
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  /** Jobs with a finding. */
  readonly invalid: ReadonlySet<string>;
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
  return { files, definitions, settings, findings: all, invalid, isIncomplete: named.includes(null) };
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
