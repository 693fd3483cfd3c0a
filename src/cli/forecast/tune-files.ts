/** The configuration as texts that can be changed: each file with the places of its jobs. */

import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { fileWords } from "../../core/base/errors/file-words.js";
import { LIMITS } from "../../core/base/limits.js";
import { type CalendarFiles, NO_CALENDAR_FILES } from "../../core/config/calendar/definition.js";
import { type ConfigFormat, configFormatOf } from "../../core/config/formats.js";
import type { LocatedJob } from "../../core/config/located.js";
import { readConfigText } from "../../core/config/readers.js";
import { applyEdits, type JobSites, type TextEdit } from "../../core/forecast/tune/edit/edits.js";
import { jsonSites, kronSites } from "../../core/forecast/tune/edit/line-sites.js";
import { yamlSites } from "../../core/forecast/tune/edit/yaml-sites.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText } from "../../core/job/schema.js";
import { formatSize } from "../../core/job/size.js";
import { readCalendarFiles } from "../../persist/calendar-files.js";
import { ConfigFiles } from "../../persist/config-files.js";
import { CliError, EXIT } from "../exit.js";
import type { CliIo } from "../io.js";

export interface TuneFile {
  /** As it was given. */
  readonly name: string;
  readonly path: string;
  readonly format: ConfigFormat;
  readonly text: string;
  readonly sites: JobSites;
  readonly jobs: readonly LocatedJob[];
  readonly calendarFiles: CalendarFiles;
}

/** A text that is changed as a whole is held as a whole. */
const LARGEST_FILE = LIMITS.yamlFileBytes;

const SITES_OF: Readonly<Record<ConfigFormat, (text: string) => JobSites>> = {
  yaml: yamlSites,
  kron: kronSites,
  jsonl: jsonSites,
};

/** A text that is in no file of its own: standard input, or a crontab as YAML. */
export interface LooseText {
  readonly format: ConfigFormat;
  readonly text: string;
}

/** Reads again what was found to be in order; `names` are the files of the configuration. */
export async function readTuneFiles(
  names: readonly string[],
  loaded: readonly LocatedJob[],
  loose: ReadonlyMap<string, LooseText>,
  io: CliIo,
): Promise<readonly TuneFile[]> {
  const files: TuneFile[] = [];
  for (const name of names) {
    const given = loose.get(name);
    files.push(given === undefined ? await readTuneFile(name, io) : await tuneFileOf(name, name, given));
  }
  const before = new Map(loaded.map(({ definition }) => [definition.identity, definition]));
  const jobs = files.flatMap((file) => file.jobs);
  const isSame =
    jobs.length === before.size && jobs.every(({ definition }) => isEqual(definition, before.get(definition.identity)));
  if (isSame) return files;
  throw new CliError(EXIT.configuration, "the configuration changed while it was read", "try again");
}

async function readTuneFile(name: string, io: CliIo): Promise<TuneFile> {
  const path = resolve(io.cwd, name);
  const text = await readText(path, name);
  return tuneFileOf(name, path, { format: configFormatOf(name) ?? "yaml", text });
}

async function tuneFileOf(name: string, path: string, { format, text }: LooseText): Promise<TuneFile> {
  // What is wrong with any of them was told when the configuration was read.
  const untold = new ConfigFiles(null, () => undefined);
  const calendarFiles = format === "yaml" ? await readCalendarFiles({ name, path }, text, untold) : NO_CALENDAR_FILES;
  const { jobs } = readConfigText(format, name, text, { calendarFiles });
  return { name, path, format, text, sites: SITES_OF[format](text), jobs, calendarFiles };
}

/** Exactly what is in the file, so that what is not changed stays to the byte. */
export async function readText(path: string, name: string): Promise<string> {
  const handle = await open(path).catch((error: unknown) => refuse(name, fileWords(error)));
  try {
    const { size } = await handle.stat();
    if (size > LARGEST_FILE) return refuse(name, `is larger than ${formatSize(LARGEST_FILE)}: too large to be tuned`);
    const bytes = await handle.readFile();
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? text : refuse(name, "is not UTF-8 throughout");
  } finally {
    await handle.close();
  }
}

/** Jobs that would not come out as planned when the text is read again; null when the text would not be sound at all. */
export function misreadJobs(
  file: TuneFile,
  edits: readonly TextEdit[],
  planned: ReadonlyMap<string, JobDefinition>,
): readonly string[] | null {
  const { format, name, calendarFiles } = file;
  const { jobs, problems } = readConfigText(format, name, applyEdits(file.text, edits), { calendarFiles });
  if (problems.length > 0 || jobs.length !== file.jobs.length) return null;
  return jobs
    .filter(({ definition }, index) => {
      const before = file.jobs[index]?.definition;
      return !isEqual(definition, planned.get(definition.identity) ?? before);
    })
    .map(({ definition }) => definition.identity);
}

function isEqual(one: JobDefinition, other: JobDefinition | undefined): boolean {
  return other !== undefined && canonicalDefinitionText(one) === canonicalDefinitionText(other);
}

function refuse(name: string, reason: string): never {
  throw new CliError(EXIT.configuration, `${name}: ${reason}`);
}
