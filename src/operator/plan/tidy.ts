/** Jobs that nobody needs any more: gates that were never claimed, and ended ones beyond the history that is wanted. */
import { isHandled } from "../../core/period/periods.js";
import { parseInstant } from "../../core/time/instant.js";
import { type JobView, slotAtOf } from "../job-view.js";
import { deletion } from "./effects.js";
import { mustWait } from "./memory.js";
import type { Sketch } from "./sketch.js";

const SUCCESSFUL_KEPT = 3;
const FAILED_KEPT = 1;

export function tidy(sketch: Sketch): void {
  const own = [...sketch.observed.jobs.values()].filter((job): job is JobView => isTidied(sketch, job));
  for (const job of own) {
    if (job.isGated && isUseless(sketch, job)) sketch.last.push(deletion(job, "unclaimed"));
  }
  const { successfulJobsHistoryLimit = SUCCESSFUL_KEPT, failedJobsHistoryLimit = FAILED_KEPT } = sketch.kronJob.spec;
  dropOldest(sketch, endedOf(own, true), successfulJobsHistoryLimit);
  dropOldest(sketch, endedOf(own, false), failedJobsHistoryLimit);
  const { remove } = sketch.memory.denied;
  if (sketch.last.length === 0 || !mustWait(remove, sketch.now)) return;
  sketch.last.length = 0;
  sketch.lookAgain(remove.retryAt);
}

/** Never what is claimed, nor what belongs to others. */
function isTidied(sketch: Sketch, job: JobView | null): boolean {
  return job !== null && job.ownerUid === sketch.uid && !job.isDeleting && !sketch.isActive(job);
}

/** Its period or slot was handled without it. One that is still open is adopted by whoever judges the period. */
function isUseless({ status }: Sketch, job: JobView): boolean {
  const handledId = job.source === null ? status.lastPeriodID : status.lastSlot?.[job.source];
  const handledAt = parseInstant(handledId ?? "");
  return isHandled(handledAt.ok ? handledAt.value : null, slotAtOf(job));
}

function endedOf(jobs: readonly JobView[], isSuccess: boolean): JobView[] {
  const ended = jobs.filter(({ ending }) => ending?.isSuccess === isSuccess);
  return ended.sort((a, b) => ((a.ending?.at ?? "") < (b.ending?.at ?? "") ? -1 : 1));
}

function dropOldest(sketch: Sketch, ended: readonly JobView[], kept: number): void {
  for (const job of ended.slice(0, Math.max(0, ended.length - kept))) sketch.last.push(deletion(job, "history", false));
}
