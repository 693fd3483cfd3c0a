/** Brings the pieces of a configuration together, in their order: what is said twice is found here. */

import { LIMITS } from "../../../core/base/limits.js";
import type { Problem } from "../../../core/base/problem.js";
import { problemOfJob, repeatedIdentity, tooManyJobs } from "../../../core/config/collector.js";
import type { CrontabReading } from "../../../core/config/crontab/crontab.js";
import type { LocatedProblem, LocatedSetting } from "../../../core/config/located.js";
import { repeatedSetting } from "../../../core/config/repeated-setting.js";
import { applySettings } from "../../../core/config/settings.js";
import type { ConfigFinding } from "../../../persist/config-files.js";
import type { DefinitionSet } from "../types.js";
import { HeldDefinitions, JobIndex, placeIn } from "./definition-set.js";
import { textBytes } from "./job-columns.js";
import { isFirstOfFile, type Piece, type PieceTask, sourceLineOf } from "./piece.js";

const DECODER = new TextDecoder();

export class Merge {
  readonly #index = new JobIndex();
  readonly #settings: LocatedSetting[] = [];
  readonly #findings: ConfigFinding[] = [];
  readonly #crontabs: CrontabReading[] = [];
  readonly #limit: number;
  #isFull = false;
  /** Lines of the present file in the pieces before. */
  #linesBefore = 0;

  constructor(limit: number = LIMITS.jobs) {
    this.#limit = limit;
  }

  get isSound(): boolean {
    return this.#findings.length === 0;
  }

  get hasCrontabs(): boolean {
    return this.#crontabs.length > 0;
  }

  refuse(finding: ConfigFinding): void {
    this.#findings.push(finding);
  }

  take(piece: Piece, task: PieceTask): void {
    if (isFirstOfFile(task)) this.#linesBefore = 0;
    const repeated = this.#takeJobs(piece, task);
    this.#findings.push(...this.#inOrder(piece, task, repeated));
    for (const { setting, sourceLine } of piece.settings) this.#set(setting, sourceLine);
    if (piece.crontab !== null) this.#crontabs.push(piece.crontab);
    this.#linesBefore += piece.lines;
  }

  result(files: readonly string[]): DefinitionSet {
    return new HeldDefinitions(this.#index, {
      files,
      settings: applySettings(this.#settings.map(({ change }) => change)),
      findings: this.#findings,
      crontabs: this.#crontabs,
    });
  }

  #takeJobs({ jobs }: Piece, task: PieceTask): ConfigFinding[] {
    if (jobs.count === 0) return [];
    this.#index.addChunk({ file: task.file, jobs, linesBefore: this.#linesBefore });
    const findings: ConfigFinding[] = [];
    for (let position = 0; position < jobs.count; position++) {
      const problem = this.#add(position);
      if (problem === null) continue;
      const line = jobs.lines[position] as number;
      findings.push({ located: problem, sourceLine: sourceLineOf(task, line) });
    }
    return findings;
  }

  /** As the collector of jobs does. */
  #add(position: number): LocatedProblem | null {
    const isTooMany = this.#index.size >= this.#limit && this.#index.isNew(position);
    if (isTooMany) {
      if (this.#isFull) return null;
      this.#isFull = true;
      return this.#problemOf(position, () => tooManyJobs(this.#limit));
    }
    const earlier = this.#index.add(position);
    if (earlier === null) return null;
    const { chunk, position: earlierPosition } = this.#index.at(earlier);
    return this.#problemOf(position, (identity) => repeatedIdentity(identity, placeIn(chunk, earlierPosition)));
  }

  #problemOf(position: number, problem: (identity: string) => Problem): LocatedProblem {
    const chunk = this.#index.chunks.at(-1);
    if (chunk === undefined) throw new Error("invariant broken: a job without its piece");
    const text = DECODER.decode(textBytes(chunk.jobs, position));
    const { identity } = JSON.parse(text) as { readonly identity: string };
    return problemOfJob(identity, placeIn(chunk, position), problem(identity));
  }

  /** Of lines by line; of a whole file its own findings first. */
  #inOrder({ findings }: Piece, { form }: PieceTask, repeated: readonly ConfigFinding[]): readonly ConfigFinding[] {
    if (form.kind === "yaml" || form.kind === "crontab") return [...findings, ...repeated];
    const placed = findings.map(({ located, sourceLine }) => {
      return { located: { ...located, line: located.line + this.#linesBefore }, sourceLine };
    });
    if (repeated.length === 0) return placed;
    return [...placed, ...repeated].sort((a, b) => a.located.line - b.located.line);
  }

  #set(setting: LocatedSetting, sourceLine: string | null): void {
    const problem = repeatedSetting(this.#settings, setting);
    if (problem === null) this.#settings.push(setting);
    else this.#findings.push({ located: problem, sourceLine });
  }
}
