/** S49: how many jobs name a node or a pool, which means nothing to a daemon that has the store for itself. */
import type { Wanted } from "../../actors/supervisor/start/survey.js";
import { turnOfLoop } from "../../actors/turns.js";
import { ANY_POOL } from "../../core/job/pool.js";
import { poolIn } from "../../core/restart/cut.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { DaemonEvent } from "../log/log.js";

const LOOKED_AT_PER_TURN = 512;

/** null: nothing to tell. Told when the files are read: whoever wrote them may think that a job runs elsewhere. */
export async function nodelessLine(wanted: Wanted, at: EpochMs): Promise<DaemonEvent | null> {
  if (wanted === "as-stored") return null;
  const [first, jobs] = await placedJobs(wanted);
  if (first === null) return null;
  const message = "this daemon is alone: node and pool have no meaning here, and it runs these jobs itself";
  const hint = "several nodes share a database: krond start --store postgres://... --node NAME, and kron apply";
  const fields = { jobs, identity: first, message, hint };
  return { at, event: "no_nodes", component: "scheduler", level: "warn", fields };
}

async function placedJobs(wanted: Exclude<Wanted, "as-stored">): Promise<readonly [string | null, number]> {
  let [first, jobs]: [string | null, number] = [null, 0];
  for (let index = 0; index < wanted.size; index++) {
    if (poolIn(wanted.textAt(index)) !== ANY_POOL) {
      first ??= wanted.identityAt(index);
      jobs += 1;
    }
    if (index % LOOKED_AT_PER_TURN === LOOKED_AT_PER_TURN - 1) await turnOfLoop();
  }
  return [first, jobs];
}
