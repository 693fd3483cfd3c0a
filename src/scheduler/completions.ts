/** The end of runs, as changes of their records. Pure; many ends share one transaction. */
import type { EpochMs } from "../core/time/instant.js";
import type { TaskEffect } from "../machines/task.machine.js";
import type { Claim } from "./claims.js";
import { readTaskRecord } from "./records.js";
import { applyEffects } from "./task-rules.js";
import type { TaskRecord, TaskRecordChanges } from "./types.js";

export interface Completion {
  readonly claim: Claim;
  readonly endedAt: EpochMs;
  readonly effects: readonly TaskEffect[];
}

type Lookup = (name: string) => unknown;

/**
 * The record, if it still says that this very run is under way. Otherwise the run belongs to a past that others have
 * closed meanwhile, and changes nothing (P26).
 */
function claimedRecord(claim: Claim, get: Lookup, now: EpochMs): TaskRecord | null {
  const raw = get(claim.task.name);
  const reading = raw === undefined ? null : readTaskRecord(raw, claim.task, now);
  if (reading === null || reading.kind === "unreadable") return null;
  const { record } = reading;
  const { after } = claim;
  return record.runningBy === after.runningBy && record.lastAttemptAt === after.lastAttemptAt ? record : null;
}

/** `result` holds the record after each completion, null where it was not ours to change. */
export function completeRuns(
  completions: readonly Completion[],
  get: Lookup,
): TaskRecordChanges<readonly (TaskRecord | null)[]> {
  const result = completions.map(({ claim, endedAt, effects }) => {
    const record = claimedRecord(claim, get, endedAt);
    if (record === null) return null;
    const { retryDelayMs } = claim.task;
    return applyEffects(record, effects, { now: endedAt, schedulerId: claim.after.runningBy ?? "", retryDelayMs });
  });
  return { put: result.filter((record) => record !== null), result };
}

/** Takes back claims of runs that never began: what was owed before is owed again (P18). */
export function undoClaims(claims: readonly Claim[], get: Lookup, now: EpochMs): TaskRecordChanges<void> {
  const unbegun = claims.filter((claim) => claimedRecord(claim, get, now) !== null);
  return { put: unbegun.map(({ before }) => before), result: undefined };
}
