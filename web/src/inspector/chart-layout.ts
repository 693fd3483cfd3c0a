/** A chart as it was laid out when Kron was built, and what of it is lit: pure. */

/** Its path; the chart itself is "". */
export type StateId = string;

export type StateBox = readonly [
  id: StateId,
  type: string,
  isInitial: number,
  x: number,
  y: number,
  width: number,
  height: number,
  rows: readonly string[],
];

/** All transitions from one state to another are one line. */
export type Line = readonly [
  from: StateId,
  to: StateId,
  labels: readonly string[],
  points: readonly number[],
  labelAt: readonly number[] | null,
];

/** Rows of text in a state's box that stand for transitions; without sources: for some that lead nowhere else. */
export type Mark = readonly [
  box: number,
  firstRow: number,
  rowCount: number,
  labels: readonly string[],
  sources: readonly StateId[] | null,
];

export interface ChartLayout {
  readonly id: string;
  /** Of the definition that it was made from. */
  readonly hash: string;
  readonly size: readonly number[];
  readonly nodes: readonly StateBox[];
  readonly edges: readonly Line[];
  readonly marks: readonly Mark[];
}

/** As it is kept: see `scripts/charts/text.mjs`. */
export interface KeptLayout extends Pick<ChartLayout, "id" | "hash" | "size" | "nodes"> {
  /** States by their places, and of each corner what changes there. */
  readonly edges: readonly (readonly [number, number, Line[2], readonly number[], Line[4]])[];
  readonly marks: readonly (readonly [number, number, number, Mark[3], readonly number[] | null])[];
}

export function unpacked(kept: KeptLayout): ChartLayout {
  const named = (place: number): StateId => kept.nodes[place]?.[0] ?? "";
  return {
    ...kept,
    edges: kept.edges.map(([from, to, labels, corners, at]) => [named(from), named(to), labels, pointsOf(corners), at]),
    marks: kept.marks.map(([box, first, count, labels, from]) => [box, first, count, labels, from?.map(named) ?? null]),
  };
}

/** Down, across, down, and so on. */
function pointsOf([x = 0, y = 0, ...corners]: readonly number[]): readonly number[] {
  const points = [x, y];
  for (const [turn, value] of corners.entries()) {
    const [lastX = 0, lastY = 0] = points.slice(-2);
    points.push(...(turn % 2 === 0 ? [lastX, value] : [value, lastY]));
  }
  return points;
}

/** Of a definition's text. Enough to notice another version; no secret depends on it. */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** `running`, `{ running: "confirmed" }` or regions side by side: every state that is active, the chart itself too. */
export function pathsOf(value: unknown): ReadonlySet<StateId> {
  const found = new Set<StateId>([""]);
  const visit = (inner: unknown, before: string): void => {
    if (typeof inner === "string") found.add(before + inner);
    if (typeof inner !== "object" || inner === null) return;
    for (const [key, below] of Object.entries(inner)) {
      found.add(before + key);
      visit(below, `${before}${key}.`);
    }
  };
  visit(value, "");
  return found;
}

const ROUND = 6;

/** A line with round corners, as SVG writes it. */
export function pathData(points: readonly number[]): string {
  const at = (index: number): number => points[index] ?? 0;
  let data = `M${at(0)} ${at(1)}`;
  for (let i = 2; i < points.length - 2; i += 2) {
    const [x, y] = [at(i), at(i + 1)];
    const [fromX, fromY] = towards(x, y, at(i - 2), at(i - 1));
    const [toX, toY] = towards(x, y, at(i + 2), at(i + 3));
    data += `L${fromX} ${fromY}Q${x} ${y} ${toX} ${toY}`;
  }
  return `${data}L${at(points.length - 2)} ${at(points.length - 1)}`;
}

/** A point near the corner, on the way to another. */
function towards(x: number, y: number, toX: number, toY: number): readonly [number, number] {
  const length = Math.hypot(toX - x, toY - y);
  if (length === 0) return [x, y];
  const share = Math.min(ROUND, length / 2) / length;
  return [Math.round((x + (toX - x) * share) * 10) / 10, Math.round((y + (toY - y) * share) * 10) / 10];
}
