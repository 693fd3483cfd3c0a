/** Nodes that share one store, in this process: what each of them does is asked for, nothing happens by itself. */
import { afterEach } from "vitest";
import type { KronError } from "../../src/core/base/errors/kron-error.js";
import { type StorePlace, storePlace } from "../../src/persist/backends.js";
import type { ClusterAdmin, ClusterMember, HeldShard, Pulse } from "../../src/persist/cluster.js";
import type { LockTerm } from "../../src/persist/lock.js";
import type { StateStore } from "../../src/persist/store.js";

export interface Member {
  readonly member: ClusterMember;
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly directory: string;
}

export interface MemberOptions {
  readonly pools?: readonly string[];
  readonly leaseMs?: number;
  readonly directory?: string;
}

export function placeOf(address: string, directory: string, node?: string, options: MemberOptions = {}): StorePlace {
  const { pools = [], leaseMs = 60_000 } = options;
  const place = storePlace(address, directory, { leaseMs, pools, ...(node === undefined ? {} : { node }) });
  if (!place.ok) throw new Error(place.error.message);
  return place.value;
}

export function adminOf(address: string, directory: string): ClusterAdmin {
  const { cluster } = placeOf(address, directory).backend;
  if (cluster === null) throw new Error("no store of several nodes");
  return cluster;
}

/** A process that dies here only stops: its session stays until its lease has run out. */
export class Nodes {
  readonly #address: string;
  readonly #newDirectory: () => string;
  readonly #living: Member[] = [];

  constructor(address: string, newDirectory: () => string) {
    this.#address = address;
    this.#newDirectory = newDirectory;
  }

  async refusal(node: string | undefined, options: MemberOptions = {}): Promise<KronError | null> {
    const directory = options.directory ?? this.#newDirectory();
    const term = await placeOf(this.#address, directory, node, options).backend.acquire(directory);
    if (!term.ok) return term.error;
    await term.value.release();
    return null;
  }

  async join(node: string, options: MemberOptions = {}): Promise<Member> {
    const directory = options.directory ?? this.#newDirectory();
    const { backend, at } = placeOf(this.#address, directory, node, options);
    const term = await backend.acquire(at);
    if (!term.ok) throw term.error;
    const store = await backend.open(term.value);
    if (!store.ok) {
      await term.value.release();
      throw store.error;
    }
    if (backend.member === null) throw new Error("not a member");
    const member = await backend.member(term.value, store.value);
    const joined = { member, store: store.value, term: term.value, directory };
    this.#living.push(joined);
    return joined;
  }

  async leave(one: Member): Promise<void> {
    this.#living.splice(this.#living.indexOf(one), 1);
    await one.store.close();
    await one.term.release();
  }

  async end(): Promise<void> {
    for (const one of [...this.#living]) await this.leave(one);
  }
}

/** A look, after which whatever is to go has gone to whom it is for. */
export async function balanced({ member }: Member): Promise<Pulse> {
  const pulse = await member.pulse(true);
  for (const { heir, ...shard } of pulse.surplus) await member.giveUp(shard, heir);
  return pulse;
}

export function heldOf({ held }: Pulse, pool = "any"): readonly HeldShard[] {
  return held.filter((shard) => shard.pool === pool);
}

/** Clusters that are gone after each test of the calling file. */
export function clusters(newDirectory: () => string): (address: string) => Nodes {
  const made: Nodes[] = [];
  afterEach(async () => {
    for (const nodes of made.splice(0)) await nodes.end();
  });
  return (address) => {
    const nodes = new Nodes(address, newDirectory);
    made.push(nodes);
    return nodes;
  };
}
