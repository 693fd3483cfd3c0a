/** Jobs that a restart at the wrong second costs a whole period, because nothing says how late they may start (S19, S20). */
import { isOnce } from "../../cron/at.js";
import { compileRule } from "../../decision/compile.js";
import { type JobDefinition, WINDOW_DEADLINE } from "../../job/definition.js";
import { formatDuration } from "../../time/duration.js";
import { HOUR_MS } from "../../time/instant.js";
import type { LintWarning } from "./warning.js";

/** Jobs that are named. */
const NAMED_JOBS = 5;

function hasNoDeadline({ policy }: JobDefinition): boolean {
  return policy.deadlineMs === 0 && !policy.suspend;
}

/** At most one warning: of periods that are rarer than hourly, none is made up for soon. */
export function deadlineWarnings(jobs: readonly JobDefinition[]): readonly LintWarning[] {
  const gaps = jobs.filter(hasNoDeadline).map((job) => ({ job, gapMs: compileRule(job).schedule.smallestGapMs }));
  const rare = gaps.filter(({ job, gapMs }) => gapMs > HOUR_MS && (Number.isFinite(gapMs) || isOnce(job.schedule)));
  const [first] = rare;
  if (first === undefined) return [];
  const worst = rare.reduce((most, each) => (each.gapMs > most.gapMs ? each : most), first);
  const who = rare.length === 1 ? "1 job has" : `${rare.length} jobs have`;
  const lost = Number.isFinite(worst.gapMs)
    ? `the whole period, and ${formatDuration(worst.gapMs)} pass until the next`
    : "its only run";
  const cost = `a restart or a standstill over its chosen second costs ${worst.job.identity} ${lost}`;
  return [
    {
      kind: "no-deadline",
      identities: rare.slice(0, NAMED_JOBS).map(({ job }) => job.identity),
      message: `${who} a deadline of 0s and less than a period an hour: ${cost}`,
      hint: `write policy: { deadline: ${WINDOW_DEADLINE} }, in the job or in defaults: it may start until its window ends, and a minute at least`,
    },
  ];
}
