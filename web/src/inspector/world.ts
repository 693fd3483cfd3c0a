/** The actors as they were after a frame: a fold over frames, pure but for the map it is given to work on. */
import { hashOf } from "./chart-layout.js";
import { isFields, type Snapshot, type Told, type ToldEvent, timeOf } from "./frames.js";

export interface Shown {
  readonly snapshot: Snapshot;
  /** What led to it; null: it was found like that. */
  readonly event: ToldEvent | null;
  /** Number of the frame that told of it. */
  readonly frame: number;
}

export interface Actor {
  readonly sessionId: string;
  readonly name: string;
  readonly parentId: string | null;
  /** The name of its chart. */
  readonly kind: string;
  readonly since: number;
  readonly now: Shown | null;
  readonly before: Shown | null;
}

/** A chart that came with an actor. */
export interface Chart {
  readonly hash: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface World {
  readonly actors: Map<string, Actor>;
  readonly charts: Map<string, Chart>;
  /** Actors that have ended, the oldest first. */
  readonly ended: Set<string>;
  /** Actors that were let go of, so that the tree stays readable. */
  forgotten: number;
}

export const WORLD_LIMITS = {
  /** Of those that have ended; jobs among them, which were removed. */
  ended: 150,
  actors: 20_000,
} as const;

export function emptyWorld(): World {
  return { actors: new Map(), charts: new Map(), ended: new Set(), forgotten: 0 };
}

/** Actors never change, so that a copy costs little. */
export function copyOf({ actors, charts, ended, forgotten }: World): World {
  return { actors: new Map(actors), charts: new Map(charts), ended: new Set(ended), forgotten };
}

export function apply(world: World, told: Told, frame: number): void {
  const { actors } = world;
  const known = actors.get(told.sessionId);
  if (told.type === "@xstate.event") {
    if (known === undefined) actors.set(told.sessionId, unborn(told));
    return;
  }
  const { snapshot } = told;
  const event = told.type === "@xstate.snapshot" ? (told.event ?? null) : null;
  const now = snapshot === undefined ? (known?.now ?? null) : { snapshot, event, frame };
  const base = told.type === "@xstate.actor" ? bornFrom(world, told) : (known ?? unborn(told));
  const since = known?.since ?? timeOf(told);
  actors.set(told.sessionId, { ...base, since, now, before: known?.now ?? null });
  noteEnd(world, told.sessionId, snapshot);
}

/** Somebody whose beginning was not told. */
function unborn(told: Told): Actor {
  const { sessionId } = told;
  return { sessionId, name: sessionId, parentId: null, kind: "", since: timeOf(told), now: null, before: null };
}

function bornFrom(world: World, told: Extract<Told, { type: "@xstate.actor" }>): Omit<Actor, "now" | "before"> {
  const { sessionId, name = sessionId, parentId = null, definition } = told;
  const kind = definition === undefined ? (world.actors.get(sessionId)?.kind ?? "") : chartIn(world, definition);
  return { sessionId, name, parentId, kind, since: timeOf(told) };
}

/** Its name; what it looks like is kept beside. */
function chartIn({ charts }: World, definition: string): string {
  const hash = hashOf(definition);
  for (const [id, chart] of charts) if (chart.hash === hash) return id;
  const config = parsed(definition);
  const id = typeof config["id"] === "string" ? config["id"] : hash;
  if (config["states"] !== undefined) charts.set(id, { hash, config });
  return id;
}

function parsed(definition: string): Chart["config"] {
  try {
    const value: unknown = JSON.parse(definition);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

function noteEnd(world: World, sessionId: string, snapshot: Snapshot | undefined): void {
  const { actors, ended } = world;
  const hasEnded = snapshot?.status !== undefined && snapshot.status !== "active";
  if (hasEnded) ended.add(sessionId);
  else ended.delete(sessionId);
  const excess = Math.max(ended.size - WORLD_LIMITS.ended, actors.size - WORLD_LIMITS.actors);
  if (excess <= 0) return;
  const gone = ended.size > 0 ? ended : actors.keys();
  for (const name of gone) {
    if (name === sessionId) continue;
    actors.delete(name);
    ended.delete(name);
    world.forgotten += 1;
    if (ended.size <= WORLD_LIMITS.ended && actors.size <= WORLD_LIMITS.actors) return;
  }
}

/**
 * After a break in what is heard, whoever is there is listed again: runs and periods that were there before and are not listed
 * have ended meanwhile, nobody knows how. `frame`: the first after the break.
 */
export function goneSince({ actors }: World, frame: number, createdAt: string): readonly Told[] {
  return [...actors.values()].flatMap(({ kind, now, sessionId }): Told[] => {
    const isPassing = kind === "execution" || kind === "period";
    const isHere = now === null || now.frame >= frame;
    if (!isPassing || isHere || now.snapshot.status !== "active") return [];
    const snapshot = { ...now.snapshot, status: "stopped" };
    return [{ type: "@xstate.snapshot", sessionId, event: { type: "NOT_THERE_ANY_MORE" }, snapshot, createdAt }];
  });
}

/** The job it belongs to, or itself: whoever is nobody's child, or the daemon's own. */
export function familyOf({ actors }: World, sessionId: string): string {
  let name = sessionId;
  for (let depth = 0; depth < 8; depth += 1) {
    const parent = actors.get(name)?.parentId ?? null;
    if (parent === null || !actors.has(parent) || isRoot(actors.get(parent))) return name;
    name = parent;
  }
  return name;
}

function isRoot(actor: Actor | undefined): boolean {
  return actor !== undefined && actor.parentId === null;
}
