/**
 * The jobs in the order of their identities, a page at a time. Sorting a million names takes longer than the loop may
 * stand still: it is done in turns, and again only when jobs have come or gone.
 */

import type { TimelineHandle } from "../../timeline.js";
import { sortInTurns } from "../../turns.js";
import type { ListOptions } from "../port.js";
import type { IdentityIndex } from "./identity-index.js";

export class Listing {
  #sorted: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  #sortedAt = -1;
  readonly #names: IdentityIndex;

  constructor(names: IdentityIndex) {
    this.#names = names;
  }

  /** Removed jobs that are still watched are among them. Unknown identities are left out. */
  async page({ afterIdentity, limit, identities }: ListOptions): Promise<readonly TimelineHandle[]> {
    if (identities !== undefined) {
      const handles = identities.map((identity) => this.#names.handleOf(identity));
      return handles.filter((handle) => handle !== null);
    }
    await this.sorted();
    const from = afterIdentity === undefined ? 0 : this.#placeAfter(afterIdentity);
    const page: TimelineHandle[] = [];
    for (let at = from; at < this.#sorted.length && page.length < (limit ?? Number.POSITIVE_INFINITY); at++) {
      const handle = this.#sorted[at] as number;
      if (this.#names.has(handle)) page.push(handle);
    }
    return page;
  }

  /** All of them, where jobs have not come or gone since they were sorted; null: they have. */
  get fresh(): Uint32Array<ArrayBuffer> | null {
    return this.#sortedAt === this.#names.revision ? this.#sorted : null;
  }

  async sorted(): Promise<Uint32Array<ArrayBuffer>> {
    const names = this.#names;
    if (this.#sortedAt === names.revision) return this.#sorted;
    const { revision } = names;
    const handles = new Uint32Array(names.size);
    let count = 0;
    for (let handle = 0; handle < names.handleEnd; handle++) if (names.has(handle)) handles[count++] = handle;
    this.#sorted = await sortInTurns(handles, (one, other) => names.compare(one, other));
    this.#sortedAt = revision;
    return this.#sorted;
  }

  /** The first place behind the identity, whether it is there or not. */
  #placeAfter(identity: string): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#names.compareTo(this.#sorted[middle] as number, identity) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
