/**
 * Jobs that run at boot (S44), judged after the fact: once for each boot of the machine at most, not in the boot in which
 * they were added, and in every other one that left them alone. It knows nothing of how a boot is told.
 */
import { compileRule } from "../core/decision/compile.js";
import { type EpochMs, formatInstant, MINUTE_MS } from "../core/time/instant.js";
import type { Circumstances, JobHistory, VersionInForce } from "./job-history.js";

/** Ending what is replaced, and the time to look. */
const SLACK_MS = 2 * MINUTE_MS;

/** From the first start of a daemon in a boot to the one in the next. */
interface Boot {
  readonly fromAt: EpochMs;
  readonly untilAt: EpochMs;
}

export function* judgeBoots(job: JobHistory, around: Circumstances): Iterable<string> {
  const starts = job.slotStarts.filter(({ source }) => source === "reboot");
  const versions = job.versions.filter(runsAtBoot);
  if (starts.length === 0 && versions.length === 0) return;
  const most = versions.length === 0 ? 0 : around.boots.length;
  if (starts.length > most) yield `${job.identity} ran ${starts.length} times at ${most} boots`;
  // When the clock is moved, it cannot be told from the clock which boot a run belongs to.
  if (around.repeats.length > 0) return;
  for (const [index, fromAt] of around.boots.entries()) {
    const boot = { fromAt, untilAt: around.boots[index + 1] ?? around.endAt };
    const count = starts.filter(({ startedAt }) => isIn(boot, startedAt)).length;
    const name = `${job.identity}, boot at ${formatInstant(fromAt)}`;
    if (count > 1) yield `${name}: ran ${count} times`;
    if (count > 0 && isTooYoung(versions, boot, around)) yield `${name}: ran, and was added after it`;
    if (count === 0 && mustRun(job, boot, around)) yield `${name}: did not run`;
  }
}

function runsAtBoot({ definition }: VersionInForce): boolean {
  return definition !== null && compileRule(definition).isReboot;
}

/** A start that was broken off does not count as the first one: then the next is. */
function isTooYoung(versions: readonly VersionInForce[], boot: Boot, { absences }: Circumstances): boolean {
  const isUndisturbed = !absences.some(({ fromAt, untilAt }) => fromAt < boot.untilAt && untilAt > boot.fromAt + 1);
  return isUndisturbed && versions.every(({ fromAt }) => fromAt > boot.fromAt);
}

/** Configured in time and left alone until its deadline. */
function mustRun(job: JobHistory, boot: Boot, around: Circumstances): boolean {
  const version = job.versions.findLast(({ fromAt }) => fromAt <= boot.fromAt);
  if (version === undefined || version.definition === null || !runsAtBoot(version)) return false;
  const { policy } = version.definition;
  const { startGraceMs, killGraceMs } = around.settings;
  const untilAt =
    boot.fromAt +
    (policy.deadlineMs === "window" ? MINUTE_MS : policy.deadlineMs) +
    startGraceMs +
    killGraceMs +
    SLACK_MS;
  if (policy.suspend || policy.concurrency !== "allow" || policy.maxActive !== null || job.refused > 0) return false;
  if (untilAt >= boot.untilAt || job.versions.some(({ fromAt }) => fromAt > boot.fromAt && fromAt < untilAt))
    return false;
  const held = [...around.absences, ...job.pauses, ...job.hints];
  return !held.some((span) => span.fromAt < untilAt && span.untilAt > boot.fromAt + 1);
}

function isIn({ fromAt, untilAt }: Boot, at: EpochMs): boolean {
  return fromAt <= at && at < untilAt;
}
