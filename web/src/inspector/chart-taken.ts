/** Which transitions of a chart led from one snapshot to the next: pure. A frame does not say it; the chart does. */
import type { ChartLayout, StateId } from "./chart-layout.js";

/** What was taken: lines with the labels that count, and rows. */
export interface Taken {
  /** By the index of the line. */
  readonly lines: ReadonlyMap<number, readonly string[]>;
  readonly marks: ReadonlySet<number>;
}

export const NOTHING_TAKEN: Taken = { lines: new Map(), marks: new Set() };

interface Step {
  readonly from: StateId;
  readonly to: StateId;
  readonly label: string;
  /** Of the line or mark that shows it. */
  readonly line: number | null;
  readonly mark: number | null;
}

/** How many transitions without events may follow one another. */
const MOST_ALWAYS = 4;

/** What is known of a step. */
export interface Seen {
  readonly was: ReadonlySet<StateId>;
  readonly is: ReadonlySet<StateId>;
  readonly event: string;
  /** Whether the actor knows something else now: by that a row with a guard that leads nowhere was taken, or was not. */
  readonly hasChanged: boolean;
}

/**
 * Which transitions led from `was` to `is` when the event came: of each region the innermost that fits, with what followed of
 * itself. A frame does not say it; the chart does.
 */
export function takenOf(layout: ChartLayout, seen: Seen): Taken {
  const { was, is, event } = seen;
  const steps = stepsOf(layout);
  const taken: Step[] = [];
  const mine = steps.filter(({ from, label }) => was.has(from) && (label === "" || eventOf(label) === event));
  for (const first of byDepth(mine)) {
    if (taken.some(({ from }) => isWithin(from, first.from) || isWithin(first.from, from))) continue;
    const chain = chainTo(layout, first, is, steps, MOST_ALWAYS);
    if (chain !== null) taken.push(...chain);
  }
  // A region may move because another one has changed what its guards look at.
  for (const step of steps.filter(({ from, to, label }) => eventOf(label) === "" && was.has(from) && is.has(to))) {
    if (!is.has(step.from) && !taken.some(({ from }) => from === step.from)) taken.push(step);
  }
  return shownBy(layout, [...taken, ...waysOf(layout, seen, taken)], seen);
}

function isSame(a: ReadonlySet<StateId>, b: ReadonlySet<StateId>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}

/**
 * A step of a job is several events to its machines, which have names of their own: then a shortest way that the chart allows
 * is what was taken, each region by itself.
 */
function waysOf(layout: ChartLayout, { was, is }: Seen, taken: readonly Step[]): readonly Step[] {
  const regions = layout.nodes.filter(([id]) => id === "" || isRegion(layout, id)).map(([id]) => id);
  const own = regions.length > 1 ? regions.filter((id) => id !== "") : regions;
  const steps = stepsOf(layout);
  const unexplained = own.filter((region) => !taken.some(({ from }) => isWithin(from, region)));
  return unexplained.flatMap((region) => {
    const within = steps.filter(({ from, to }) => isWithin(from, region) && isWithin(to, region));
    return wayWithin(layout, region, within, { was: activeIn(was, region), is: activeIn(is, region) });
  });
}

function isRegion({ nodes }: ChartLayout, id: StateId): boolean {
  return id !== "" && nodes.some(([parent, type]) => parent === parentOf(id) && type === "parallel");
}

/** Without the region itself, which is always active. */
function activeIn(active: ReadonlySet<StateId>, region: StateId): ReadonlySet<StateId> {
  return new Set([...active].filter((id) => id !== region && id !== "" && isWithin(id, region)));
}

/** How many events of a machine a step may have. */
const MOST_WAY = 5;

function wayWithin(
  layout: ChartLayout,
  region: StateId,
  steps: readonly Step[],
  { was, is }: Pick<Seen, "was" | "is">,
): readonly Step[] {
  let ways: readonly { readonly at: ReadonlySet<StateId>; readonly way: readonly Step[] }[] = [{ at: was, way: [] }];
  const seen = new Set<string>();
  for (let length = 0; length <= MOST_WAY; length += 1) {
    const found = ways.find(({ at }) => isSame(at, is));
    if (found !== undefined) return found.way;
    ways = ways.flatMap(({ at, way }) => {
      const next = byDepth(steps.filter(({ from }) => from === region || at.has(from)));
      return next.flatMap((step) => {
        const entered = activeIn(new Set(enteredBy(layout, step.to)), region);
        const key = [...entered].sort().join();
        if (seen.has(key)) return [];
        seen.add(key);
        return [{ at: entered, way: [...way, step] }];
      });
    });
  }
  return [];
}

function shownBy(layout: ChartLayout, taken: readonly Step[], { was, is, event, hasChanged }: Seen): Taken {
  const lines = new Map<number, string[]>();
  const marks = new Set<number>();
  for (const { line, mark, label } of taken) {
    if (line !== null) lines.set(line, [...(lines.get(line) ?? []), label]);
    if (mark !== null) marks.add(mark);
  }
  for (const [index, [box, , , labels, sources]] of layout.marks.entries()) {
    const id = layout.nodes[box]?.[0] ?? "";
    const label = labels.find((each) => eventOf(each) === event);
    const isTold = label !== undefined && (hasChanged || !label.includes("["));
    const isInner = sources === null && was.has(id) && is.has(id) && isTold;
    const isOuter = taken.some(({ from }) => isWithin(from, id));
    if (isInner && !isOuter) marks.add(index);
  }
  return { lines, marks };
}

/** The event that a label names; "": none is needed. */
export function eventOf(label: string): string {
  return label.startsWith("[") ? "" : (label.split(" ", 1)[0] ?? "");
}

function stepsOf({ nodes, edges, marks }: ChartLayout): readonly Step[] {
  const drawn = edges.flatMap(([from, to, labels], line) => {
    return (labels.length === 0 ? [""] : labels).map((label) => ({ from, to, label, line, mark: null }));
  });
  const written = marks.flatMap(([box, , , labels, sources], mark) => {
    const to = nodes[box]?.[0] ?? "";
    return (sources ?? []).flatMap((from) => labels.map((label) => ({ from, to, label, line: null, mark })));
  });
  return [...drawn, ...written];
}

/** Inner states are asked first, and of one state what needs a guard before what does not. */
function byDepth(steps: readonly Step[]): readonly Step[] {
  return [...steps].sort((a, b) => depthOf(b.from) - depthOf(a.from));
}

function depthOf(id: StateId): number {
  return id === "" ? 0 : id.split(".").length;
}

/** The step, and what followed of itself, if they end where the chart is now. */
function chainTo(
  layout: ChartLayout,
  step: Step,
  is: ReadonlySet<StateId>,
  steps: readonly Step[],
  most: number,
): readonly Step[] | null {
  const entered = enteredBy(layout, step.to);
  if (entered.every((id) => is.has(id))) return [step];
  if (most === 0) return null;
  for (const next of steps) {
    if (eventOf(next.label) !== "" || !entered.includes(next.from)) continue;
    const chain = chainTo(layout, next, is, steps, most - 1);
    if (chain !== null) return [step, ...chain];
  }
  return null;
}

/** The target and what is entered with it: around it, and by default below it. */
function enteredBy({ nodes }: ChartLayout, to: StateId): readonly StateId[] {
  const entered: StateId[] = [];
  for (let id = to; id !== ""; id = parentOf(id)) entered.push(id);
  const descend = (id: StateId): void => {
    const children = nodes.filter(([child]) => child !== "" && parentOf(child) === id);
    const isParallel = nodes.some(([box, type]) => box === id && type === "parallel");
    for (const [child, , isInitial] of children) {
      if (!isParallel && isInitial === 0) continue;
      entered.push(child);
      descend(child);
    }
  };
  descend(to);
  return entered;
}

export function parentOf(id: StateId): StateId {
  return id.split(".").slice(0, -1).join(".");
}

/** Whether it is that state or below it. */
function isWithin(id: StateId, outer: StateId): boolean {
  return outer === "" || id === outer || id.startsWith(`${outer}.`);
}
