/** Endpoints as they stand in a file, YAML or JSON; what is wrong with them is shown at its line. */
import { type Fields, isFields } from "../../core/base/fields.js";
import { LIMITS } from "../../core/base/limits.js";
import type { Problem } from "../../core/base/problem.js";
import { formatProblem } from "../../core/config/format-problem.js";
import { LineIndex, type Stretch } from "../../core/config/located.js";
import { yamlFile } from "../../core/config/yaml/pieces.js";
import { placeOfProblem } from "../../core/config/yaml/places.js";
import { syntaxProblems } from "../../core/config/yaml/syntax.js";
import { type PlacedNode, YamlValues } from "../../core/config/yaml/values.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { hasColour } from "../style.js";
import { readTextFile } from "../text-file.js";

export class FieldsFile {
  readonly #name: string;
  readonly #source: string;
  readonly #lines: LineIndex;
  readonly #values: YamlValues;
  readonly #root: PlacedNode | null;
  readonly fields: Fields;

  private constructor(name: string, source: string, read: Pick<Read, "root" | "values" | "fields">) {
    this.#name = name;
    this.#source = source;
    this.#lines = new LineIndex(source);
    this.#root = read.root;
    this.#values = read.values;
    this.fields = read.fields;
  }

  /** Ends the command where it is no mapping, and shows why. */
  static async read(name: string, args: ParsedArgs, io: CliIo): Promise<FieldsFile> {
    const { text } = await readTextFile(name, LIMITS.yamlTreeBytes, io);
    const source = text.startsWith("\ufeff") ? text.slice(1) : text;
    const read = readFields(source);
    const file = new FieldsFile(name === "-" ? "standard input" : name, source, read);
    if (read.problems.length > 0) throw await file.#refused(read.problems, args, io);
    return file;
  }

  /** Shows each where it stands. */
  async refused(problems: readonly Problem[], args: ParsedArgs, io: CliIo): Promise<CliError> {
    const root = this.#root;
    const nowhere = { start: 0, end: 1 };
    const placed = problems.map((problem) => {
      const stretch = root === null ? nowhere : placeOfProblem(problem, root, this.#values, this.#source);
      return { problem, ...stretch };
    });
    return this.#refused(placed, args, io);
  }

  async #refused(problems: readonly PlacedProblem[], args: ParsedArgs, io: CliIo): Promise<CliError> {
    const color = hasColour(args, io, io.isErrTerminal);
    for (const { problem, start, end } of [...problems].sort((one, other) => one.start - other.start)) {
      const place = this.#lines.placeOf({ start, end });
      const located = { problem, file: this.#name, identity: null, ...place };
      await io.err(`${formatProblem(located, this.#lines.lineText(place.line), { color })}\n`);
    }
    return new CliError(
      EXIT.configuration,
      `${plural(problems.length, "problem")} in ${this.#name}: nothing was changed`,
    );
  }
}

interface PlacedProblem extends Stretch {
  readonly problem: Problem;
}

interface Read {
  readonly root: PlacedNode | null;
  readonly values: YamlValues;
  readonly fields: Fields;
  readonly problems: readonly PlacedProblem[];
}

function readFields(source: string): Read {
  const values = new YamlValues();
  const piece = yamlFile(source, Number.POSITIVE_INFINITY).frame;
  const none = { root: null, values, fields: {} };
  if (piece === null) throw new Error("invariant broken: a file within its bound is one tree");
  const problems = syntaxProblems(piece, source, new LineIndex(source));
  if (problems.length > 0) return { ...none, problems };
  const fields = values.valueOf(piece, piece.root);
  if (values.problems.length > 0) return { ...none, problems: values.problems };
  if (piece.root === null || !isFields(fields)) {
    const hint = "write fields, as docs/endpoints.md has them";
    const problem: Problem = { code: "file-syntax", message: "endpoints are written as a mapping", path: [], hint };
    return { ...none, problems: [{ problem, start: 0, end: 1 }] };
  }
  return { root: { node: piece.root, piece }, values, fields, problems: [] };
}
