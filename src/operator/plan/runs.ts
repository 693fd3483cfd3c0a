/**
 * What the Jobs say of the runs that were claimed, as events for the machines; and what is to be done with those that go on.
 * No step needs to know who did the one before.
 */
import { isPast } from "../../core/period/lateness.js";
import type { Ending } from "../../core/state/ending.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { idOf } from "../../machines/draft.js";
import type { ExecutionSnapshot } from "../../machines/execution.machine.js";
import type { JobEnding, JobView } from "../job-view.js";
import type { ActiveJob } from "../kube/types.js";
import { OPERATOR_TIMES } from "../limits.js";
import { instantOf } from "../status.js";
import { deletion } from "./effects.js";
import { mustWait } from "./memory.js";
import type { Sketch } from "./sketch.js";

/** False: something has to be read before anything can be said. A cache may lag behind the status. */
export function areKnown(sketch: Sketch): boolean {
  const unknown = (sketch.before.active ?? []).filter((run) => !isKnown(sketch, run));
  for (const { name } of unknown) sketch.asks.push({ type: "lookUp", name });
  return unknown.length === 0;
}

/** That a Job is gone, or is another one, only a direct read can say. */
function isKnown(sketch: Sketch, { name, uid }: ActiveJob): boolean {
  const job = sketch.job(name);
  return sketch.observed.direct.has(name) || (job !== undefined && job !== null && job.uid === uid);
}

/**
 * DURABLE for what is on record by now, EXITED, LOST and TERMINATED. That a run has begun is told by nobody: whatever becomes
 * of it, its Job says whether it was released.
 */
export function tellOfRuns(sketch: Sketch): void {
  for (const attempt of sketch.activation.attempts) {
    const attemptId = idOf(attempt);
    const run = sketch.run(attemptId);
    if (run === undefined) continue;
    const isClaiming = attempt.execution.matches("gated");
    if (isClaiming) sketch.tell({ type: "DURABLE", attemptId });
    tellOfRun(sketch, run, isClaiming ? null : attempt.execution);
  }
}

/** `execution` null: it was claimed just now. */
function tellOfRun(sketch: Sketch, run: ActiveJob, execution: ExecutionSnapshot | null): void {
  const attemptId = run.name;
  const job = own(sketch, run);
  const ending = endingOf(sketch, run, job);
  if (execution?.matches("terminating") === true) {
    tellOfVictim(sketch, run, job, execution, ending);
  } else if (ending !== null) {
    sketch.tell(endEvent(attemptId, ending));
  }
}

/** S25: with its pods, or not in time. */
function tellOfVictim(
  sketch: Sketch,
  { name: attemptId, periodID }: ActiveJob,
  job: JobView | null,
  execution: ExecutionSnapshot,
  ending: Ending | "unseen" | null,
): void {
  if (ending !== null) {
    sketch.tell({ type: "TERMINATED", attemptId, isGone: true });
    if (execution.context.ending === null) sketch.tell(endEvent(attemptId, ending));
    return;
  }
  const untilAt = sketch.memory.clearing[attemptId] ?? sketch.now;
  if (!execution.matches({ terminating: "asked" }) || sketch.now <= untilAt) return;
  const periodId = sketch.activation.period?.context.occasion.periodId ?? periodID;
  sketch.loose.push({ kind: "replace_failed", job: job?.name ?? attemptId, periodId });
  sketch.tell({ type: "TERMINATED", attemptId, isGone: false });
}

/** S28: it ended after nobody waited for it any more, and was asked to once more: that it is gone is on record. */
export function tellOfEnded(sketch: Sketch): void {
  for (const attempt of sketch.activation.attempts) {
    const { execution } = attempt;
    const isOver = execution.matches({ terminating: "asked" }) && execution.context.ending !== null;
    if (isOver) sketch.tell({ type: "TERMINATED", attemptId: idOf(attempt), isGone: true });
  }
}

function endEvent(attemptId: string, ending: Ending | "unseen") {
  return ending === "unseen"
    ? ({ type: "LOST", attemptId } as const)
    : ({ type: "EXITED", attemptId, ending } as const);
}

function own(sketch: Sketch, { name, uid }: ActiveJob): JobView | null {
  const job = sketch.job(name) ?? null;
  return job?.uid === uid ? job : null;
}

/** null: it goes on. */
function endingOf(sketch: Sketch, run: ActiveJob, job: JobView | null): Ending | "unseen" | null {
  const { memory, observed, now } = sketch;
  const isLost = memory.lostGates.includes(run.uid);
  if (job === null) {
    const tombstone = observed.tombstones.get(run.uid);
    if (tombstone !== undefined && tombstone !== "unreleased") return jobEnding(tombstone);
    return tombstone === "unreleased" || isLost ? notRun(sketch, run) : "unseen";
  }
  if (job.ending !== null) return jobEnding(job.ending);
  if (!job.isGated) return null;
  // Where it may not be removed it stays behind, suspended: nobody releases what is not claimed.
  const isLeft =
    isPast(instantOf(run.startBy), now) && mustWait(memory.denied.remove, now) && observed.direct.has(job.name);
  return isLost || isLeft ? notRun(sketch, run) : null;
}

function jobEnding({ isSuccess, reason }: JobEnding): Ending {
  return { kind: "job", condition: isSuccess ? "Complete" : "Failed", reason };
}

/** S20, S23: nobody has released it, and nobody will. */
function notRun({ memory, now }: Sketch, { startBy }: ActiveJob): Ending {
  if (!isPast(instantOf(startBy), now)) return { kind: "not-run", reason: "start_unconfirmed" };
  const { release } = memory.denied;
  return { kind: "not-run", reason: release === null ? "aborted_late" : `not_started:${release.code}` };
}

/** GO, or what it takes to make way. */
export function tend(sketch: Sketch): void {
  for (const attempt of sketch.activation.attempts) {
    const run = sketch.run(idOf(attempt));
    const job = run === undefined ? null : own(sketch, run);
    if (run === undefined || job === null) continue;
    if (attempt.execution.matches({ terminating: "asked" })) makeWay(sketch, job);
    else if (job.isGated && !job.isDeleting && attempt.execution.matches("running")) release(sketch, run, job);
    else sketch.lookAgain(sketch.now + OPERATOR_TIMES.lookAgainMs);
  }
}

/** GO, unless it is too late for it (S20): then the Job goes, in the very state in which it was seen. */
function release(sketch: Sketch, run: ActiveJob, job: JobView): void {
  const { name, uid } = job;
  const startByAt = instantOf(run.startBy);
  const { release: denied, remove } = sketch.memory.denied;
  if (isPast(startByAt, sketch.now)) {
    if (mustWait(remove, sketch.now)) sketch.asks.push({ type: "lookUp", name });
    else sketch.first.push(deletion(job, "late"));
  } else if (mustWait(denied, sketch.now)) {
    sketch.lookAgain(denied.retryAt);
  } else {
    const news = { kind: "started", job: name, periodId: run.periodID, chosenAt: instantOf(run.chosenTime) } as const;
    sketch.first.push({ type: "go", name, uid, startByAt, news });
  }
}

/** A victim that is still held back goes in the very state in which it was seen, so that nobody releases it meanwhile. */
function makeWay(sketch: Sketch, job: JobView): void {
  sketch.lookAgain(sketch.now + SECOND_MS);
  if (job.isDeleting || mustWait(sketch.memory.denied.remove, sketch.now)) return;
  const effect = deletion(job, "replaced", job.isGated);
  sketch.first.push(job.isGated ? effect : { ...effect, propagation: "Foreground" });
}
