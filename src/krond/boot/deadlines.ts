/** How many jobs a restart over their chosen second would cost the period: told once, when their files are read. */
import type { Wanted } from "../../actors/supervisor/start/survey.js";
import { turnOfLoop } from "../../actors/turns.js";
import { isWithoutDeadline } from "../../core/restart/cut.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { DaemonEvent } from "../log/log.js";

const LOOKED_AT_PER_TURN = 512;

/** null: nothing to tell. Of a million jobs none is looked at for longer than it takes to find a few characters. */
export async function deadlineLine(wanted: Wanted, at: EpochMs): Promise<DaemonEvent | null> {
  if (wanted === "as-stored") return null;
  let jobs = 0;
  for (let index = 0; index < wanted.size; index++) {
    if (isWithoutDeadline(wanted.textAt(index))) jobs += 1;
    if (index % LOOKED_AT_PER_TURN === LOOKED_AT_PER_TURN - 1) await turnOfLoop();
  }
  if (jobs === 0) return null;
  const message = "a restart over its chosen second costs such a job the period; 'kron lint' says what to write";
  return { at, event: "no_deadline", component: "scheduler", level: "info", fields: { jobs, message } };
}
