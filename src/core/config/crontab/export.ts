/**
 * From crontabs to a YAML file of Kron's own: the jobs under names that people can live with, and above each job the line it
 * comes from.
 */
import type { JobDefinition, ProcessTarget } from "../../job/definition.js";
import { jobsYaml, NameBook } from "../export.js";
import { jobNameOf } from "./names.js";
import type { CrontabLine, CrontabReading } from "./report.js";

export interface ExportedJob {
  /** As it is in the YAML file: prefixes such as `crontab:` are Kron's own. */
  readonly definition: JobDefinition;
  readonly source: CrontabLine;
  readonly file: string;
}

/** The jobs of all crontabs, renamed so that no two have one identity. */
export function exportedJobs(readings: readonly CrontabReading[]): readonly ExportedJob[] {
  const names = new NameBook();
  return readings.flatMap(({ file, jobs, lines }) => {
    const sources = new Map(lines.map((source) => [source.line, source]));
    return jobs.map(({ definition, line }) => {
      const source = sources.get(line);
      if (source === undefined) throw new Error("invariant broken: a job of a crontab without its line");
      const identity = names.unused(jobNameOf(file, commandOf(definition)));
      // The line itself stands above it.
      return { definition: { ...definition, identity, description: "" }, source, file };
    });
  });
}

export function crontabYaml(jobs: readonly ExportedJob[]): string {
  return jobsYaml(
    jobs.map(({ definition, file, source }) => {
      const notes = source.notes.map((note) => `note: ${note}`);
      return { definition, comments: [...source.comments, `${file}:${source.line}: ${source.text}`, ...notes] };
    }),
  );
}

function commandOf({ target }: JobDefinition): string {
  return (target as ProcessTarget).argv.at(-1) ?? "";
}
