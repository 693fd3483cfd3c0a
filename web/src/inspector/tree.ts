/** The actors as rows of a tree: pure. */
import type { Actor, World } from "./world.js";

export interface TreeRow {
  readonly actor: Actor;
  readonly depth: number;
}

export interface Tree {
  readonly rows: readonly TreeRow[];
  /** Actors that are there and have no row. */
  readonly leftOut: number;
}

export const TREE_LIMITS = {
  rows: 500,
} as const;

export interface TreeWish {
  /** Part of a name; "": every name. */
  readonly text: string;
  /** Kinds that are not shown. */
  readonly hidden: ReadonlySet<string>;
  readonly hidesResting: boolean;
  /** What an actor is called where it is shown. */
  called(sessionId: string): string;
}

/** Names stay where they are: nothing moves because something happened. */
export function treeOf({ actors }: World, wish: TreeWish): Tree {
  const children = new Map<string | null, Actor[]>();
  for (const actor of actors.values()) {
    const parent = actor.parentId !== null && actors.has(actor.parentId) ? actor.parentId : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [actor]);
    else siblings.push(actor);
  }
  const rows: TreeRow[] = [];
  let leftOut = 0;
  const isCalled = ({ sessionId }: Actor): boolean =>
    wish.text === "" || sessionId.includes(wish.text) || wish.called(sessionId).includes(wish.text);
  const visit = (parent: string | null, depth: number, isWithin: boolean): void => {
    for (const actor of (children.get(parent) ?? []).sort(byPlace)) {
      const isFound = isWithin || isCalled(actor);
      const isShown = !wish.hidden.has(actor.kind) && (isFound || hasFound(actor, children, isCalled));
      if (isShown && !(wish.hidesResting && isResting(actor))) {
        if (rows.length < TREE_LIMITS.rows) rows.push({ actor, depth });
        else leftOut += 1;
      }
      visit(actor.sessionId, isShown ? depth + 1 : depth, isFound && wish.text !== "" && actor.parentId !== null);
    }
  };
  visit(null, 0, false);
  return { rows, leftOut };
}

function hasFound(
  actor: Actor,
  children: ReadonlyMap<string | null, readonly Actor[]>,
  isCalled: (actor: Actor) => boolean,
): boolean {
  const below = children.get(actor.sessionId) ?? [];
  return below.some((child) => isCalled(child) || hasFound(child, children, isCalled));
}

/** Only its document is left of it. */
export function isResting({ now }: Actor): boolean {
  const context = now?.snapshot.context;
  return typeof context === "object" && context !== null && "isResting" in context && context.isResting === true;
}

const RANKS: readonly string[] = ["supervisor", "launcher", "inspector", "scheduler", "polling"];

/** The daemon's own first, then by name; children in the order in which they came. */
function byPlace(a: Actor, b: Actor): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (a.kind !== "job" && b.kind !== "job") return a.since - b.since;
  return a.sessionId < b.sessionId ? -1 : 1;
}

function rankOf({ kind }: Actor): number {
  const rank = RANKS.indexOf(kind);
  return rank < 0 ? RANKS.length : rank;
}
