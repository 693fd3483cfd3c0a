/** Where a value of a line comes from, and the way back from a part of the value to the characters of the line. */

import type { TextSpan } from "../../base/problem.js";
import type { Word } from "../../base/words.js";
import { parameterForms } from "../../decision/distributions.js";
import type { Stretch } from "../located.js";
import { writtenPart } from "../written-text.js";
import type { LinePart } from "./text.js";

export interface Origin {
  readonly part: LinePart;
  /** Set when the value is one word of the part. */
  readonly word?: Word;
  /** Set when the elements of the value are words of the part. */
  readonly words?: readonly Word[];
  /** Where the name stands, for problems of the name. */
  readonly name?: Stretch;
}

export function originKey(path: readonly (string | number)[]): string {
  return path.length === 1 ? String(path[0]) : path.join("\n");
}

/** The origin of the value at a path; null when the line does not say anything there. */
export function originAt(path: readonly (string | number)[], origins: ReadonlyMap<string, Origin>): Origin | null {
  const known = origins.get(originKey(path));
  if (known !== undefined) return known;
  const list = origins.get(originKey(path.slice(0, -1)));
  const word = list?.words?.[Number(path.at(-1))];
  return list === undefined || word === undefined ? null : { part: list.part, word };
}

/** The whole value, or the part of it that `span` names; of a word with quotes inside always the whole. */
export function originStretch({ part, word }: Origin, span: TextSpan | undefined, line: string): Stretch {
  const inner = word === undefined ? span : spanInWord(word, span);
  if (inner === undefined) return { start: part.start, end: Math.max(part.end, part.start + 1) };
  return writtenPart(line.slice(part.start, part.end), part.start, part.style, inner);
}

function spanInWord(word: Word, span: TextSpan | undefined): TextSpan {
  const isBare = word.end - word.start === word.text.length;
  if (span === undefined || !isBare) return { start: word.start, end: word.end };
  return { start: word.start + span.start, end: word.start + span.end };
}

/** Values that are not texts in a definition. What does not look like one stays a text, and is refused as such. */
const BOOLEANS = new Set(["policy\nsuspend", "shell"]);
const NUMBERS = new Set([
  "policy\nmax_active",
  "retry\nlimit",
  "stop\nafter_failures",
  "stop\nafter_runs",
  ...parameterForms().flatMap(([, forms]) =>
    Object.keys(forms)
      .filter((key) => forms[key]?.form === "number")
      .map((key) => `distribution\n${key}`),
  ),
]);
const NUMBER_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

export function typedText(path: readonly string[], text: string): string | number | boolean {
  const key = originKey(path);
  if (BOOLEANS.has(key) && (text === "true" || text === "false")) return text === "true";
  return NUMBERS.has(key) && NUMBER_TEXT.test(text) ? Number(text) : text;
}
