/** Rows of comparisons as markdown tables. */
import { exponentText } from "../growth/slope.mjs";
import { betterBy, number, timesBetter } from "./report.mjs";

const RULE = "|---";

function line(cells) {
  return `| ${cells.join(" | ")} |`;
}

function tableOf(head, lines) {
  return [line(head), `${RULE.repeat(head.length)}|`, ...lines].join("\n");
}

function spreadOf({ spread }) {
  return spread === null ? "" : ` ± ${(spread * 100).toFixed(0)} %`;
}

/** One line for each comparison. */
export function flatTable(rows) {
  const lines = rows.map((row) => {
    const theirs = row.peer_value === null ? "-" : `${number(row.peer_value)} ${row.unit}`;
    return line([row.name, `${number(row.value)} ${row.unit}${spreadOf(row)}`, row.peer ?? "-", theirs, betterBy(row)]);
  });
  return tableOf(["what", "Kron", "peer", "its value", "Kron is better by"], lines);
}

/** One line for each curve: its ends, and how steep it is in between. */
export function growthTable(rows) {
  const curves = new Map();
  for (const row of rows) curves.set(row.curve, [...(curves.get(row.curve) ?? []), row]);
  const lines = [...curves.values()].map((points) => {
    const ends = [points[0], points.at(-1)].flatMap((row) => [
      row.name.slice(row.name.indexOf(row.size.toLocaleString("en"))),
      `${number(row.value)} ${row.unit}${spreadOf(row)}`,
    ]);
    const [{ name, size, slope, grows }] = points;
    const what = name.slice(0, name.indexOf(`, ${size.toLocaleString("en")}`));
    return line([what, ...ends, exponentText(slope), grows === "log" ? "like log n" : "not at all"]);
  });
  return tableOf(["one event", "at", "costs", "at", "costs", "exponent", "may grow"], lines);
}

class Pivot {
  #columns = new Map();
  #subjects = new Map();

  put(subject, column, unit, cell) {
    this.#columns.set(column, unit);
    const cells = this.#subjects.get(subject) ?? new Map();
    cells.set(column, cell);
    this.#subjects.set(subject, cells);
  }

  render(title) {
    const columns = [...this.#columns];
    const head = [title, ...columns.map(([column, unit]) => (column === "" ? unit : `${column}, ${unit}`))];
    const lines = [...this.#subjects].map(([subject, cells]) =>
      line([subject, ...columns.map(([column]) => cells.get(column) ?? "-")]),
    );
    return tableOf(head, lines);
  }
}

/** Peers that only point at one of the others have no line of their own. */
function isPointer(peer) {
  return peer === null || peer.startsWith("the best: ");
}

/** One line for Kron and for each peer, whose cells say in parentheses how many times better Kron is. */
export function pivotTables(rows, layout) {
  const tables = new Map();
  // Kron first: its lines are made before those of any peer.
  for (const row of rows) {
    const { table, column, subject } = layout(row);
    const pivot = tables.get(table) ?? new Pivot();
    tables.set(table, pivot);
    pivot.put(subject, column, row.unit, `${number(row.value)}${spreadOf(row)}`);
  }
  for (const row of rows.filter(({ peer }) => !isPointer(peer))) {
    const { table, column } = layout(row);
    const times = timesBetter(row);
    const cell =
      row.peer_value === null ? "-" : `${number(row.peer_value)}${times === null ? "" : ` (${number(times)} ×)`}`;
    tables.get(table).put(row.peer, column, row.unit, cell);
  }
  return [...tables].map(([table, pivot]) => pivot.render(table));
}
