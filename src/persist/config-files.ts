/**
 * Finds the files of a configuration and opens each one once, asking the check before anything of it is believed. What is
 * in them is for others to read; refused is only what the file system knows.
 */

import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileWords } from "../core/base/errors/file-words.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { LIMITS } from "../core/base/limits.js";
import type { Problem } from "../core/base/problem.js";
import type { CrontabRules } from "../core/config/crontab/crontab.js";
import { type ConfigFormat, configFileLimit, configFormatOf } from "../core/config/formats.js";
import type { ConfigReading, LocatedProblem } from "../core/config/located.js";
import { formatSize } from "../core/job/size.js";

export interface ConfigSource {
  /** As it is opened. */
  readonly path: string;
  /** As it is named to people. */
  readonly name: string;
  /** Set for a crontab; every other file tells its format by its name. */
  readonly crontab?: CrontabRules;
  /** What was read already, as standard input is: then nothing is opened. */
  readonly given?: GivenText;
}

export interface GivenText {
  readonly text: string;
  readonly format: ConfigFile["format"];
  /** By whoever knows a form of jobs that is none of our own. */
  readonly reading?: ConfigReading;
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

export interface ConfigFile extends ConfigSource {
  readonly format: ConfigFormat | "crontab";
}

/** A problem together with the line it names, when that is at hand. */
export interface ConfigFinding {
  readonly located: LocatedProblem;
  readonly sourceLine: string | null;
}

/** What is to be done with a file that may be read. */
type FileReader = (file: ConfigFile, opened: OpenedConfig) => Promise<void>;

const NOT_CONFIGURATION = "is not a configuration file: its name must end in .yaml, .yml, .kron or .jsonl";

/** A named pipe without a writer must not hold us up. */
export const CONFIG_OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export class ConfigFiles {
  /** Names of what was found, readable or not, in the order in which it counts. */
  readonly names: string[] = [];
  readonly #check: ConfigCheck | null;
  /** Takes what is wrong with a file, in the order in which it is found. */
  readonly refuse: (finding: ConfigFinding) => void;

  constructor(check: ConfigCheck | null, refuse: (finding: ConfigFinding) => void) {
    this.#check = check;
    this.refuse = refuse;
  }

  /** The file itself, or the configuration files directly inside the directory, in the order of their names. */
  async visit(source: ConfigSource, read: FileReader): Promise<void> {
    const found = await this.#opened(source, async (opened) => {
      if (opened.stats.isDirectory() && source.crontab === undefined) return filesIn(source);
      const format = source.crontab === undefined ? configFormatOf(source.name) : "crontab";
      if (format === null) this.#refuseFile(source.name, "file-syntax", NOT_CONFIGURATION);
      else await this.#read({ ...source, format }, opened, read);
      return [];
    });
    for (const file of found ?? []) await this.#opened(file, (opened) => this.#read(file, opened, read));
  }

  /** A file of dates that the configuration file `by` names; null when it may not be read, which is noted. */
  async readCalendar<T>(
    source: ConfigSource,
    by: string,
    use: (opened: OpenedConfig) => Promise<T>,
  ): Promise<T | null> {
    const { name } = source;
    const hint = `a calendar in ${by} names this file; paths are relative to that file`;
    return this.#opened(
      source,
      async (opened) => {
        const { stats } = opened;
        if (stats.isFile() && stats.size <= LIMITS.calendarFileBytes) return use(opened);
        if (!stats.isFile()) this.#refuseFile(name, "config-unreadable", "is not a regular file", hint);
        else {
          const message = `the file is larger than ${formatSize(LIMITS.calendarFileBytes)}`;
          this.#refuseFile(name, "limit-exceeded", message, "leave out years that are over");
        }
        return null;
      },
      hint,
    );
  }

  /** Nothing is read when the check refuses. */
  async #opened<T>(
    { path, name }: ConfigSource,
    use: (opened: OpenedConfig) => Promise<T>,
    hint?: string,
  ): Promise<T | null> {
    let handle: FileHandle | null = null;
    try {
      handle = await open(path, CONFIG_OPEN_FLAGS);
      const opened = { path, handle, stats: await handle.stat() };
      const problem = (await this.#check?.(opened)) ?? null;
      if (problem === null) return await use(opened);
      this.#refuseProblem(name, problem);
    } catch (error) {
      if (!isFromSystem(error)) throw error;
      this.#refuseFile(name, "config-unreadable", fileWords(error), hint);
    } finally {
      await handle?.close();
    }
    return null;
  }

  /** Whether a file of that size is read; that it is too large is noted. */
  accepts({ format, name }: ConfigFile, bytes: number): boolean {
    this.names.push(name);
    const limit = format === "crontab" ? LIMITS.crontabFileBytes : configFileLimit(format);
    if (bytes > limit) this.#refuseFile(name, "limit-exceeded", `the file is larger than ${formatSize(limit)}`);
    return bytes <= limit;
  }

  async #read(file: ConfigFile, opened: OpenedConfig, read: FileReader): Promise<void> {
    const { stats } = opened;
    if (stats.isFile()) {
      if (this.accepts(file, stats.size)) await read(file, opened);
      return;
    }
    this.names.push(file.name);
    this.#refuseFile(file.name, "config-unreadable", "is not a regular file");
  }

  /** A problem of the file as a whole. */
  #refuseFile(file: string, code: ErrorCode, message: string, hint?: string): void {
    this.#refuseProblem(file, { code, message, path: [], ...(hint === undefined ? {} : { hint }) });
  }

  #refuseProblem(file: string, problem: Problem): void {
    this.refuse({ located: { problem, file, line: 1, column: 1, length: 1, identity: null }, sourceLine: null });
  }
}

async function filesIn({ path, name }: ConfigSource): Promise<ConfigFile[]> {
  const names = (await readdir(path)).filter((entry) => !entry.startsWith(".")).sort();
  return names.flatMap((entry): ConfigFile[] => {
    const format = configFormatOf(entry);
    return format === null ? [] : [{ path: join(path, entry), name: join(name, entry), format }];
  });
}

const SYSTEM_CODE = /^E[A-Z0-9_]+$/;

/** Anything else is no trouble of a file. */
function isFromSystem(error: unknown): boolean {
  return error instanceof Error && "code" in error && SYSTEM_CODE.test(String(error.code));
}
