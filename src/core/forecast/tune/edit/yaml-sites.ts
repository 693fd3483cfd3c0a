/**
 * Where the jobs of a YAML file are written. A new field stands on a line of its own below `schedule`, or behind it where
 * the job is written in braces; comments and the form of everything else stay. Jobs behind an anchor or an alias are left
 * alone: others may be written in the same place.
 */
import { isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, type Scalar, type YAMLMap } from "yaml";
import { LineIndex, type Stretch } from "../../../config/located.js";
import { type YamlPiece, yamlFile } from "../../../config/yaml/pieces.js";
import { stretchOf } from "../../../config/yaml/values.js";
import type { WindowRule } from "../../../decision/rule.js";
import { formatDuration } from "../../../time/duration.js";
import { insertion, type JobSite, type JobSites, type TextEdit } from "./edits.js";

const BYTE_ORDER_MARK = "\ufeff";

export function yamlSites(text: string): JobSites {
  const base = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  const source = text.slice(base);
  const { frame, batches } = yamlFile(source);
  const sites = new Map<string, JobSite>();
  const lines = new LineIndex(text);
  const collect = (piece: YamlPiece, items: readonly unknown[]): void => {
    for (const item of items) {
      const node = item as ParsedNode;
      if (!isMap(node)) continue;
      const identity = scalarOf(pairOf(node as YAMLMap.Parsed, "identity"))?.value;
      if (typeof identity !== "string") continue;
      sites.set(identity, new YamlSite(text, lines, piece, node as YAMLMap.Parsed, base));
    }
  };
  if (frame?.root !== null && isMap(frame?.root)) {
    const jobs = pairOf(frame.root as YAMLMap.Parsed, "jobs")?.value;
    if (isSeq(jobs)) collect(frame, jobs.items);
  }
  for (const piece of batches ?? []) if (isSeq(piece.root)) collect(piece, piece.root.items);
  return sites;
}

type ParsedPair = Pair<ParsedNode, ParsedNode | null>;

function pairOf(map: YAMLMap.Parsed, name: string): ParsedPair | undefined {
  return map.items.find(({ key }) => isScalar(key) && key.value === name) as ParsedPair | undefined;
}

/** A value that is written here and nowhere else. */
function scalarOf(pair: ParsedPair | undefined): Scalar.Parsed | null {
  const value = pair?.value;
  return isScalar(value) && value.anchor === undefined ? (value as Scalar.Parsed) : null;
}

class YamlSite implements JobSite {
  readonly #text: string;
  readonly #lines: LineIndex;
  readonly #piece: YamlPiece;
  readonly #job: YAMLMap.Parsed;
  readonly #base: number;

  constructor(text: string, lines: LineIndex, piece: YamlPiece, job: YAMLMap.Parsed, base: number) {
    this.#text = text;
    this.#lines = lines;
    this.#piece = piece;
    this.#job = job;
    this.#base = base;
  }

  get line(): number {
    return this.#lines.placeOf(this.#stretchOf(this.#job as ParsedNode)).line;
  }

  get hasOwnWindow(): boolean {
    return pairOf(this.#job, "window") !== undefined;
  }

  windowEdit({ mode, durationMs }: WindowRule): TextEdit | null {
    const duration = formatDuration(durationMs);
    const own = pairOf(this.#job, "window");
    if (own === undefined) return this.#newField(`window: { mode: ${mode}, duration: ${duration} }`);
    return this.#replaceIn(own, "duration", duration);
  }

  saltEdit(salt: string): TextEdit | null {
    const own = pairOf(this.#job, "seed");
    if (own === undefined) return this.#newField(`seed: { salt: ${JSON.stringify(salt)} }`);
    return this.#replaceIn(own, "salt", JSON.stringify(salt));
  }

  deadlineEdit(deadlineMs: number): TextEdit | null {
    const text = formatDuration(deadlineMs);
    const own = pairOf(this.#job, "policy");
    if (own === undefined) return this.#newField(`policy: { deadline: ${text} }`);
    const hasDeadline = isMap(own.value) && pairOf(own.value as YAMLMap.Parsed, "deadline") !== undefined;
    return hasDeadline ? this.#replaceIn(own, "deadline", text) : this.#addTo(own, `deadline: ${text}`);
  }

  /** Behind what the field holds already. */
  #addTo(own: ParsedPair, text: string): TextEdit | null {
    if (this.#isShared() || !isMap(own.value) || own.value.anchor !== undefined) return null;
    const last = (own.value as YAMLMap.Parsed).items.at(-1) as ParsedPair | undefined;
    if (last === undefined || !isScalar(last.value) || last.value.type?.startsWith("BLOCK") === true) return null;
    const end = this.#stretchOf(last.value).end;
    return own.value.flow === true
      ? insertion(end, `, ${text}`)
      : this.#newLine(this.#stretchOf(last.key).start, end, text);
  }

  #replaceIn(own: ParsedPair, name: string, text: string): TextEdit | null {
    if (this.#isShared() || !isMap(own.value) || own.value.anchor !== undefined) return null;
    const scalar = scalarOf(pairOf(own.value as YAMLMap.Parsed, name));
    if (scalar === null || scalar.type?.startsWith("BLOCK") === true) return null;
    const stretch = this.#stretchOf(scalar as ParsedNode);
    return this.#text.slice(stretch.start, stretch.end).includes("\n") ? null : { ...stretch, text };
  }

  #newField(text: string): TextEdit | null {
    const schedule = pairOf(this.#job, "schedule");
    const value = schedule?.value ?? null;
    if (schedule === undefined || value === null || this.#isShared()) return null;
    const key = this.#stretchOf(schedule.key).start;
    const end = this.#stretchOf(value).end;
    if (this.#job.flow === true) return insertion(end, `, ${text}`);
    if (isScalar(value) && value.type?.startsWith("BLOCK") === true) return null;
    return this.#newLine(key, end, text);
  }

  /** Below the line on which the value ends, as far in as its key. */
  #newLine(key: number, end: number, text: string): TextEdit | null {
    const before = this.#text.slice(this.#text.lastIndexOf("\n", key - 1) + 1, key);
    if (/[^ -]/.test(before.replace(BYTE_ORDER_MARK, ""))) return null;
    const newline = this.#text.indexOf("\n", end);
    const at = newline < 0 ? this.#text.length : newline;
    const isWindows = this.#text[at - 1] === "\r";
    const eol = isWindows || (newline < 0 && this.#text.includes("\r\n")) ? "\r\n" : "\n";
    const place = isWindows ? at - 1 : at;
    return insertion(place, `${eol}${" ".repeat(before.replace(BYTE_ORDER_MARK, "").length)}${text}`);
  }

  /** Written once and meant more than once. */
  #isShared(): boolean {
    return this.#job.anchor !== undefined || isAlias(this.#job);
  }

  #stretchOf(node: ParsedNode): Stretch {
    const { start, end } = stretchOf(node, this.#piece);
    return { start: start + this.#base, end: end + this.#base };
  }
}
