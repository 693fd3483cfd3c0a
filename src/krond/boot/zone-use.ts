/** Which time zones the jobs of a set are scheduled in, and how many in each. */

import type { WantedJobs } from "../../actors/supervisor/start/wanted-jobs.js";
import { turnOfLoop } from "../../actors/turns.js";

/** In a canonical text the zone is spelled out, near the beginning; quotation marks inside a text have a backslash. */
const TIMEZONE = /"timezone":"([^"]*)"/;
const PER_TURN = 5_000;

export type ZoneUse = ReadonlyMap<string, number>;

export async function zonesOf(wanted: WantedJobs): Promise<ZoneUse> {
  const use = new Map<string, number>();
  for (let index = 0; index < wanted.size; index++) {
    if (index % PER_TURN === PER_TURN - 1) await turnOfLoop();
    const zone = TIMEZONE.exec(wanted.textAt(index))?.[1];
    if (zone === undefined)
      throw new Error(`invariant broken: no zone in the definition of ${wanted.identityAt(index)}`);
    use.set(zone, (use.get(zone) ?? 0) + 1);
  }
  return use;
}
