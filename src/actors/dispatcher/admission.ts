/**
 * How many requests are under way: so many over all, and so many to one origin, and of both a share for each tenant
 * (`room.ts`). Others wait. Whoever has the fewest under way is next, of those with as many one in turn, and of a tenant one
 * of each origin in turn, in the order in which they came. So neither an origin that is slow nor a tenant that floods, be it
 * with requests that nobody ever answers, holds up anybody else by more than a turn.
 */
import type { HttpSettings } from "../../core/config/settings.js";
import { type Owner, Room } from "./room.js";

type Bounds = Pick<HttpSettings, "maxConcurrent" | "maxPerOrigin">;

/** Whose request it is, and where it goes. */
export interface Lane {
  readonly owner: Owner;
  readonly origin: string;
}

interface OwnerLine {
  /** By origin, and there by attempt, in the order in which they came. */
  readonly waiting: Map<string, Map<string, () => void>>;
  /** Origins with somebody waiting and room of their own, in the order of their turns. */
  readonly startable: Set<string>;
}

export class Admission {
  readonly #lines = new Map<Owner, OwnerLine>();
  /** Of whom something could be started, by how many they have under way, in the order of their turns. */
  readonly #turns = new Map<number, Set<Owner>>();
  readonly #origins = new Map<string, Room>();
  /** Who waits for this origin, in the order of their turns: so they come back when it has room again. */
  readonly #wanted = new Map<string, Set<Owner>>();
  readonly #all: Room;
  #bounds: Bounds;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#all = new Room(bounds.maxConcurrent);
  }

  use(bounds: Bounds): void {
    const { maxConcurrent, maxPerOrigin } = this.#bounds;
    if (bounds.maxConcurrent === maxConcurrent && bounds.maxPerOrigin === maxPerOrigin) return;
    this.#bounds = bounds;
    this.#all.useBound(bounds.maxConcurrent);
    for (const room of this.#origins.values()) room.useBound(bounds.maxPerOrigin);
    // Who had no room may have some now, and who had may have none.
    for (const origin of [...this.#wanted.keys()]) this.#noteAll(origin, null);
    this.#pump();
  }

  /** `start` is called when there is room, perhaps at once; then `leave` is owed. */
  enter({ owner, origin }: Lane, attemptId: string, start: () => void): void {
    const line = this.#lines.get(owner) ?? { waiting: new Map(), startable: new Set() };
    this.#lines.set(owner, line);
    const waiting = line.waiting.get(origin) ?? new Map();
    line.waiting.set(origin, waiting.set(attemptId, start));
    this.#wanted.set(origin, (this.#wanted.get(origin) ?? new Set()).add(owner));
    this.#note(owner, origin);
    this.#pump();
  }

  /** True: it was waiting, and does no more. */
  withdraw({ owner, origin }: Lane, attemptId: string): boolean {
    const waiting = this.#lines.get(owner)?.waiting.get(origin);
    if (waiting === undefined || !waiting.delete(attemptId)) return false;
    this.#note(owner, origin);
    return true;
  }

  leave({ owner, origin }: Lane): void {
    const room = this.#origins.get(origin);
    if (room === undefined) throw new Error(`invariant broken: nothing is under way to ${origin}`);
    this.#count(owner, () => this.#all.giveBack(owner));
    const others = room.giveBack(owner);
    if (room.isEmpty) this.#origins.delete(origin);
    this.#note(owner, origin);
    this.#noteAll(origin, others);
    this.#pump();
  }

  #pump(): void {
    for (let owner = this.#next(); owner !== undefined; owner = this.#next()) {
      const line = this.#lines.get(owner);
      const [origin] = line?.startable ?? [];
      const [next] = (origin === undefined ? undefined : line?.waiting.get(origin)) ?? [];
      if (line === undefined || origin === undefined || next === undefined) {
        throw new Error("invariant broken: nobody waits whose turn it is");
      }
      const [attemptId, start] = next;
      line.waiting.get(origin)?.delete(attemptId);
      // To the end of all lines.
      line.startable.delete(origin);
      const wanted = this.#wanted.get(origin);
      wanted?.delete(owner);
      wanted?.add(owner);
      this.#count(owner, () => this.#all.take(owner));
      const others = this.#roomAt(origin).take(owner);
      this.#note(owner, origin);
      this.#noteAll(origin, others);
      start();
    }
  }

  /** undefined: nobody, or none for whom there is room. Where there is none for the fewest, there is none but for the host. */
  #next(): Owner | undefined {
    if (this.#turns.size === 0) return undefined;
    const [owner] = this.#turns.get(Math.min(...this.#turns.keys())) ?? [];
    if (owner !== undefined && this.#all.hasRoomFor(owner)) return owner;
    const isHostNext = (this.#lines.get(null)?.startable.size ?? 0) > 0 && this.#all.hasRoomFor(null);
    return isHostNext ? null : undefined;
  }

  #roomAt(origin: string): Room {
    const room = this.#origins.get(origin) ?? new Room(this.#bounds.maxPerOrigin);
    this.#origins.set(origin, room);
    return room;
  }

  /** What somebody has under way says where among the others they stand. */
  #count(owner: Owner, change: () => void): void {
    this.#stand(owner, false);
    change();
    this.#stand(owner, (this.#lines.get(owner)?.startable.size ?? 0) > 0);
  }

  #stand(owner: Owner, isStartable: boolean): void {
    const count = this.#all.takenBy(owner);
    const turns = this.#turns.get(count) ?? new Set();
    if (isStartable) this.#turns.set(count, turns.add(owner));
    else if (turns.delete(owner) && turns.size === 0) this.#turns.delete(count);
  }

  /** null: whoever waits for it. */
  #noteAll(origin: string, owners: readonly Owner[] | null): void {
    for (const owner of owners ?? [...(this.#wanted.get(origin) ?? [])]) this.#note(owner, origin);
  }

  #note(owner: Owner, origin: string): void {
    const line = this.#lines.get(owner);
    if (line === undefined) return;
    const hasWaiting = (line.waiting.get(origin)?.size ?? 0) > 0;
    if (!hasWaiting) this.#forget(owner, line, origin);
    const hasRoom = this.#origins.get(origin)?.hasRoomFor(owner) ?? this.#bounds.maxPerOrigin > 0;
    if (hasWaiting && hasRoom) line.startable.add(origin);
    else line.startable.delete(origin);
    this.#stand(owner, line.startable.size > 0);
  }

  #forget(owner: Owner, line: OwnerLine, origin: string): void {
    line.waiting.delete(origin);
    if (line.waiting.size === 0) this.#lines.delete(owner);
    const wanted = this.#wanted.get(origin);
    wanted?.delete(owner);
    if (wanted?.size === 0) this.#wanted.delete(origin);
  }
}
