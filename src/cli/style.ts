import { plainText } from "../core/base/plain-text.js";
import type { ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";

/** Colours for people; the identity function for everything that is not a terminal. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

function code(open: number, close: number): (text: string) => string {
  return (text) => `\u001b[${open}m${text}\u001b[${close}m`;
}

const COLOURS: Paint = {
  bold: code(1, 22),
  dim: code(2, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
  cyan: code(36, 39),
};

const same = (text: string): string => text;
const PLAIN: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export function hasColour(args: ParsedArgs, io: CliIo, isTerminal: boolean): boolean {
  return isTerminal && !args.has("no-color") && !io.env["NO_COLOR"] && io.env["TERM"] !== "dumb";
}

export function paintFor(args: ParsedArgs, io: CliIo): Paint {
  return hasColour(args, io, io.isOutTerminal) ? COLOURS : PLAIN;
}

export type Align = "left" | "right";

/** Columns as wide as their widest cell, two blanks apart, no trailing blanks. What is in them, anybody may have written. */
export function renderTable(
  header: readonly string[],
  cells: readonly (readonly string[])[],
  align: readonly Align[],
  paint: Paint,
): string {
  const rows = cells.map((row) => row.map(plainText));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        align[column] === "right" ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return `${[paint.dim(line(header)), ...rows.map(line)].join("\n")}\n`;
}

/** `name  value` lines with the values in one column. */
export function renderPairs(pairs: readonly (readonly [name: string, value: string])[], paint: Paint): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return `${pairs.map(([name, value]) => `${paint.dim(name.padEnd(width))}  ${value}`.trimEnd()).join("\n")}\n`;
}
