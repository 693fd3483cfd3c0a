/**
 * C12: a job that goes to another pool after a failover. The shard that it comes from may never have been looked after since,
 * and the one that it comes into has been fenced before it came.
 */
import { expect, test } from "vitest";
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import type { Shard } from "../../../src/persist/cluster.js";
import { CLOCKS_APART_MS, type FailoverFence } from "../../../src/persist/store.js";
import { job } from "../supervisor/world.js";
import { Nodes } from "./nodes.js";

/** As a database keeps it: up to when everything counts as handled, and which shards were brought up to that. */
class Fences {
  upToAt: EpochMs | null = null;
  readonly #settled = new Map<string, EpochMs>();

  of({ pool, number }: Shard): FailoverFence {
    const name = `${pool}/${number}`;
    return {
      dueUpTo: async () => (this.upToAt === this.#settled.get(name) ? null : this.upToAt),
      upTo: async () => this.upToAt,
      settled: async (_term, upToAt) => void this.#settled.set(name, upToAt),
    };
  }
}

function nodesWith(fences: Fences): Nodes {
  const world = new Nodes({ runMs: SECOND_MS });
  const { cluster } = world;
  const join = cluster.join.bind(cluster);
  cluster.join = (...asked) => {
    const member = join(...asked);
    const storeOf = member.storeOf.bind(member);
    member.storeOf = (shard) => Object.assign(storeOf(shard), { failover: fences.of(shard) });
    return member;
  };
  return world;
}

const THERE = job("there", "*/10 * * * *", { policy: { deadline: "9m" } });

test("S53: what ran before the failover and is forgotten is not run again by whoever gets the job out of another pool", async () => {
  const fences = new Fences();
  const world = nodesWith(fences);
  world.wantIn([[THERE, "node/two"]]);
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(9 * MINUTE_MS);
  const { documents, ledger } = structuredClone({
    documents: world.cluster.disk.documents,
    ledger: world.cluster.disk.ledger,
  });
  const before = world.begun.length;
  await world.until(() => world.begun.length > before, 10 * MINUTE_MS);
  await world.pass(2 * SECOND_MS);
  for (const node of [one, two]) {
    node.kill();
    world.cluster.evict(node.name);
  }
  // The new server lacks the last minutes.
  for (const [kept, map] of [
    [documents, world.cluster.disk.documents],
    [ledger, world.cluster.disk.ledger],
  ] as readonly (readonly [Map<unknown, unknown>, Map<unknown, unknown>])[]) {
    map.clear();
    for (const [key, value] of kept) map.set(key, value);
  }
  fences.upToAt = world.clock.now() + CLOCKS_APART_MS;
  const again = await world.start("one");
  expect(again.jobs).toEqual([]);
  world.wantIn([[THERE, "any"]]);
  await world.until(() => again.jobs.length === 1);
  const forgotten = world.begun.length;
  await world.until(() => world.begun.length > forgotten, 30 * MINUTE_MS);
  expect(world.twice).toEqual([]);
});
