/** Brings the pieces of a configuration together, in their order: what only the whole of them can tell is found here. */
import { LIMITS } from "../../../core/base/limits.js";
import type { Problem } from "../../../core/base/problem.js";
import type { CrontabReading } from "../../../core/config/crontab/crontab.js";
import type { LocatedProblem, LocatedSetting, Place } from "../../../core/config/located.js";
import { applySettings, type Settings } from "../../../core/config/settings.js";
import { quote } from "../../../core/job/issues.js";
import type { ConfigFinding } from "../../../persist/config-files.js";
import { isFirstOfFile, isOfLines, type Piece, type PieceTask, sourceLineOf } from "./piece.js";

/** Jobs of one file that came together. */
export interface JobChunk<Jobs> {
  readonly file: string;
  readonly jobs: Jobs;
  /** Added to the line numbers of the jobs. */
  readonly linesBefore: number;
}

/** A job that is to be added, and where it stands. */
export interface Candidate {
  readonly identity: string;
  readonly place: Place;
}

/** What becomes of the jobs: whether they are kept, and how, is its own business; names and places it always knows. */
export interface JobKeeper<Jobs> {
  readonly size: number;
  /** Their number; they are then added one by one, by their positions. */
  begin(chunk: JobChunk<Jobs>): number;
  /** Whether the name of a job of the newest chunk is not taken. */
  isNew(position: number): boolean;
  /** Adds a job of the newest chunk. Returns the place of an earlier one with the same name, and adds nothing. */
  add(position: number): Place | null;
  /** Of the newest chunk. */
  candidateAt(position: number): Candidate;
  /** Of the how-many-th that was added. */
  placeAt(index: number): Place;
}

export interface Merged {
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  /** What became of each line of each crontab. */
  readonly crontabs: readonly CrontabReading[];
}

export class Merge<Jobs> {
  readonly #keeper: JobKeeper<Jobs>;
  readonly #settings: LocatedSetting[] = [];
  readonly #findings: ConfigFinding[] = [];
  readonly #crontabs: CrontabReading[] = [];
  readonly #limit: number;
  #isFull = false;
  /** Lines of the present file in the pieces before. */
  #linesBefore = 0;

  constructor(keeper: JobKeeper<Jobs>, limit: number = LIMITS.jobs) {
    this.#keeper = keeper;
    this.#limit = limit;
  }

  refuse(finding: ConfigFinding): void {
    this.#findings.push(finding);
  }

  take(piece: Piece<Jobs>, task: PieceTask): void {
    if (isFirstOfFile(task)) this.#linesBefore = 0;
    const repeated = this.#takeJobs(piece, task);
    this.#findings.push(...this.#inOrder(piece, task, repeated));
    for (const { setting, sourceLine } of piece.settings) this.#set(setting, sourceLine);
    if (piece.crontab !== null) this.#crontabs.push(piece.crontab);
    this.#linesBefore += piece.lines;
  }

  result(): Merged {
    const settings = applySettings(this.#settings.map(({ change }) => change));
    const findings = [...this.#findings, ...this.#overLimit(settings)];
    return { settings, findings, crontabs: this.#crontabs };
  }

  #takeJobs({ jobs }: Piece<Jobs>, task: PieceTask): ConfigFinding[] {
    const linesBefore = this.#linesBefore;
    const count = this.#keeper.begin({ file: task.file, jobs, linesBefore });
    const findings: ConfigFinding[] = [];
    for (let position = 0; position < count; position++) {
      const located = this.#add(position);
      if (located !== null) findings.push({ located, sourceLine: sourceLineOf(task, located.line - linesBefore) });
    }
    return findings;
  }

  /** S37: an identity belongs to the job that had it first. That there are too many jobs is said once. */
  #add(position: number): LocatedProblem | null {
    const keeper = this.#keeper;
    if (keeper.size >= this.#limit && keeper.isNew(position)) {
      if (this.#isFull) return null;
      this.#isFull = true;
      return problemOf(keeper.candidateAt(position), tooManyJobs(this.#limit));
    }
    const earlier = keeper.add(position);
    if (earlier === null) return null;
    const candidate = keeper.candidateAt(position);
    return problemOf(candidate, repeatedIdentity(candidate.identity, earlier));
  }

  /** The limit that the files set themselves, which may stand behind all of the jobs. */
  #overLimit({ limits }: Settings): ConfigFinding[] {
    const { size } = this.#keeper;
    if (size <= limits.jobs) return [];
    const message = `${size} jobs are configured, the limit is ${limits.jobs}`;
    const problem: Problem = { code: "limit-exceeded", message, path: [] };
    const place = this.#keeper.placeAt(limits.jobs);
    return [{ located: { problem, ...place, length: 1, identity: null }, sourceLine: null }];
  }

  /** Of lines by line; of a whole file its own findings first. */
  #inOrder(
    { findings }: Piece<Jobs>,
    { form }: PieceTask,
    repeated: readonly ConfigFinding[],
  ): readonly ConfigFinding[] {
    if (!isOfLines(form)) return [...findings, ...repeated];
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

/** A setting belongs to one place: with two, the order of the file names would decide. */
function repeatedSetting(known: readonly LocatedSetting[], setting: LocatedSetting): LocatedProblem | null {
  const earlier = known.find(({ name }) => name === setting.name);
  if (earlier === undefined) return null;
  const message = `${setting.name} is already set at ${earlier.file}:${earlier.line}:${earlier.column}`;
  const problem = { code: "field-duplicate" as const, message, path: [setting.name] };
  const { file, line, column } = setting;
  return { problem, file, line, column, length: setting.name.length, identity: null };
}

function repeatedIdentity(identity: string, { file, line, column }: Place): Problem {
  const message = `the identity ${quote(identity)} is already used at ${file}:${line}:${column}`;
  return { code: "identity-duplicate", message, path: ["identity"] };
}

function tooManyJobs(limit: number): Problem {
  return { code: "limit-exceeded", message: `more than ${limit} jobs`, path: [] };
}

function problemOf({ identity, place }: Candidate, problem: Problem): LocatedProblem {
  return { problem, ...place, length: 1, identity };
}
