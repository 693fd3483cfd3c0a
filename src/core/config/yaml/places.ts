/** Finds where in a YAML file the value at a path stands, and the part of its text that a span names. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar } from "yaml";
import type { Problem, TextSpan } from "../../base/problem.js";
import type { Stretch } from "../located.js";
import { KEY_CODES } from "../problem-kinds.js";
import { writtenPart } from "../written-text.js";
import { type PlacedNode, stretchOf, type YamlValues } from "./values.js";

type Path = readonly (string | number)[];

/** As near as can be to what the problem is about: the key, the value or a part of it, else what should have held it. */
export function placeOfProblem(problem: Problem, root: PlacedNode, values: YamlValues, source: string): Stretch {
  if (KEY_CODES.has(problem.code)) return placeOfKey(problem.path, root, values);
  const found = nodeAt(problem.path, root, values);
  if (found.node === null) return firstOf(found.nearest);
  const placed = resolved({ node: found.node, piece: found.piece }, values);
  return problem.span !== undefined && isScalar(placed.node)
    ? partOf(placed.node as Scalar.Parsed, placed, problem.span, source)
    : firstOf(placed);
}

export function placeOfKey(path: Path, root: PlacedNode, values: YamlValues): Stretch {
  const { key, piece, nearest } = nodeAt(path, root, values);
  return key === null ? firstOf(nearest) : stretchOf(key, piece);
}

export function placeOfValue(path: Path, root: PlacedNode, values: YamlValues): Stretch {
  const { node, piece, nearest } = nodeAt(path, root, values);
  return firstOf(node === null ? nearest : { node, piece });
}

interface Found {
  readonly key: ParsedNode | null;
  readonly node: ParsedNode | null;
  readonly piece: PlacedNode["piece"];
  /** What should have contained it, or does. */
  readonly nearest: PlacedNode;
}

/** Follows a path as far as it leads; key and node are null when it leads into the void. */
function nodeAt(path: Path, root: PlacedNode, values: YamlValues): Found {
  let found: Found = { key: null, node: root.node, piece: root.piece, nearest: root };
  for (const step of path) {
    if (found.node === null) return { ...found, key: null };
    const nearest: PlacedNode = { node: found.node, piece: found.piece };
    const inner = memberOf(nearest, step, values);
    if (inner === null) return { key: null, node: null, piece: nearest.piece, nearest };
    found = { ...inner, nearest };
  }
  return found;
}

/** The text of a plain value as it is written: what a hint about quotes should show. */
export function writtenValue(path: Path, root: PlacedNode, values: YamlValues): string | null {
  const { node } = nodeAt(path, root, values);
  return isScalar(node) && node.type === "PLAIN" ? (node.source ?? null) : null;
}

interface Member {
  readonly key: ParsedNode | null;
  readonly node: ParsedNode | null;
  readonly piece: PlacedNode["piece"];
}

function memberOf(container: PlacedNode, key: string | number, values: YamlValues): Member | null {
  const { node, piece } = resolved(container, values);
  if (isSeq(node)) {
    const item = node.items[Number(key)] as ParsedNode | undefined;
    return item === undefined ? null : { key: null, node: item, piece };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find((candidate) => isScalar(candidate.key) && candidate.key.value === String(key));
  return pair === undefined ? null : { key: pair.key as ParsedNode, node: pair.value as ParsedNode | null, piece };
}

function resolved(placed: PlacedNode, values: YamlValues): PlacedNode {
  return isAlias(placed.node) ? (values.targetOf(placed.node) ?? placed) : placed;
}

/** Of a mapping or list its beginning: nobody wants half a file underlined. */
function firstOf({ node, piece }: PlacedNode): Stretch {
  const whole = stretchOf(node, piece);
  return isMap(node) || isSeq(node) ? { start: whole.start, end: whole.start + 1 } : whole;
}

/** From a span of a scalar's value to the characters that stand for it; the scalar's beginning when it is folded. */
function partOf(scalar: Scalar.Parsed, placed: PlacedNode, span: TextSpan, source: string): Stretch {
  const whole = stretchOf(placed.node, placed.piece);
  const written = source.slice(whole.start, whole.end);
  if (written.includes("\n")) return { start: whole.start, end: whole.start + 1 };
  if (scalar.type === "QUOTE_SINGLE") return writtenPart(written, whole.start, "single", span);
  if (scalar.type === "QUOTE_DOUBLE") return writtenPart(written, whole.start, "double", span);
  return written === scalar.value ? writtenPart(written, whole.start, "plain", span) : whole;
}
