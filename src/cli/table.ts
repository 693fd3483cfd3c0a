/**
 * A table that comes in pages. Where it goes to a terminal it fits its width: what matters least is shortened first, and no
 * row is ever wrapped. Elsewhere nothing is shortened; columns grow with what comes, but nothing that is printed moves.
 */
import { plainText } from "../core/base/plain-text.js";
import type { ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";
import { type Paint, paintFor } from "./style.js";

/** What stands in a place of the table. */
export interface Cell {
  readonly text: string;
  /** What says the same in less room. */
  readonly short?: string;
  readonly colour?: keyof Paint;
}

export interface Column<T> {
  readonly title: string;
  /** Over the short forms. */
  readonly shortTitle?: string;
  readonly cell: (row: T) => string | Cell;
  /** The least important is shortened first: the smallest number. */
  readonly rank: number;
  /** The fewest characters that still say something. */
  readonly least: number;
  /** Of what is wider than this, the row is widened and not the column. */
  readonly cap?: number;
  /** Numbers stand under each other by their last digit. */
  readonly align?: "right";
}

/** Where something is shown. `width` null: it is no terminal. */
export interface Screen {
  readonly paint: Paint;
  readonly width: number | null;
}

interface Layout {
  readonly width: number;
  readonly isShort: boolean;
  readonly isShown: boolean;
}

const GAP = "  ";
const ELLIPSIS = "…";

/** A cell of which nothing may be cut: better is no column than half a number. */
export const WHOLE = Number.POSITIVE_INFINITY;

export function screenOf(args: ParsedArgs, io: CliIo): Screen {
  return { paint: paintFor(args, io), width: io.outColumns ?? null };
}

/** A table that comes in one piece. */
export function tableText<T>(columns: readonly Column<T>[], rows: readonly T[], { paint, width }: Screen): string {
  const table = new FittedTable(columns, width, paint);
  return `${table.text(rows)}${table.end()}`;
}

/** On a narrow terminal the year is the one that everybody knows. */
export function withoutYear(instant: string): Cell {
  return /^\d{4}-\d\d-\d\dT/.test(instant) ? { text: instant, short: instant.slice(5) } : { text: instant };
}

export class FittedTable<T> {
  readonly #columns: readonly Column<T>[];
  /** Of the terminal; null: there is none. */
  readonly #width: number | null;
  readonly #paint: Paint;
  #layouts: Layout[];
  #hasHeader = false;

  constructor(columns: readonly Column<T>[], width: number | null, paint: Paint) {
    this.#columns = columns;
    this.#width = width;
    this.#paint = paint;
    this.#layouts = columns.map(({ title }) => ({ width: title.length, isShort: false, isShown: true }));
  }

  text(rows: readonly T[]): string {
    if (rows.length === 0) return "";
    const cells = rows.map((row) => this.#columns.map(({ cell }) => cellOf(cell(row))));
    // On a terminal the first page decides for all that follow.
    if (this.#width === null) this.#layouts = this.#grown(cells);
    else if (!this.#hasHeader) this.#layouts = this.#fitted(cells, this.#width);
    const lines = cells.map((row) => this.#line(row));
    return `${[...this.#heading(), ...lines].join("\n")}\n`;
  }

  /** A table without rows still has a header. */
  end(): string {
    return this.#heading()
      .map((line) => `${line}\n`)
      .join("");
  }

  #heading(): readonly string[] {
    if (this.#hasHeader) return [];
    this.#hasHeader = true;
    const titles = this.#columns.map(({ title, shortTitle }) => ({ text: title, short: shortTitle ?? title }));
    return [this.#paint.dim(this.#line(titles))];
  }

  #grown(cells: readonly (readonly Cell[])[]): Layout[] {
    return this.#layouts.map((layout, index) => {
      const cap = this.#columns[index]?.cap ?? Number.POSITIVE_INFINITY;
      const widths = cells.map((row) => row[index]?.text.length ?? 0).filter((width) => width <= cap);
      return { ...layout, width: widths.reduce((most, width) => Math.max(most, width), layout.width) };
    });
  }

  #fitted(cells: readonly (readonly Cell[])[], width: number): Layout[] {
    const layouts = this.#columns.map((_, index) => this.#natural(cells, index, false));
    const byRank = [...this.#columns.keys()].sort((one, other) => this.#rank(one) - this.#rank(other));
    for (const index of byRank) {
      if (total(layouts) > width) layouts[index] = this.#natural(cells, index, true);
    }
    for (const index of byRank) {
      const layout = layouts[index];
      const least = this.#columns[index]?.least ?? 0;
      const excess = total(layouts) - width;
      if (layout === undefined || excess <= 0) continue;
      layouts[index] = { ...layout, width: Math.min(layout.width, Math.max(least, layout.width - excess)) };
    }
    for (const index of byRank.slice(0, -1)) {
      const layout = layouts[index];
      if (layout !== undefined && total(layouts) > width) layouts[index] = { ...layout, isShown: false };
    }
    return layouts.map((layout) => ({ ...layout, width: Math.min(layout.width, width) }));
  }

  #natural(cells: readonly (readonly Cell[])[], index: number, isShort: boolean): Layout {
    const { title = "", shortTitle = title } = this.#columns[index] ?? {};
    const head = isShort ? shortTitle : title;
    const widths = cells.map((row) => textOf(row[index], isShort).length);
    return { width: widths.reduce((most, width) => Math.max(most, width), head.length), isShort, isShown: true };
  }

  #rank(index: number): number {
    return this.#columns[index]?.rank ?? 0;
  }

  #line(cells: readonly Cell[]): string {
    const shown = [...this.#layouts.entries()].filter(([, { isShown }]) => isShown);
    const places = shown.map(([index, { width, isShort }]) => {
      const whole = textOf(cells[index], isShort);
      const text = this.#width === null ? whole : cut(whole, width);
      const colour = cells[index]?.colour;
      const blanks = " ".repeat(Math.max(0, width - text.length));
      const isRight = this.#columns[index]?.align === "right";
      return { text: colour === undefined ? text : this.#paint[colour](text), blanks, isRight };
    });
    const filled = places.findLastIndex(({ text }) => text !== "");
    const line = places.slice(0, filled + 1).map(({ text, blanks, isRight }, at) => {
      if (isRight) return blanks + text;
      return at === filled ? text : text + blanks;
    });
    return line.join(GAP);
  }
}

/** What is in it, anybody may have written. */
function cellOf(cell: string | Cell): Cell {
  if (typeof cell === "string") return { text: plainText(cell) };
  const { text, short } = cell;
  return { ...cell, text: plainText(text), ...(short === undefined ? {} : { short: plainText(short) }) };
}

function textOf(cell: Cell | undefined, isShort: boolean): string {
  return (isShort ? cell?.short : undefined) ?? cell?.text ?? "";
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}${ELLIPSIS}`;
}

function total(layouts: readonly Layout[]): number {
  const shown = layouts.filter(({ isShown }) => isShown);
  return shown.reduce((sum, { width }) => sum + width, 0) + GAP.length * Math.max(0, shown.length - 1);
}
