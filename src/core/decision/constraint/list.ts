/** The kinds that are lists of small numbers, with names or without: `hours=9-17,20`, `dow=MON-FRI`. */
import type { Problem } from "../../base/problem.js";
import { type ConstraintKind, type IntRange, listOf, QUARTER_MS, rangeOf } from "./kind.js";
import { type Piece, problem, quote, splitOnce } from "./pieces.js";

interface ListRule {
  readonly word: string;
  /** Smallest and largest number that may be written. */
  readonly min: number;
  readonly max: number;
  /** Names by value, beginning with the value `min`; empty when the kind has none. */
  readonly names: readonly string[];
  readonly judged: ConstraintKind["judged"];
  /** How a range of written numbers is kept. */
  readonly rangeOf?: (from: number, to: number) => IntRange;
  readonly format?: (value: number) => string;
}

export function listKind(rule: ListRule): ConstraintKind {
  const { word, judged, format = String } = rule;
  return {
    words: [word],
    read: listOf((_, element, problems) => readElement(rule, element, problems)),
    format: ({ ranges }) => `${word}=${ranges.map((range) => formatRange(range, format)).join(",")}`,
    judged,
    grainMs: QUARTER_MS,
  };
}

function readElement(rule: ListRule, element: Piece, problems: Problem[]): IntRange | null {
  const [first, second] = splitOnce(element, "-");
  const from = readValue(rule, first, problems);
  const to = second === undefined ? from : readValue(rule, second, problems);
  return from === null || to === null ? null : (rule.rangeOf ?? rangeOf)(from, to);
}

function readValue({ word, min, max, names }: ListRule, piece: Piece, problems: Problem[]): number | null {
  const named = names.indexOf(piece.text.toUpperCase());
  if (named >= 0) {
    return named + min;
  }
  const hint = names.length === 0 ? `write ${min}-${max}` : `write ${min}-${max} or ${names.join(", ")}`;
  if (!/^\d+$/.test(piece.text)) {
    problems.push(problem("constraint-syntax", piece, `${quote(piece.text)} is not a value of ${word}`, hint));
    return null;
  }
  const value = Number(piece.text);
  if (value < min || value > max) {
    problems.push(problem("constraint-range", piece, `${quote(piece.text)} is out of range for ${word}`, hint));
    return null;
  }
  return value;
}

function formatRange({ from, to }: IntRange, format: (value: number) => string): string {
  return from === to ? format(from) : `${format(from)}-${format(to)}`;
}
