/** Sizes such as `10MB`: decimal units by powers of 1000, binary ones (`MiB`) by powers of 1024. */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";

const UNITS: readonly (readonly [unit: string, bytes: number])[] = [
  ["GiB", 2 ** 30],
  ["GB", 1e9],
  ["MiB", 2 ** 20],
  ["MB", 1e6],
  ["KiB", 2 ** 10],
  ["kB", 1e3],
  ["B", 1],
];

const SIZE = /^(\d{1,16})([a-z]*)$/i;

export function parseSize(text: string): Result<number, Problem> {
  const [, digits, suffix] = SIZE.exec(text) ?? [];
  const unit = UNITS.find(([name]) => name.toLowerCase() === suffix?.toLowerCase());
  if (digits === undefined || unit === undefined) return err(notASize(text));
  const bytes = Number(digits) * unit[1];
  if (Number.isSafeInteger(bytes)) return ok(bytes);
  return err({ code: "field-range", message: "a size is at most 8192 TiB", path: [] });
}

/** The canonical text: the largest unit of which it is a whole number. */
export function formatSize(bytes: number): string {
  const fitting = UNITS.find(([, unit]) => bytes >= unit && bytes % unit === 0);
  return fitting === undefined ? `${bytes}B` : `${bytes / fitting[1]}${fitting[0]}`;
}

function notASize(text: string): Problem {
  const hint = "write it like 10MB, 512KiB or 1GB";
  return { code: "field-type", message: "not a size", path: [], span: { start: 0, end: text.length }, hint };
}
