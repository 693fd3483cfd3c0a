/** Reads a YAML file of jobs: text in, jobs and problems with their places out. */
import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from "yaml";
import { LIMITS } from "../../base/limits.js";
import { type Problem, problemAt } from "../../base/problem.js";
import type { JobDefaults } from "../../job/defaults.js";
import { describeValue, quote, quotesHint, valueAt } from "../../job/issues.js";
import { type ReadOptions, readJobDefinition, readSoundDefaults } from "../../job/schema.js";
import { JOB_SHAPE } from "../../job/shape.js";
import { formatSize } from "../../job/size.js";
import { didYouMean } from "../../job/suggest.js";
import { type CalendarFiles, NO_CALENDAR_FILES, readCalendars } from "../calendar/definition.js";
import { FILE_SHAPE } from "../json-schema.js";
import {
  type Against,
  byPlace,
  type ConfigReading,
  LineIndex,
  type LocatedJob,
  type LocatedProblem,
  type LocatedSetting,
  type Stretch,
} from "../located.js";
import { readSettings, SETTING_NAMES } from "../settings.js";
import { type YamlPiece, yamlFile } from "./pieces.js";
import { placeOfKey, placeOfProblem, placeOfValue, writtenValue } from "./places.js";
import { syntaxProblems } from "./syntax.js";
import { type PlacedNode, stretchOf, type YamlItem, YamlValues } from "./values.js";

export interface YamlOptions {
  /** Files above this size are read in batches of jobs. The result is the same. */
  readonly wholeChars?: number;
  /** Days of the files that its calendars name; see `calendarFilesNamed`. */
  readonly calendarFiles?: CalendarFiles;
  /** Told with the places of the fields in question, beside the jobs. */
  readonly against?: Against;
}

export function readYamlConfig(file: string, text: string, options: YamlOptions = {}): ConfigReading {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  return new YamlFileReader(file, source, options).read(options.wholeChars);
}

const NOWHERE: Stretch = { start: 0, end: 1 };
const FILE_FIELDS = Object.keys(FILE_SHAPE.shape);

/** One reading of one file: collects jobs, settings and problems. */
class YamlFileReader {
  readonly #file: string;
  readonly #source: string;
  readonly #lines: LineIndex;
  readonly #values = new YamlValues();
  readonly #jobs: LocatedJob[] = [];
  readonly #settings: LocatedSetting[] = [];
  readonly #problems: LocatedProblem[] = [];
  readonly #calendarFiles: CalendarFiles;
  readonly #against: Against;
  #root: PlacedNode | null = null;
  #defaults: JobDefaults | undefined;
  #options: ReadOptions = {};

  constructor(file: string, source: string, { calendarFiles = NO_CALENDAR_FILES, against }: YamlOptions) {
    this.#file = file;
    this.#against = against ?? (() => []);
    this.#calendarFiles = calendarFiles;
    this.#source = source;
    this.#lines = new LineIndex(source);
  }

  read(wholeChars: number | undefined): ConfigReading {
    if (this.#source.length > LIMITS.yamlFileBytes) {
      this.#add(tooLarge(LIMITS.yamlFileBytes, "use JSON Lines for sets of this size"), NOWHERE);
    } else {
      this.#readFile(wholeChars);
    }
    return { jobs: this.#jobs, settings: this.#settings, problems: this.#problems.sort(byPlace) };
  }

  #readFile(wholeChars: number | undefined): void {
    const { frame, batches } = yamlFile(this.#source, wholeChars);
    if (frame === null) {
      this.#add(tooLarge(LIMITS.yamlTreeBytes, "a larger file has its jobs as one plain list under jobs:"), NOWHERE);
      return;
    }
    if (!this.#isSound(frame)) return;
    const items = this.#readFrame(frame);
    for (const item of items) this.#readJob(item);
    for (const batch of batches ?? []) {
      if (!this.#isSound(batch) || !isSeq(batch.root)) continue;
      for (const item of this.#values.itemsOf(batch, batch.root as YAMLSeq.Parsed)) this.#readJob(item);
    }
  }

  #isSound(piece: YamlPiece): boolean {
    const problems = syntaxProblems(piece, this.#source, this.#lines);
    for (const { problem, start, end } of problems) this.#add(problem, { start, end });
    const version = piece.directives?.yaml;
    if (version?.explicit !== true || version.version === "1.2") return problems.length === 0;
    const start = Math.max(0, this.#source.indexOf("%YAML"));
    this.#add({ code: "file-syntax", message: "files are read as YAML 1.2", path: [] }, { start, end: start + 5 });
    return false;
  }

  /** Everything but the jobs, which are only collected: defaults may stand behind them. */
  #readFrame(frame: YamlPiece): readonly YamlItem[] {
    const root = frame.root;
    if (root === null || !isMap(root)) {
      this.#add(notAFile(root), root === null ? NOWHERE : { ...stretchOf(root, frame), end: 0 });
      return [];
    }
    this.#values.checkTag(frame, root);
    const raw: Record<string, unknown> = {};
    const items: YamlItem[] = [];
    for (const { key, value } of (root as YAMLMap.Parsed).items) {
      const name = this.#values.keyOf(frame, key, raw);
      const isJobs = name === "jobs" && value !== null && isSeq(value);
      if (isJobs) items.push(...this.#values.itemsOf(frame, value as YAMLSeq.Parsed));
      const inner = isJobs ? [] : this.#values.valueOf(frame, value);
      if (name !== null) raw[name] = inner;
    }
    for (const { problem, start, end } of this.#values.problems.splice(0)) this.#add(problem, { start, end });
    this.#readFields(raw, { node: root as ParsedNode, piece: frame });
    return items;
  }

  #readFields({ calendars, defaults = {}, jobs, ...rest }: Record<string, unknown>, root: PlacedNode): void {
    this.#root = root;
    // First: defaults and jobs may call them by their names.
    const named = readCalendars(calendars ?? {}, this.#calendarFiles);
    this.#options = { calendars: named.calendars };
    this.#addAll(named.problems, root);
    const read = readSoundDefaults(defaults ?? {}, this.#options);
    this.#defaults = read.defaults;
    this.#addAll(
      read.problems.map((problem) => problemAt(problem, "defaults")),
      root,
    );
    if (jobs !== undefined && jobs !== null && !Array.isArray(jobs)) {
      this.#addAll([wrongJobs(jobs)], root);
    }
    const settings = Object.entries(rest).filter(([name]) => (SETTING_NAMES as readonly string[]).includes(name));
    const { changes, problems } = readSettings(Object.fromEntries(settings));
    this.#addAll(problems, root);
    for (const change of changes) {
      const place = placeOfKey([change.name], root, this.#values);
      this.#settings.push({ ...change, file: this.#file, ...lineAndColumn(this.#lines, place) });
    }
    const unknown = Object.keys(rest)
      .filter((name) => !FILE_FIELDS.includes(name))
      .slice(0, LIMITS.problemsPerJob);
    this.#addAll(unknown.map(unknownTopField), root);
  }

  #readJob(item: YamlItem): void {
    const identity = identityOf(item.raw);
    for (const { problem, start, end } of item.problems) this.#add(problem, { start, end }, identity);
    const read = readJobDefinition(item.raw, this.#defaults, this.#options);
    if (!read.ok) {
      // What a value could not be read as is told; that something is missing in its place needs no second word.
      const told = new Set(item.problems.map(({ start }) => start));
      this.#addAll(read.error, item, identity, told);
      return;
    }
    if (item.problems.length > 0) return;
    const place = placeOfValue(["identity"], item, this.#values);
    this.#jobs.push({ definition: read.value, file: this.#file, ...lineAndColumn(this.#lines, place) });
    for (const problem of this.#against(read.value.identity)) this.#addAgainst(problem, item, read.value.identity);
  }

  /** Where the job says it, or its defaults; a field that nobody has written is where the job is. */
  #addAgainst(problem: Problem, item: YamlItem, identity: string): void {
    const [field = ""] = problem.path;
    const isOwn = valueAt(item.raw, [field]) !== undefined;
    const inDefaults = { ...problem, path: ["defaults", ...problem.path] };
    const stretch =
      isOwn || this.#root === null || this.#defaults?.raw[field as keyof JobDefaults["raw"]] === undefined
        ? placeOfProblem(isOwn ? problem : { ...problem, path: ["identity"] }, item, this.#values, this.#source)
        : placeOfProblem(inDefaults, this.#root, this.#values, this.#source);
    this.#add(problem, stretch, identity);
  }

  #addAll(
    problems: readonly Problem[],
    root: PlacedNode,
    identity: string | null = null,
    told: ReadonlySet<number> = new Set(),
  ): void {
    for (const problem of problems) {
      const stretch = placeOfProblem(problem, root, this.#values, this.#source);
      if (!told.has(stretch.start)) this.#add(this.#asWritten(problem, root), stretch, identity);
    }
  }

  /** A hint about quotes shows the value as it is written: `022`, not `22`. */
  #asWritten(problem: Problem, root: PlacedNode): Problem {
    const written = writtenValue(problem.path, root, this.#values);
    const isAboutQuotes = problem.hint?.startsWith(quotesHint("").slice(0, -2)) === true;
    return written !== null && isAboutQuotes ? { ...problem, hint: quotesHint(written) } : problem;
  }

  #add(problem: Problem, stretch: Stretch, identity: string | null = null): void {
    this.#problems.push({ problem, file: this.#file, identity, ...this.#lines.placeOf(stretch) });
  }
}

function lineAndColumn(lines: LineIndex, stretch: Stretch): { readonly line: number; readonly column: number } {
  const { line, column } = lines.placeOf(stretch);
  return { line, column };
}

function identityOf(raw: unknown): string | null {
  const identity = valueAt(raw, ["identity"]);
  return typeof identity === "string" ? identity : null;
}

function tooLarge(limit: number, hint: string): Problem {
  return { code: "limit-exceeded", message: `the file is larger than ${formatSize(limit)}`, path: [], hint };
}

function notAFile(root: ParsedNode | null): Problem {
  const isEmpty = root === null || (isScalar(root) && root.value === null);
  const message = isEmpty ? "the file is empty" : "a file of jobs is a mapping";
  return { code: "file-syntax", message, path: [], hint: "write jobs: and below it a list of jobs" };
}

function wrongJobs(jobs: unknown): Problem {
  return { code: "field-type", message: `expected a list of jobs, got ${describeValue(jobs)}`, path: ["jobs"] };
}

function unknownTopField(name: string): Problem {
  const isOfJob = Object.hasOwn(JOB_SHAPE.shape, name);
  const hint = isOfJob
    ? "jobs stand in a list under jobs:"
    : (didYouMean(name, FILE_FIELDS) ?? `known here: ${FILE_FIELDS.join(", ")}`);
  return { code: "field-unknown", message: `unknown field ${quote(name)}`, path: [name], hint };
}
