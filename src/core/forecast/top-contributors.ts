/**
 * Of every bucket the few groups that contribute most to it. Kept in flat arrays: a forecast has up to a million buckets,
 * and each takes the same room whatever starts in it.
 */
import { FORECAST_LIMITS } from "./horizon.js";

interface Contributor {
  readonly name: string;
  readonly starts: number;
}

export interface Contributors {
  /** Most starts first; equal ones in the order of their names. */
  readonly named: readonly Contributor[];
  /** How many more there are. */
  readonly others: number;
}

const PLACES = FORECAST_LIMITS.contributors;

export class TopContributors {
  readonly #names: readonly string[];
  readonly #groups: Int32Array;
  readonly #starts: Uint32Array;
  readonly #distinct: Uint32Array;

  /** `names` may grow while groups are offered. */
  constructor(buckets: number, names: readonly string[]) {
    this.#names = names;
    this.#groups = new Int32Array(buckets * PLACES).fill(-1);
    this.#starts = new Uint32Array(buckets * PLACES);
    this.#distinct = new Uint32Array(buckets);
  }

  /** Each group is offered at most once for a bucket, with all its starts in it. */
  offer(bucket: number, group: number, starts: number): void {
    this.#distinct[bucket] = (this.#distinct[bucket] as number) + 1;
    const first = bucket * PLACES;
    let place = first + PLACES;
    while (place > first && this.#isAhead(group, starts, place - 1)) place--;
    if (place === first + PLACES) return;
    this.#groups.copyWithin(place + 1, place, first + PLACES - 1);
    this.#starts.copyWithin(place + 1, place, first + PLACES - 1);
    this.#groups[place] = group;
    this.#starts[place] = starts;
  }

  of(bucket: number): Contributors {
    const named: Contributor[] = [];
    for (let place = bucket * PLACES; place < (bucket + 1) * PLACES; place++) {
      const group = this.#groups[place] as number;
      if (group < 0) break;
      named.push({ name: this.#names[group] ?? "", starts: this.#starts[place] as number });
    }
    return { named, others: (this.#distinct[bucket] as number) - named.length };
  }

  #isAhead(group: number, starts: number, place: number): boolean {
    const holder = this.#groups[place] as number;
    if (holder < 0) return true;
    const held = this.#starts[place] as number;
    return starts > held || (starts === held && (this.#names[group] ?? "") < (this.#names[holder] ?? ""));
  }
}
