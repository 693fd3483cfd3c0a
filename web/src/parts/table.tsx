/** Rows and columns. Where there is no room for columns, each row is a list of what it says, with the names of the columns. */
import type { ComponentChildren } from "preact";

/** `looks`: classes of its cells. What stands for itself needs no name beside it: see the style. */
export type Column = readonly [name: string, looks?: string];

interface TableProps {
  readonly columns: readonly Column[];
  /** What is in the columns can be seen; their names are for those who cannot. */
  readonly isPlain?: boolean;
  readonly children: ComponentChildren;
}

// What is laid out otherwise than as a table is one for nobody who does not see it, unless it says so.
const ROLES = { table: "table", rows: "rowgroup", row: "row", head: "columnheader", cell: "cell" } as const;

export function Table({ columns, isPlain = false, children }: TableProps) {
  return (
    <table role={ROLES.table}>
      <thead role={ROLES.rows} class={isPlain ? "hidden" : undefined}>
        <tr role={ROLES.row}>
          {columns.map(([name, looks]) => (
            <th key={name} role={ROLES.head} scope="col" class={looks}>
              {looks === "deeds" || looks === "mark-cell" ? <span class="hidden">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role={ROLES.rows}>{children}</tbody>
    </table>
  );
}

interface LineProps {
  readonly columns: readonly Column[];
  /** In their order; what is null is not there. */
  readonly cells: readonly ComponentChildren[];
  readonly looks?: string | undefined;
}

export function Line({ columns, cells, looks }: LineProps) {
  return (
    <tr role={ROLES.row} class={looks}>
      {columns.map(([name, kind], at) => (
        <td key={name} role={ROLES.cell} class={kind} data-name={name}>
          {cells[at]}
        </td>
      ))}
    </tr>
  );
}

/** As wide as all columns. */
export function WideLine({ columns, looks, children }: Omit<LineProps, "cells"> & Pick<TableProps, "children">) {
  return (
    <tr role={ROLES.row} class={looks}>
      <td role={ROLES.cell} class="wide" colSpan={columns.length}>
        {children}
      </td>
    </tr>
  );
}
