/**
 * Brings job definitions in from files: finds the files, streams the line formats, and hands the texts to the pure
 * readers of the core. Nothing is judged here but what only the file system knows.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { JobCollector } from "../core/config/collector.js";
import { type CrontabReading, type CrontabRules, readCrontab } from "../core/config/crontab.js";
import { readJsonLine } from "../core/config/json-lines.js";
import { readKronLine } from "../core/config/kron-line.js";
import type { LineReader } from "../core/config/lines.js";
import type { ConfigReading, LocatedJob, LocatedProblem, LocatedSetting } from "../core/config/located.js";
import { LineIndex } from "../core/config/located.js";
import { type ConfigFormat, configFileLimit, configFormatOf } from "../core/config/readers.js";
import { applySettings, type Settings } from "../core/config/settings.js";
import { readYamlConfig } from "../core/config/yaml-reader.js";
import type { ErrorCode } from "../core/errors/registry.js";
import { formatSize } from "../core/job/size.js";
import { LIMITS } from "../core/limits.js";
import type { Problem } from "../core/problem.js";
import { messageOf } from "./private-files.js";

export interface ConfigSource {
  /** As it is opened. */
  readonly path: string;
  /** As it is named to people. */
  readonly name: string;
  /** Set for a crontab; every other file tells its format by its name. */
  readonly crontab?: CrontabRules;
}

/**
 * Asked about each file and directory before anything of it is believed. What is checked is what is read: both go through
 * the one descriptor.
 */
export type ConfigCheck = (opened: OpenedConfig) => Promise<Problem | null>;

export interface OpenedConfig {
  readonly path: string;
  readonly handle: FileHandle;
  readonly stats: Stats;
}

interface ConfigFile extends ConfigSource {
  readonly format: ConfigFormat | "crontab";
}

/** A problem together with the line it names, when that is at hand. */
export interface ConfigFinding {
  readonly located: LocatedProblem;
  readonly sourceLine: string | null;
}

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

const BYTE_ORDER_MARK = "\ufeff";
const NOT_CONFIGURATION = "is not a configuration file: its name must end in .yaml, .yml, .kron or .jsonl";

/** All jobs of all files, and everything that is wrong with any of them. */
export async function loadConfiguration(
  sources: readonly ConfigSource[],
  check: ConfigCheck | null = null,
): Promise<Configuration> {
  const loading = new Loading(check);
  for (const source of sources) await loading.load(source);
  return loading.result();
}

/** A named pipe without a writer must not hold us up. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

class Loading {
  readonly #check: ConfigCheck | null;
  readonly #jobs = new JobCollector();
  readonly #settings: LocatedSetting[] = [];
  readonly #findings: ConfigFinding[] = [];
  readonly #files: string[] = [];
  readonly #crontabs: CrontabReading[] = [];

  constructor(check: ConfigCheck | null) {
    this.#check = check;
  }

  /** The file itself, or the configuration files directly inside the directory, in the order of their names. */
  async load(source: ConfigSource): Promise<void> {
    const found = await this.#opened(source, async (opened) => {
      if (opened.stats.isDirectory() && source.crontab === undefined) return this.#filesIn(source);
      const format = source.crontab === undefined ? configFormatOf(source.name) : "crontab";
      if (format === null) this.#refuse(source.name, "file-syntax", NOT_CONFIGURATION);
      else await this.#read({ ...source, format }, opened);
      return [];
    });
    for (const file of found ?? []) await this.#opened(file, (opened) => this.#read(file, opened));
  }

  /** Nothing is read when the check refuses. */
  async #opened<T>({ path, name }: ConfigSource, use: (opened: OpenedConfig) => Promise<T>): Promise<T | null> {
    let handle: FileHandle | null = null;
    try {
      handle = await open(path, OPEN_FLAGS);
      const opened = { path, handle, stats: await handle.stat() };
      const problem = (await this.#check?.(opened)) ?? null;
      if (problem === null) return await use(opened);
      this.#refuseFile(name, problem);
    } catch (error) {
      this.#refuse(name, "config-unreadable", messageOf(error));
    } finally {
      await handle?.close();
    }
    return null;
  }

  async #filesIn({ path, name }: ConfigSource): Promise<ConfigFile[]> {
    const names = (await readdir(path)).filter((entry) => !entry.startsWith(".")).sort();
    return names.flatMap((entry): ConfigFile[] => {
      const format = configFormatOf(entry);
      return format === null ? [] : [{ path: join(path, entry), name: join(name, entry), format }];
    });
  }

  async #read(file: ConfigFile, { handle, stats }: OpenedConfig): Promise<void> {
    this.#files.push(file.name);
    const { format, name } = file;
    const limit = format === "crontab" ? LIMITS.crontabFileBytes : configFileLimit(format);
    if (!stats.isFile()) this.#refuse(name, "config-unreadable", "is not a regular file");
    else if (stats.size > limit) this.#refuse(name, "limit-exceeded", `the file is larger than ${formatSize(limit)}`);
    else if (format === "yaml" || format === "crontab") await this.#readWhole(file, handle);
    else await this.#readLines(file, LINE_READERS[format], handle);
  }

  /** A problem of the file as a whole. */
  #refuse(file: string, code: ErrorCode, message: string): void {
    this.#refuseFile(file, { code, message, path: [] });
  }

  #refuseFile(file: string, problem: Problem): void {
    const located = { problem, file, line: 1, column: 1, length: 1, identity: null };
    this.#findings.push({ located, sourceLine: null });
  }

  result(): Configuration {
    return {
      files: this.#files,
      jobs: this.#jobs.jobs,
      settings: applySettings(this.#settings.map(({ change }) => change)),
      findings: this.#findings,
      crontabs: this.#crontabs,
    };
  }

  async #readWhole(file: ConfigFile, handle: FileHandle): Promise<void> {
    const text = await handle.readFile("utf8");
    const lines = new LineIndex(text);
    const reading = this.#readText(file, text);
    for (const located of reading.problems) this.#add(located, lines.lineText(located.line));
    for (const job of reading.jobs) this.#take(job, lines.lineText(job.line));
    for (const setting of reading.settings) this.#set(setting, lines.lineText(setting.line));
  }

  #readText({ name, crontab }: ConfigFile, text: string): ConfigReading {
    if (crontab === undefined) return readYamlConfig(name, text);
    const reading = readCrontab(name, text, crontab);
    this.#crontabs.push(reading);
    return reading;
  }

  /** A piece of the file at a time: generated sets may be far larger than memory is worth. */
  async #readLines(file: ConfigFile, read: LineReader, handle: FileHandle): Promise<void> {
    let number = 0;
    const take = (line: string): void => {
      number += 1;
      const text = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
      const { job, problems } = read(text, { file: file.name, line: number });
      for (const located of problems) this.#add(located, text);
      if (job !== null) this.#take(job, text);
    };
    let rest = "";
    for await (const piece of handle.createReadStream({ encoding: "utf8", autoClose: false })) {
      const lines = (rest + String(piece)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
    }
    if (rest !== "") take(rest);
  }

  #take(job: LocatedJob, sourceLine: string | null): void {
    const problem = this.#jobs.add(job);
    if (problem !== null) this.#add(problem, sourceLine);
  }

  /** A setting belongs to one place: with two, the order of the file names would decide. */
  #set(setting: LocatedSetting, sourceLine: string | null): void {
    const earlier = this.#settings.find(({ name }) => name === setting.name);
    if (earlier === undefined) {
      this.#settings.push(setting);
      return;
    }
    const message = `${setting.name} is already set at ${earlier.file}:${earlier.line}:${earlier.column}`;
    const problem = { code: "field-duplicate" as const, message, path: [setting.name] };
    const { file, line, column } = setting;
    this.#add({ problem, file, line, column, length: setting.name.length, identity: null }, sourceLine);
  }

  #add(located: LocatedProblem, sourceLine: string | null): void {
    this.#findings.push({ located, sourceLine });
  }
}
