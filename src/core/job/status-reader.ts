/** Which statuses of an answer count as success: `2xx`, `304`, `200-204`, one of them or a list. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { StatusRange } from "./definition.js";
import { quote } from "./issues.js";

/** 2xx, and nothing else. */
export const USUAL_SUCCESS: readonly StatusRange[] = Object.freeze([Object.freeze({ from: 200, to: 299 })]);

const LEAST = 200;
const MOST = 599;
const CLASS = /^([2-5])xx$/i;
const CODES = /^(\d{3})(?:-(\d{3}))?$/;

export function readStatuses(
  written: string | number | readonly (string | number)[] | undefined,
  problems: Problem[],
): readonly StatusRange[] {
  if (written === undefined) return USUAL_SUCCESS;
  const isList = Array.isArray(written);
  const texts = (isList ? written : [written]) as readonly (string | number)[];
  if (texts.length === 0 || texts.length > LIMITS.statusRanges) {
    const message = `between 1 and ${LIMITS.statusRanges} statuses or ranges`;
    problems.push(problemAt({ code: "field-range", message, path: [] }, "http", "success"));
    return USUAL_SUCCESS;
  }
  const read = texts.map((text, index) => {
    const range = rangeOf(String(text));
    if (range === null) {
      const path = ["http", "success", ...(isList ? [index] : [])];
      const hint = "write it like 2xx, 304 or 200-204";
      problems.push({ code: "field-range", message: `${quote(String(text))} is no status`, path, hint });
    }
    return range;
  });
  return Object.freeze(read.filter((range) => range !== null));
}

export function formatStatuses({ from, to }: StatusRange): string {
  if (from % 100 === 0 && to === from + 99) return `${from / 100}xx`;
  return from === to ? String(from) : `${from}-${to}`;
}

export function isInStatuses(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => from <= status && status <= to);
}

function rangeOf(text: string): StatusRange | null {
  const [, hundreds] = CLASS.exec(text) ?? [];
  if (hundreds !== undefined) return Object.freeze({ from: Number(hundreds) * 100, to: Number(hundreds) * 100 + 99 });
  const [, first, last = first] = CODES.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return LEAST <= from && from <= to && to <= MOST ? Object.freeze({ from, to }) : null;
}
