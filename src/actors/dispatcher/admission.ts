/**
 * How many requests are under way: so many over all, and so many to one origin. Others wait: one of each tenant in turn, and
 * of a tenant one of each origin in turn, in the order in which they came. So neither an origin that is slow nor a tenant that
 * floods holds up anybody else by more than a turn.
 */
import type { HttpSettings } from "../../core/config/settings.js";

type Bounds = Pick<HttpSettings, "maxConcurrent" | "maxPerOrigin">;

/** Whose request it is, and where it goes. */
export interface Lane {
  /** Jobs of the configuration are those of one more tenant. */
  readonly tenant: string;
  readonly origin: string;
}

/** By attempt, in the order in which they came. */
type Waiting = Map<string, () => void>;

interface Tenant {
  readonly waiting: Map<string, Waiting>;
  /** Origins with somebody waiting and room of their own. */
  readonly startable: Set<string>;
}

export class Admission {
  readonly #tenants = new Map<string, Tenant>();
  /** Those of whom something could be started, in the order of their turns. */
  readonly #turns = new Set<string>();
  /** Requests under way, by origin. */
  readonly #running = new Map<string, number>();
  /** Tenants with somebody waiting for this origin, in the order of their turns: so they come back when it has room again. */
  readonly #wanted = new Map<string, Set<string>>();
  #runningOverAll = 0;
  #bounds: Bounds;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  use(bounds: Bounds): void {
    const { maxConcurrent, maxPerOrigin } = this.#bounds;
    if (bounds.maxConcurrent === maxConcurrent && bounds.maxPerOrigin === maxPerOrigin) return;
    this.#bounds = bounds;
    // Who had no room may have some now, and who had may have none.
    for (const [origin, names] of [...this.#wanted]) for (const name of [...names]) this.#note(name, origin);
    this.#pump();
  }

  /** `start` is called when there is room, perhaps at once; then `leave` is owed. */
  enter({ tenant: name, origin }: Lane, attemptId: string, start: () => void): void {
    const tenant = this.#tenants.get(name) ?? { waiting: new Map(), startable: new Set() };
    this.#tenants.set(name, tenant);
    const waiting = tenant.waiting.get(origin) ?? new Map();
    tenant.waiting.set(origin, waiting.set(attemptId, start));
    this.#wanted.set(origin, (this.#wanted.get(origin) ?? new Set()).add(name));
    this.#note(name, origin);
    this.#pump();
  }

  /** True: it was waiting, and does no more. */
  withdraw({ tenant: name, origin }: Lane, attemptId: string): boolean {
    const waiting = this.#tenants.get(name)?.waiting.get(origin);
    if (waiting === undefined || !waiting.delete(attemptId)) return false;
    this.#note(name, origin);
    return true;
  }

  leave({ origin }: Lane): void {
    const running = this.#running.get(origin);
    if (running === undefined) throw new Error(`invariant broken: nothing is under way to ${origin}`);
    this.#count(origin, running - 1);
    this.#pump();
  }

  #pump(): void {
    while (this.#runningOverAll < this.#bounds.maxConcurrent) {
      const [name] = this.#turns;
      const tenant = name === undefined ? undefined : this.#tenants.get(name);
      const [origin] = tenant?.startable ?? [];
      if (name === undefined || tenant === undefined || origin === undefined) return;
      const [next] = tenant.waiting.get(origin) ?? [];
      if (next === undefined) throw new Error(`invariant broken: nobody waits for ${origin}`);
      const [attemptId, start] = next;
      tenant.waiting.get(origin)?.delete(attemptId);
      // To the end of all lines.
      tenant.startable.delete(origin);
      this.#turns.delete(name);
      const wanted = this.#wanted.get(origin);
      wanted?.delete(name);
      wanted?.add(name);
      this.#note(name, origin);
      this.#count(origin, (this.#running.get(origin) ?? 0) + 1);
      start();
    }
  }

  /** What changes with an origin's room changes for all who wait for it. */
  #count(origin: string, running: number): void {
    const before = this.#running.get(origin) ?? 0;
    this.#runningOverAll += running - before;
    if (running === 0) this.#running.delete(origin);
    else this.#running.set(origin, running);
    const had = before < this.#bounds.maxPerOrigin;
    const has = running < this.#bounds.maxPerOrigin;
    if (had !== has) for (const name of [...(this.#wanted.get(origin) ?? [])]) this.#note(name, origin);
  }

  #note(name: string, origin: string): void {
    const tenant = this.#tenants.get(name);
    if (tenant === undefined) return;
    const hasWaiting = (tenant.waiting.get(origin)?.size ?? 0) > 0;
    if (!hasWaiting) this.#forget(name, tenant, origin);
    const hasRoom = (this.#running.get(origin) ?? 0) < this.#bounds.maxPerOrigin;
    if (hasWaiting && hasRoom) tenant.startable.add(origin);
    else tenant.startable.delete(origin);
    if (tenant.startable.size > 0) this.#turns.add(name);
    else this.#turns.delete(name);
  }

  #forget(name: string, tenant: Tenant, origin: string): void {
    tenant.waiting.delete(origin);
    if (tenant.waiting.size === 0) this.#tenants.delete(name);
    const wanted = this.#wanted.get(origin);
    wanted?.delete(name);
    if (wanted?.size === 0) this.#wanted.delete(origin);
  }
}
