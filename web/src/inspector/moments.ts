/**
 * Frames in the bunches in which things happen: an event, and what became of it. Whoever steps through a recording steps from
 * one to the next.
 */
import type { Told } from "./frames.js";
import { familyOf, type World } from "./world.js";

export interface Moment {
  /** Numbers of its frames; `end` is not one of them. */
  readonly first: number;
  readonly end: number;
  /** Who was told, or came. */
  readonly sessionId: string;
  /** Who has told; null: nobody in particular. */
  readonly sourceId: string | null;
  /** The event; null: actors were found, or came to life. */
  readonly event: string | null;
  readonly family: string;
  readonly kind: string;
  readonly at: number;
  /** Who was born in it, with their parents. */
  readonly born: readonly (readonly [child: string, parent: string | null])[];
}

/** Names of those who were found all at once; more are counted by their frames. */
const MOST_BORN = 50;

export class Moments {
  #list: Moment[] = [];
  /** Number of the first moment that is still there. */
  #first = 0;

  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#first + this.#list.length;
  }

  at(number: number): Moment | undefined {
    return this.#list[number - this.#first];
  }

  /** `world`: as it is after the frame. */
  append(told: Told, number: number, world: World): void {
    const last = this.#list.at(-1);
    if (last !== undefined && isPartOf(last, told, world)) {
      const born = told.type === "@xstate.actor" ? withBorn(last.born, told.sessionId, told.parentId) : last.born;
      this.#list[this.#list.length - 1] = { ...last, end: number + 1, born };
      return;
    }
    this.#list.push(begun(told, number, world));
  }

  letGoBefore(frame: number): void {
    let count = 0;
    while ((this.#list[count]?.first ?? Number.POSITIVE_INFINITY) < frame) count += 1;
    this.#list = this.#list.slice(count);
    this.#first += count;
  }

  /** The moment that a frame belongs to; before the first it is the first. */
  of(frame: number): number {
    let [low, high] = [0, this.#list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#list[middle]?.end ?? 0) <= frame) low = middle + 1;
      else high = middle;
    }
    return this.#first + Math.min(low, Math.max(0, this.#list.length - 1));
  }
}

function begun(told: Told, first: number, world: World): Moment {
  const { sessionId } = told;
  return {
    first,
    end: first + 1,
    sessionId,
    sourceId: told.type === "@xstate.event" ? (told.sourceId ?? null) : null,
    event: told.type === "@xstate.actor" ? null : (told.event?.type ?? null),
    family: familyOf(world, sessionId),
    kind: world.actors.get(sessionId)?.kind ?? "",
    at: Number(told.createdAt),
    born: told.type === "@xstate.actor" ? [[sessionId, told.parentId ?? null]] : [],
  };
}

function withBorn(born: Moment["born"], child: string, parent: string | undefined): Moment["born"] {
  return born.length >= MOST_BORN ? born : [...born, [child, parent ?? null]];
}

/** What is told of an event follows it at once, and names it or is born of it. */
function isPartOf(moment: Moment, told: Told, world: World): boolean {
  if (told.type === "@xstate.event") return false;
  if (told.type === "@xstate.snapshot") {
    if (moment.event === null || told.event?.type !== moment.event) return false;
    return isOneFamily(moment, told, world);
  }
  // Actors that are listed, or come to life, have no event; a job is never born of one.
  if (moment.event === null) return true;
  return familyOf(world, told.sessionId) !== told.sessionId && isOneFamily(moment, told, world);
}

function isOneFamily({ family, sessionId }: Moment, told: Told, world: World): boolean {
  return told.sessionId === sessionId || familyOf(world, told.sessionId) === family;
}
