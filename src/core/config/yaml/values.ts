/**
 * Turns parsed YAML into plain data, strictly: text keys without repeats, no merge keys, no tags beyond the core ones,
 * anchors and aliases within bounds. An alias shares its anchor's value, and counts as all that is in it, so that a few
 * lines cannot stand for a billion values.
 */
import { type Alias, isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from "yaml";
import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import { quote } from "../../job/issues.js";
import type { Stretch } from "../located.js";
import type { YamlPiece } from "./pieces.js";

export interface YamlProblem extends Stretch {
  readonly problem: Problem;
}

/** A node and the piece in which its offsets count. */
export interface PlacedNode {
  readonly node: ParsedNode;
  readonly piece: YamlPiece;
}

export interface YamlItem extends PlacedNode {
  readonly raw: unknown;
  readonly problems: readonly YamlProblem[];
}

interface Anchored extends PlacedNode {
  readonly value: unknown;
  /** How many values are in it, those behind aliases included. */
  readonly size: number;
}

const CORE_TAGS = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

/** Reads the pieces of one file in their order: anchors of earlier ones are known in later ones. */
export class YamlValues {
  readonly problems: YamlProblem[] = [];
  readonly #anchors = new Map<string, Anchored>();
  readonly #targets = new WeakMap<Alias, PlacedNode>();
  #anchorCount = 0;
  #aliasedValues = 0;
  /** Counts every value read, so that the size of an anchored one is a difference. */
  #values = 0;
  #piece: YamlPiece | null = null;

  valueOf(piece: YamlPiece, node: ParsedNode | null): unknown {
    this.#piece = piece;
    return node === null ? null : this.#read(node, 0);
  }

  /** The name of a field, unless it is in `known` or cannot be used. */
  keyOf(piece: YamlPiece, key: ParsedNode, known: Readonly<Record<string, unknown>>): string | null {
    this.#piece = piece;
    return this.#readKey(key, known);
  }

  checkTag(piece: YamlPiece, node: ParsedNode): void {
    this.#piece = piece;
    if (node.tag !== undefined && !CORE_TAGS.test(node.tag)) this.#refuseTag(node, node.tag);
  }

  /** The elements of a list one by one, each with what is wrong inside it. */
  *itemsOf(piece: YamlPiece, list: YAMLSeq.Parsed): Generator<YamlItem> {
    this.checkTag(piece, list);
    for (const item of list.items) {
      const node = item as ParsedNode;
      const before = this.problems.length;
      const raw = this.valueOf(piece, node);
      yield { node, piece, raw, problems: this.problems.splice(before) };
    }
  }

  /** The anchored node behind an alias that was read. */
  targetOf(alias: Alias): PlacedNode | undefined {
    return this.#targets.get(alias);
  }

  #read(node: ParsedNode, depth: number): unknown {
    this.#values++;
    if (isAlias(node)) return this.#readAlias(node as Alias.Parsed);
    if (node.tag !== undefined && !CORE_TAGS.test(node.tag)) {
      return this.#refuseTag(node, node.tag);
    }
    if (depth > LIMITS.yamlDepth) {
      return this.#refuse(node, "limit-exceeded", `values are nested deeper than ${LIMITS.yamlDepth} levels`);
    }
    const before = this.#values;
    const value = this.#readContents(node, depth);
    const { anchor } = node;
    if (anchor !== undefined) this.#keepAnchor(anchor, node, value, this.#values - before + 1);
    return value;
  }

  #readContents(node: ParsedNode, depth: number): unknown {
    if (isMap(node)) return this.#readMap(node as YAMLMap.Parsed, depth);
    if (isSeq(node)) {
      return (node as YAMLSeq.Parsed).items.map((item) => this.#read(item as ParsedNode, depth + 1));
    }
    return isScalar(node) ? node.value : null;
  }

  #readMap(node: YAMLMap.Parsed, depth: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    for (const pair of node.items) {
      const key = pair.key as ParsedNode;
      const name = this.#readKey(key, value);
      const inner = pair.value === null ? null : this.#read(pair.value as ParsedNode, depth + 1);
      if (name !== null) value[name] = inner;
    }
    return value;
  }

  /** Null for a key that cannot be used. */
  #readKey(key: ParsedNode, known: Readonly<Record<string, unknown>>): string | null {
    if (!isScalar(key) || typeof key.value !== "string") {
      this.#refuse(key, "file-syntax", "a key must be a plain text");
      return null;
    }
    const name = key.value;
    if (key.tag !== undefined && !CORE_TAGS.test(key.tag)) {
      this.#refuseTag(key, key.tag);
    } else if (key.anchor !== undefined) {
      this.#refuse(key, "file-syntax", "a key cannot have an anchor");
    } else if (name === "<<") {
      this.#refuse(key, "file-syntax", "merge keys are not supported", "put what jobs share under defaults:");
    } else if (name === "__proto__") {
      this.#refuse(key, "field-unknown", 'a field cannot be named "__proto__"');
    } else if (Object.hasOwn(known, name)) {
      this.#refuse(key, "field-duplicate", `the field ${quote(name)} is written twice`);
    } else {
      return name;
    }
    return null;
  }

  #readAlias(alias: Alias.Parsed): unknown {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) {
      const hint = "write a text that begins with * in quotes";
      return this.#refuse(alias, "file-syntax", `there is no anchor ${quote(`&${alias.source}`)} before this`, hint);
    }
    this.#targets.set(alias, target);
    this.#values += target.size;
    this.#aliasedValues += target.size;
    if (this.#aliasedValues > LIMITS.yamlAliasedValues) {
      const message = `aliases stand for more than ${LIMITS.yamlAliasedValues} values`;
      return this.#refuse(alias, "limit-exceeded", message);
    }
    return target.value;
  }

  #keepAnchor(name: string, node: ParsedNode, value: unknown, size: number): void {
    if (++this.#anchorCount > LIMITS.yamlAnchors) {
      this.#refuse(node, "limit-exceeded", `more than ${LIMITS.yamlAnchors} anchors`);
      return;
    }
    if (this.#piece !== null) this.#anchors.set(name, { node, piece: this.#piece, value, size });
  }

  #refuseTag(node: ParsedNode, tag: string): null {
    return this.#refuse(node, "file-syntax", `the tag ${quote(tag)} is not supported`);
  }

  #refuse(node: ParsedNode, code: Problem["code"], message: string, hint?: string): null {
    const problem: Problem = { code, message, path: [], ...(hint === undefined ? {} : { hint }) };
    this.problems.push({ problem, ...stretchOf(node, this.#piece) });
    return null;
  }
}

export function stretchOf(node: ParsedNode, piece: YamlPiece | null): Stretch {
  const [start, end] = node.range;
  return piece === null ? { start, end } : { start: piece.toSource(start), end: piece.toSource(end) };
}
