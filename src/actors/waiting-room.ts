/**
 * How many may wait for something at once, each of whom keeps a connection open: so many of one tenant, and so many over all.
 * Where no more fit over all, whoever has most of them makes room for the others, so that nobody can keep them out.
 */
export interface RoomBounds {
  readonly ofTenant: number;
  readonly ofAll: number;
}

interface Waiter {
  /** To be told that they need not wait any longer; then they leave. */
  readonly release: () => void;
}

/** There is no place for one more of this tenant. */
export class NoRoomToWait extends Error {
  override readonly name = "NoRoomToWait";
}

export class WaitingRoom {
  readonly #bounds: RoomBounds;
  /** In the order in which they came. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #count = 0;

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
  }

  /** Gives the way to leave, which may be called again; null: there is no room. `release` may be called until then. */
  enter(tenant: string, release: () => void): (() => void) | null {
    const { ofAll, ofTenant } = this.#bounds;
    const own = this.#waiting.get(tenant)?.size ?? 0;
    if (own >= ofTenant) return null;
    if (this.#count >= ofAll && !this.#makeRoom(own)) return null;
    const waiter = { release };
    this.#waiting.set(tenant, (this.#waiting.get(tenant) ?? new Set()).add(waiter));
    this.#count += 1;
    return () => this.#leave(tenant, waiter);
  }

  /** False: whoever asks has as many as anybody else. */
  #makeRoom(own: number): boolean {
    let most: readonly [string, Set<Waiter>] | null = null;
    for (const tenant of this.#waiting) if (tenant[1].size > (most?.[1].size ?? own + 1)) most = tenant;
    if (most === null) return false;
    const [tenant, waiting] = most;
    const [oldest] = waiting;
    if (oldest === undefined) return false;
    this.#leave(tenant, oldest);
    oldest.release();
    return true;
  }

  #leave(tenant: string, waiter: Waiter): void {
    const waiting = this.#waiting.get(tenant);
    if (waiting?.delete(waiter) !== true) return;
    this.#count -= 1;
    if (waiting.size === 0) this.#waiting.delete(tenant);
  }
}
