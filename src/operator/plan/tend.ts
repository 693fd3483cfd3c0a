/** What was claimed: released if it was not, and completed when it has ended. No step needs to know who did the one before. */
import { isPast } from "../../core/period/lateness.js";
import type { JobView } from "../job-view.js";
import type { ActiveJob } from "../kube/types.js";
import { OPERATOR_TIMES } from "../limits.js";
import { completed, type Ended, instantOf } from "../status.js";
import { mustWait } from "./memory.js";
import type { Sketch } from "./sketch.js";

/** False: something has to be read before anything can be said. */
export function tend(sketch: Sketch): boolean {
  const runs = sketch.status.active ?? [];
  const unknown = runs.filter((run) => !isKnown(sketch, run));
  for (const { name } of unknown) sketch.first.push({ type: "lookUp", name });
  if (unknown.length > 0) return false;
  for (const run of runs) tendOne(sketch, run, sketch.job(run.name) ?? null);
  return true;
}

/** A cache may lag behind the status: that a Job is gone, or is another one, only a direct read can say. */
function isKnown(sketch: Sketch, { name, uid }: ActiveJob): boolean {
  const job = sketch.job(name);
  return sketch.observed.direct.has(name) || (job !== undefined && job !== null && job.uid === uid);
}

function tendOne(sketch: Sketch, run: ActiveJob, job: JobView | null): void {
  if (job === null || job.uid !== run.uid) end(sketch, run, endOfMissing(sketch, run));
  else if (job.ending !== null) end(sketch, run, endOfFinished(job.ending));
  else if (job.isGated && !job.isDeleting) release(sketch, run, job);
  else sketch.lookAgain(sketch.now + OPERATOR_TIMES.lookAgainMs);
}

/** GO, unless it is too late for it (S20): then the Job goes, in the very state in which it was seen. */
function release(sketch: Sketch, run: ActiveJob, job: JobView): void {
  const { name, uid } = job;
  const startByAt = instantOf(run.startBy);
  if (isPast(startByAt, sketch.now)) {
    giveUp(sketch, run, job);
    return;
  }
  const { release: denied } = sketch.memory.denied;
  if (mustWait(denied, sketch.now)) {
    sketch.lookAgain(denied.retryAt);
    return;
  }
  const news = { kind: "started", job: name, periodId: run.periodID, chosenAt: instantOf(run.chosenTime) } as const;
  sketch.first.push({ type: "go", name, uid, startByAt, news });
}

/** Where it may not be removed it stays behind, suspended: nobody releases what is not claimed. */
function giveUp(sketch: Sketch, run: ActiveJob, { name, uid, resourceVersion }: JobView): void {
  const { release: denied, remove } = sketch.memory.denied;
  if (!mustWait(remove, sketch.now)) {
    sketch.first.push({ type: "deleteJob", name, uid, resourceVersion, propagation: "Background", reason: "late" });
  } else if (!sketch.observed.direct.has(name)) {
    sketch.first.push({ type: "lookUp", name });
    return;
  }
  const reason = denied === null ? "aborted_late" : `not_started:${denied.code}`;
  end(sketch, run, { result: "NotStarted", reason, at: null });
}

/** A run that is still held back makes way for another one: in the very state in which it was seen, or not at all. */
export function withdraw(sketch: Sketch, run: ActiveJob, { name, uid, resourceVersion }: JobView): void {
  sketch.first.push({ type: "deleteJob", name, uid, resourceVersion, propagation: "Background", reason: "replaced" });
  end(sketch, run, { result: "NotStarted", reason: "replaced", at: null });
}

function end(sketch: Sketch, run: ActiveJob, ended: Ended): void {
  sketch.status = completed(sketch.status, run, ended, sketch.now);
  const { name: job, periodID: periodId } = run;
  sketch.news.push({ kind: "ended", job, periodId, result: ended.result, reason: ended.reason });
}

function endOfFinished({ isSuccess, reason, at }: NonNullable<JobView["ending"]>): Ended {
  return { result: isSuccess ? "Succeeded" : "Failed", reason, at };
}

/** STATE: never assume that an execution succeeded unless it was seen. */
function endOfMissing({ memory, observed }: Sketch, { uid }: ActiveJob): Ended {
  const tombstone = observed.tombstones.get(uid);
  const isReplaced = memory.clearing?.uids.includes(uid) === true;
  if (tombstone !== undefined && tombstone !== "unreleased") return endOfFinished(tombstone);
  if (tombstone === "unreleased" || memory.lostGates.includes(uid)) {
    return { result: "NotStarted", reason: isReplaced ? "replaced" : "start_unconfirmed", at: null };
  }
  return { result: "Unknown", reason: isReplaced ? "replaced" : "exit_unseen", at: null };
}
