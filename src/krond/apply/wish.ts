/** What a configuration wishes of several nodes: each job with the pool that it names. */
import type { DefinitionSet } from "../../actors/pool/load/definition-set.js";
import { turnOfLoop } from "../../actors/turns.js";
import type { Settings } from "../../core/config/settings.js";
import { poolIn } from "../../core/restart/cut.js";
import type { NodeFacts, WantedJob } from "../../persist/cluster.js";
import type { Wish } from "./apply.js";

const PER_TURN = 5_000;

export async function wishOf(definitions: DefinitionSet, settings: Settings): Promise<Wish> {
  const jobs: WantedJob[] = [];
  for (let index = 0; index < definitions.size; index++) {
    const text = definitions.textAt(index);
    jobs.push({ identity: definitions.identityAt(index), pool: poolIn(text), text });
    if (index % PER_TURN === PER_TURN - 1) await turnOfLoop();
  }
  return { jobs, settings };
}

/** A pool that nobody serves, and how many jobs wait for somebody who does. */
export interface UnservedPool {
  readonly pool: string;
  readonly jobs: number;
}

export function unservedPools({ jobs }: Wish, nodes: readonly NodeFacts[]): readonly UnservedPool[] {
  const served = new Set(nodes.flatMap(({ pools }) => pools));
  const counts = new Map<string, number>();
  for (const { pool } of jobs) if (!served.has(pool)) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return [...counts].sort().map(([pool, count]) => ({ pool, jobs: count }));
}
