/** Rows that come in pages, in the form that was asked for: nothing waits for the last one. */
import { outputForm, type ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";
import type { Paint } from "./style.js";

export async function printPages<T>(
  pages: AsyncIterable<readonly T[]>,
  table: TextTable<T>,
  args: ParsedArgs,
  io: CliIo,
): Promise<void> {
  const form = outputForm(args);
  if (form === "jsonl") {
    for await (const rows of pages) await io.out(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  } else if (form === "json") {
    await printArray(pages, io);
  } else {
    for await (const rows of pages) await io.out(table.text(rows));
    await io.out(table.end());
  }
}

/** What JSON.stringify would make of the whole list. */
async function printArray(pages: AsyncIterable<readonly unknown[]>, io: CliIo): Promise<void> {
  let isFirst = true;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    const inner = JSON.stringify(rows, null, 2).slice(1, -2);
    await io.out(`${isFirst ? "[" : ","}${inner}`);
    isFirst = false;
  }
  await io.out(isFirst ? "[]\n" : "\n]\n");
}

/** Columns two blanks apart; they grow with what comes, but nothing that is printed moves. */
export class TextTable<T> {
  private readonly widths: number[];
  private hasHeader = false;

  constructor(
    private readonly header: readonly string[],
    private readonly cellsOf: (row: T) => readonly string[],
    private readonly paint: Paint,
  ) {
    this.widths = header.map(({ length }) => length);
  }

  text(rows: readonly T[]): string {
    const cells = rows.map(this.cellsOf);
    for (const row of cells) {
      for (const [column, cell] of row.entries()) {
        this.widths[column] = Math.max(this.widths[column] ?? 0, cell.length);
      }
    }
    const lines = cells.map((row) => this.line(row));
    return rows.length === 0 ? "" : `${[...this.heading(), ...lines].join("\n")}\n`;
  }

  /** A table without rows still has a header. */
  end(): string {
    return this.heading()
      .map((line) => `${line}\n`)
      .join("");
  }

  private heading(): readonly string[] {
    if (this.hasHeader) return [];
    this.hasHeader = true;
    return [this.paint.dim(this.line(this.header))];
  }

  private line(cells: readonly string[]): string {
    return cells
      .map((cell, column) => cell.padEnd(this.widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  }
}
