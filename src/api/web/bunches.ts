/**
 * Names of what has changed since it was told last, for each of those who are told: the host, which sees everything, and
 * tenants, each of which sees its own. Of many it is kept that they are many.
 */
import { endpointName } from "../../core/endpoint/endpoint-name.js";

/** Names of a bunch; of more the page is told that much. */
export const MOST_NAMES = 200;

/** Who is told: a tenant, or with null the host. */
export type Audience = string | null;

/** null: too many to name them. */
type Bunch = readonly string[] | null;

export class Bunches {
  readonly #names = new Map<Audience, Set<string>>();

  /** True: somebody among them is to be told. */
  note(identity: string, audiences: ReadonlySet<Audience>): boolean {
    let isNoted = false;
    if (audiences.has(null)) isNoted = this.#add(null, identity);
    // Nobody's name is looked at for tenants that do not look on.
    if (audiences.size === (audiences.has(null) ? 1 : 0)) return isNoted;
    const tenant = endpointName(identity)?.tenant;
    if (tenant === undefined || !audiences.has(tenant)) return isNoted;
    return this.#add(tenant, identity);
  }

  /** Everything that was noted; afterwards nothing is. */
  take(): ReadonlyMap<Audience, Bunch> {
    const taken = new Map<Audience, Bunch>();
    for (const [audience, names] of this.#names) taken.set(audience, names.size > MOST_NAMES ? null : [...names]);
    this.#names.clear();
    return taken;
  }

  #add(audience: Audience, identity: string): true {
    const names = this.#names.get(audience) ?? new Set();
    this.#names.set(audience, names);
    if (names.size <= MOST_NAMES) names.add(identity);
    return true;
  }
}
