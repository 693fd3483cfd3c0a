/**
 * Brings job definitions in from files: streams the line formats, and hands the texts to the pure readers of the core.
 * Everything is held as objects: for commands and small sets; the daemon has a loader of its own for large ones.
 */
import type { FileHandle } from "node:fs/promises";
import { NO_CALENDAR_FILES } from "../core/config/calendar/definition.js";
import { JobCollector } from "../core/config/collector.js";
import { type CrontabReading, readCrontab } from "../core/config/crontab/crontab.js";
import { readJsonLine } from "../core/config/line/json-lines.js";
import { readKronLine } from "../core/config/line/kron-line.js";
import type { LineReader } from "../core/config/line/lines.js";
import type { ConfigReading, LocatedJob, LocatedProblem, LocatedSetting } from "../core/config/located.js";
import { LineIndex } from "../core/config/located.js";
import { type ConfigFormat, readConfigText } from "../core/config/readers.js";
import { repeatedSetting } from "../core/config/repeated-setting.js";
import { applySettings, type Settings } from "../core/config/settings.js";
import { readCalendarFiles } from "./calendar-files.js";
import {
  type ConfigCheck,
  type ConfigFile,
  ConfigFiles,
  type ConfigFinding,
  type ConfigSource,
} from "./config-files.js";
import { configLines } from "./config-lines.js";

export type { ConfigCheck, ConfigFile, ConfigFinding, ConfigSource, OpenedConfig } from "./config-files.js";

export interface Configuration {
  readonly files: readonly string[];
  readonly jobs: readonly LocatedJob[];
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  /** What became of each line of each crontab. */
  readonly crontabs: readonly CrontabReading[];
}

const LINE_READERS: Readonly<Record<Exclude<ConfigFormat, "yaml">, LineReader>> = {
  kron: readKronLine,
  jsonl: readJsonLine,
};

/** All jobs of all files, and everything that is wrong with any of them. */
export async function loadConfiguration(
  sources: readonly ConfigSource[],
  check: ConfigCheck | null = null,
): Promise<Configuration> {
  const loading = new Loading(check);
  for (const source of sources) await loading.load(source);
  return loading.result();
}

class Loading {
  readonly #files: ConfigFiles;
  readonly #jobs = new JobCollector();
  readonly #settings: LocatedSetting[] = [];
  readonly #findings: ConfigFinding[] = [];
  readonly #crontabs: CrontabReading[] = [];

  constructor(check: ConfigCheck | null) {
    this.#files = new ConfigFiles(check, (finding) => void this.#findings.push(finding));
  }

  async load(source: ConfigSource): Promise<void> {
    if (source.given !== undefined) {
      const { text, format } = source.given;
      this.#files.names.push(source.name);
      await this.#takeText({ ...source, format }, text);
      return;
    }
    await this.#files.visit(source, (file, { handle }) => {
      const { format } = file;
      const isWhole = format === "yaml" || format === "crontab";
      return isWhole ? this.#readWhole(file, handle) : this.#readLines(file, LINE_READERS[format], handle);
    });
  }

  result(): Configuration {
    return {
      files: this.#files.names,
      jobs: this.#jobs.jobs,
      settings: applySettings(this.#settings.map(({ change }) => change)),
      findings: this.#findings,
      crontabs: this.#crontabs,
    };
  }

  async #readWhole(file: ConfigFile, handle: FileHandle): Promise<void> {
    await this.#takeText(file, await handle.readFile("utf8"));
  }

  async #takeText(file: ConfigFile, text: string): Promise<void> {
    const lines = new LineIndex(text);
    const reading = await this.#readText(file, text);
    for (const located of reading.problems) this.#add(located, lines.lineText(located.line));
    for (const job of reading.jobs) this.#take(job, lines.lineText(job.line));
    for (const setting of reading.settings) this.#set(setting, lines.lineText(setting.line));
  }

  async #readText(file: ConfigFile, text: string): Promise<ConfigReading> {
    const { name, crontab, format } = file;
    if (crontab === undefined) {
      const known = format === "crontab" ? "yaml" : format;
      const calendarFiles = known === "yaml" ? await readCalendarFiles(file, text, this.#files) : NO_CALENDAR_FILES;
      return readConfigText(known, name, text, { calendarFiles });
    }
    const reading = readCrontab(name, text, crontab);
    this.#crontabs.push(reading);
    return reading;
  }

  async #readLines({ name }: ConfigFile, read: LineReader, handle: FileHandle): Promise<void> {
    let number = 0;
    for await (const lines of configLines(handle)) {
      for (const text of lines) {
        number += 1;
        const { job, problems } = read(text, { file: name, line: number });
        for (const located of problems) this.#add(located, text);
        if (job !== null) this.#take(job, text);
      }
    }
  }

  #take(job: LocatedJob, sourceLine: string | null): void {
    const problem = this.#jobs.add(job);
    if (problem !== null) this.#add(problem, sourceLine);
  }

  #set(setting: LocatedSetting, sourceLine: string | null): void {
    const problem = repeatedSetting(this.#settings, setting);
    if (problem === null) this.#settings.push(setting);
    else this.#add(problem, sourceLine);
  }

  #add(located: LocatedProblem, sourceLine: string | null): void {
    this.#findings.push({ located, sourceLine });
  }
}
