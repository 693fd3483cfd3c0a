/**
 * Cuts a YAML file into pieces that are parsed one after the other. A parsed tree takes 80 times the memory of its text,
 * so a file of a hundred thousand jobs must never be one tree: the items of a top-level `jobs:` list, which by YAML's
 * indentation rules cannot reach into each other, are parsed in batches, and what stands around them separately.
 */
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type YAMLParseError } from "yaml";
import { LIMITS } from "../../base/limits.js";
import type { Stretch } from "../located.js";

/** Files up to this size are one piece. */
const WHOLE_CHARS = 1024 * 1024;
/** What a batch of jobs has at least: enough that starting the parser costs nothing, little enough for memory. */
const BATCH_CHARS = 64 * 1024;

export interface YamlPiece {
  readonly root: ParsedNode | null;
  readonly errors: readonly YAMLParseError[];
  /** Where nesting goes deeper than is read; null when it does not. */
  readonly tooDeepAt: number | null;
  /** Where a second document begins; null when there is none, as it should be. */
  readonly secondDocumentAt: number | null;
  readonly directives: Document.Parsed["directives"] | null;
  /** From an offset in the piece to one in the file. */
  toSource(offset: number): number;
}

interface YamlFile {
  /** The whole file, or what stands around its jobs; null when it is too large for one tree and cannot be cut. */
  readonly frame: YamlPiece | null;
  /** Lists of jobs; null when the jobs are in the frame. */
  readonly batches: Iterable<YamlPiece> | null;
}

/** Where the list of jobs is, when the file has the usual form. */
interface JobList extends Stretch {
  /** Where each item begins. */
  readonly items: readonly number[];
}

export function yamlFile(text: string, wholeChars = WHOLE_CHARS): YamlFile {
  const list = text.length <= wholeChars ? null : findJobList(text);
  if (list === null) {
    const frame = text.length > LIMITS.yamlTreeBytes ? null : parsePiece(text, (offset) => offset);
    return { frame, batches: null };
  }
  const frame = text.slice(0, list.start) + text.slice(list.end);
  const gap = list.end - list.start;
  if (Math.max(frame.length, longestItem(list)) > LIMITS.yamlTreeBytes) return { frame: null, batches: null };
  return {
    frame: parsePiece(frame, (offset) => (offset < list.start ? offset : offset + gap)),
    batches: batchesOf(text, list),
  };
}

function longestItem({ items, end }: JobList): number {
  return items.reduce((longest, start, index) => Math.max(longest, (items[index + 1] ?? end) - start), 0);
}

function* batchesOf(text: string, list: JobList): Generator<YamlPiece> {
  let start = list.start;
  for (const index of list.items.keys()) {
    const end = list.items[index + 1] ?? list.end;
    if (end - start < BATCH_CHARS && end !== list.end) continue;
    const base = start;
    yield parsePiece(text.slice(base, end), (offset) => base + offset);
    start = end;
  }
}

/** Null when the text is not of the form that can be cut: then the parser judges it as a whole. */
export function findJobList(text: string): JobList | null {
  const key = /^jobs:[ \t]*(?:#[^\n]*)?\r?\n/m.exec(text);
  if (key === null) return null;
  const start = key.index + key[0].length;
  const items: number[] = [];
  let indent = -1;
  for (let at = start; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = lineKind(text, at, next);
    if (line === null) return null;
    if (indent < 0 && line.kind !== "filler") indent = line.indent;
    if (line.kind === "item" && line.indent === indent) items.push(at);
    else if (line.kind !== "filler" && line.indent <= indent) {
      return line.indent === 0 && isSelfContained(text.slice(at)) && items.length > 0
        ? { start, end: at, items }
        : null;
    }
    at = next;
  }
  return items.length === 0 ? null : { start, end: text.length, items };
}

interface LineKind {
  readonly kind: "filler" | "item" | "content";
  readonly indent: number;
}

/** Null for what only the parser can place: markers between documents, directives, tabs for indentation. */
function lineKind(text: string, at: number, next: number): LineKind | null {
  let first = at;
  while (text[first] === " ") first++;
  const char = text[first];
  const indent = first - at;
  if (first >= next || char === "\n" || char === "\r" || char === "#") return { kind: "filler", indent };
  if (char === "\t" || (indent === 0 && /^(?:---|\.\.\.|%)/.test(text.slice(at, at + 3)))) return null;
  const after = text[first + 1];
  const isItem = char === "-" && (after === " " || after === "\n" || after === "\r" || after === undefined);
  return { kind: isItem ? "item" : "content", indent };
}

/** Anchors are handed on in the order of reading, which is not the order of the file for what follows the jobs. */
function isSelfContained(text: string): boolean {
  return !/[&*]/.test(text) && !/^(?:---|\.\.\.|%)/m.test(text);
}

/** Keys are checked for repeats by the reader: the parser's own check takes quadratic time. */
const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

/** Open collections and values that the parser may hold at once for `yamlDepth` levels. */
const OPEN_TOKENS = 2 * LIMITS.yamlDepth + 8;

function parsePiece(text: string, toSource: (offset: number) => number): YamlPiece {
  const tokens: CST.Token[] = [];
  const tooDeepAt = readTokens(text, tokens);
  if (tooDeepAt !== null)
    return { root: null, errors: [], tooDeepAt, secondDocumentAt: null, directives: null, toSource };
  const documents = new Composer(OPTIONS).compose(tokens, true, text.length);
  const [first, second] = [documents.next(), documents.next()];
  if (first.done === true) throw new Error("invariant broken: the YAML composer gave no document");
  const { contents: root, errors, directives } = first.value;
  const secondDocumentAt = second.done === true ? null : second.value.range[0];
  return { root, errors, tooDeepAt: null, secondDocumentAt, directives, toSource };
}

/**
 * The tokens of a text, or where it is nested too deeply. The composer descends by recursion, and a stack that is nearly
 * used up cannot be survived everywhere (a regular expression compiled there ends the process): so depth is bounded
 * here, where the parser still works without recursion.
 */
function readTokens(text: string, tokens: CST.Token[]): number | null {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > OPEN_TOKENS) return parser.offset;
  }
  for (const token of parser.end()) tokens.push(token);
  return null;
}
