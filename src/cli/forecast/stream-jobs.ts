/**
 * The jobs of a configuration one after the other: a forecast needs each of them once, so that a million of them never
 * have to be held. It only knows sound configurations; what is wrong with another one is for the loader to say.
 */
import type { FileHandle } from "node:fs/promises";
import { LIMITS } from "../../core/base/limits.js";
import { readJsonLine } from "../../core/config/line/json-lines.js";
import { readKronLine } from "../../core/config/line/kron-line.js";
import type { LineReader } from "../../core/config/line/lines.js";
import type { ConfigReading } from "../../core/config/located.js";
import { readYamlConfig } from "../../core/config/yaml/reader.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { readCalendarFiles } from "../../persist/calendar-files.js";
import { type ConfigFile, ConfigFiles, type ConfigSource } from "../../persist/config-files.js";
import { configLines } from "../../persist/config-lines.js";

export type TakeJob = (definition: JobDefinition) => void;

/** False when something is wrong: then what was taken is worth nothing. `take` must not throw. */
export async function streamJobs(sources: readonly ConfigSource[], take: TakeJob): Promise<boolean> {
  // Crontabs and standard input are small, and for the loader.
  if (sources.some(({ crontab, given }) => crontab !== undefined || given !== undefined)) return false;
  const reading = new Reading(take);
  for (const source of sources) await reading.visit(source);
  return reading.isSound;
}

class Reading {
  isSound = true;
  readonly #files = new ConfigFiles(null, () => {
    this.isSound = false;
  });
  readonly #take: TakeJob;
  readonly #identities = new Set<string>();
  readonly #settings = new Set<string>();

  constructor(take: TakeJob) {
    this.#take = take;
  }

  visit(source: ConfigSource): Promise<void> {
    return this.#files.visit(source, (file, { handle }) => this.#read(file, handle));
  }

  async #read(file: ConfigFile, handle: FileHandle): Promise<void> {
    const { name, format } = file;
    if (format === "jsonl") await this.#readLines(name, readJsonLine, handle);
    else if (format === "kron") await this.#readLines(name, readKronLine, handle);
    else {
      const text = await handle.readFile("utf8");
      const calendarFiles = await readCalendarFiles(file, text, this.#files);
      this.#takeReading(readYamlConfig(name, text, { calendarFiles }));
    }
  }

  async #readLines(file: string, read: LineReader, handle: FileHandle): Promise<void> {
    let number = 0;
    for await (const lines of configLines(handle)) {
      for (const text of lines) {
        number += 1;
        const { job, problems } = read(text, { file, line: number });
        if (problems.length > 0) this.isSound = false;
        if (job !== null) this.#takeJob(job.definition);
      }
      if (!this.isSound) return;
    }
  }

  #takeReading({ jobs, settings, problems }: ConfigReading): void {
    if (problems.length > 0 || settings.some(({ name }) => this.#settings.has(name))) this.isSound = false;
    for (const { name } of settings) this.#settings.add(name);
    for (const { definition } of jobs) this.#takeJob(definition);
  }

  #takeJob(definition: JobDefinition): void {
    const { identity } = definition;
    if (this.#identities.has(identity) || this.#identities.size >= LIMITS.jobs) this.isSound = false;
    this.#identities.add(identity);
    if (this.isSound) this.#take(definition);
  }
}
