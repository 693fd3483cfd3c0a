/** How long a run goes on already, beside what is usual of its job: what it took before, and until when. Pure. */
import type { JobRow } from "./shapes.js";
import { clockText, instantOf, lengthText, nowMs, spanText } from "./time.js";

const A_SECOND_MS = 1_000;
/** Shorter than this nobody waits for a run. */
const WORTH_TELLING_MS = 2_000;
/** Longer than ever is not enough: of runs that take ever the same a second more would say nothing. */
const OVERDUE = 1.5;

/** A node of an earlier version does not tell what is usual. */
type Subject = Partial<Pick<JobRow, "usual">> & Pick<JobRow, "lastRun">;

export interface RunTold {
  readonly text: string;
  readonly isOverdue: boolean;
}

export function runTold({ usual = null, lastRun }: Subject, startedAt: string): RunTold {
  const ms = Math.max(0, nowMs.value - instantOf(startedAt));
  const since = ms < A_SECOND_MS ? "just begun" : `for ${spanText(ms)}`;
  if (usual === null) {
    const lastMs = lastRun?.durationMs ?? null;
    return { text: lastMs === null ? since : `${since}, last time ${lengthText(lastMs)}`, isOverdue: false };
  }
  const { longestMs, medianMs } = usual;
  const isOverdue = ms > Math.max(longestMs, OVERDUE * medianMs, WORTH_TELLING_MS);
  const isAhead = medianMs > ms && medianMs >= WORTH_TELLING_MS;
  const until = isAhead ? `, until about ${clockText(instantOf(startedAt) + medianMs)}` : "";
  return { text: `${since}, usually ${lengthText(medianMs)}${until}`, isOverdue };
}

/** When it starts next; null: nothing is to come, or whatever its schedule says it is suspended. */
export function nextOf({ standing, nextChosenTime }: Pick<JobRow, "standing" | "nextChosenTime">): string | null {
  return standing === "suspended" ? null : nextChosenTime;
}

/** `usually takes 9 min, 14 min at the most`. */
export function usualText({ usual = null }: Partial<Pick<JobRow, "usual">>): string | null {
  if (usual === null) return null;
  const most = usual.longestMs > usual.medianMs ? `, ${lengthText(usual.longestMs)} at the most` : "";
  return `usually takes ${lengthText(usual.medianMs)}${most}`;
}
