/** What is said of each line that was to be taken over. */
import { formatPlace, printable } from "../../core/config/format-problem.js";
import type { Paint } from "../style.js";

interface JudgedLine {
  readonly line: number;
  readonly verdict: "same" | "noted" | "unsupported";
  readonly notes: readonly string[];
}

/** `what`: what the line says, where its place does not tell enough. */
export function verdictLine(
  file: string,
  { line, verdict, notes }: JudgedLine,
  paint: Paint,
  what: string | null = null,
): string {
  const place = paint.bold(printable(formatPlace({ file, line, column: 1 })));
  const said = {
    same: paint.green("same"),
    noted: paint.cyan("same, but"),
    unsupported: paint.yellow("not supported"),
  };
  const parts = [place, ...(what === null ? [] : [printable(what)]), said[verdict], ...notes.map(printable)];
  return `${parts.join(": ")}\n`;
}

export function verdictCounts(readings: readonly { readonly lines: readonly JudgedLine[] }[]): string {
  const lines = readings.flatMap((reading) => reading.lines);
  const count = (wanted: JudgedLine["verdict"]): number => lines.filter(({ verdict }) => verdict === wanted).length;
  return `lines: ${count("same")} same, ${count("noted")} with a note, ${count("unsupported")} not supported`;
}
