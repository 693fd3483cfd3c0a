/** From a place in a value to the place in the file where it is written: quotes and escapes lie in between. */
import type { TextSpan } from "../base/problem.js";
import type { Stretch } from "./located.js";

/** `plain`: as it is. `single`: between single quotes, doubled inside. `double`: between double quotes, with escapes. */
export type WrittenStyle = "plain" | "single" | "double";

/** The part of a one-line text, written at offset `at`, that stands for `span` of its value. */
export function writtenPart(written: string, at: number, style: WrittenStyle, span: TextSpan): Stretch {
  if (style === "plain") return { start: at + span.start, end: at + Math.max(span.end, span.start + 1) };
  const offsets = offsetsOf(written, style);
  const last = offsets.at(-1) ?? 0;
  const start = offsets[span.start] ?? last;
  return { start: at + start, end: at + Math.max(offsets[span.end] ?? last, start + 1) };
}

/** For each unit of the value where it is written, and last where the closing quote stands. */
function offsetsOf(written: string, style: "single" | "double"): readonly number[] {
  const offsets: number[] = [];
  const end = written.length - 1;
  let at = 1;
  while (at < end) {
    const [chars, units] = style === "single" ? singleUnit(written, at) : doubleUnit(written, at);
    for (let i = 0; i < units; i++) offsets.push(at);
    at += chars;
  }
  offsets.push(at);
  return offsets;
}

type Unit = readonly [chars: number, units: number];

const ONE: Unit = [1, 1];
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

function singleUnit(written: string, at: number): Unit {
  return written[at] === "'" ? [2, 1] : ONE;
}

function doubleUnit(written: string, at: number): Unit {
  if (written[at] !== "\\") return ONE;
  const digits = HEX_DIGITS.get(written[at + 1] ?? "");
  if (digits === undefined) return [2, 1];
  const code = Number.parseInt(written.slice(at + 2, at + 2 + digits), 16);
  return [2 + digits, code > 0xffff ? 2 : 1];
}
