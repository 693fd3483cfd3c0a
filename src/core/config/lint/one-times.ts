/** Jobs that run once, and what becomes of their one time: it is over, or a clock change skips or repeats it (S3, S14). */
import { isOnce } from "../../cron/at.js";
import { type OneTime, onceAt, parseOnce, readingOf } from "../../cron/once.js";
import type { CompiledRule } from "../../decision/model.js";
import { closingAt } from "../../period/periods.js";
import { type EpochMs, formatInstant } from "../../time/instant.js";
import type { LintWarning } from "./warning.js";

/** Jobs that a warning names. */
const NAMED_JOBS = 5;

export function oneTimes(jobs: readonly CompiledRule[], at: EpochMs): readonly LintWarning[] {
  const timed = jobs.flatMap((job) => {
    const time = isOnce(job.rule.schedule) ? parseOnce(job.rule.schedule) : null;
    return time?.ok === true ? [{ job, time: time.value }] : [];
  });
  const over = timed.filter(({ job, time }) => isOver(job, time, at));
  const ahead = timed.filter((each) => !over.includes(each));
  return [...overWarning(over.map(({ job }) => job)), ...ahead.flatMap(({ job, time }) => changeWarning(job, time))];
}

function isOver(job: CompiledRule, time: OneTime, at: EpochMs): boolean {
  const nominalAt = onceAt(time, job.zone, job.rule.dst);
  return nominalAt !== null && closingAt(job, nominalAt) < at;
}

/** One for all of them: those that have run stay in their files for as long as people like. */
function overWarning(jobs: readonly CompiledRule[]): LintWarning[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const { identity, schedule } = first.rule;
  const message =
    jobs.length === 1
      ? `the time of ${identity}, ${schedule}, is over: if it has not run by now, it never will`
      : `the times of ${jobs.length} jobs are over, the first is ${identity}, ${schedule}: those that have not run by now never will`;
  const identities = jobs.slice(0, NAMED_JOBS).map(({ rule }) => rule.identity);
  return [{ kind: "once-over", identities, message, hint: "give it another time, or take it out when it is done" }];
}

function changeWarning({ rule, zone }: CompiledRule, time: OneTime): LintWarning[] {
  const { identity, timezone, dst } = rule;
  const { shownAt } = readingOf(time, zone);
  const wall = time.text.replace(/^@at /, "");
  const runsAt = onceAt(time, zone, dst);
  const identities = [identity];
  if (runsAt === null) {
    const message = `a clock change skips ${wall} in ${timezone}, and dst.gap is skip: ${identity} never runs`;
    return [{ kind: "once-skipped", identities, message, hint: "choose another time, or leave dst.gap out" }];
  }
  if (shownAt.length === 0) {
    const message = `a clock change skips ${wall} in ${timezone}: ${identity} runs at the end of the gap, ${formatInstant(runsAt)}`;
    return [{ kind: "once-skipped", identities, message, hint: "choose a time that there is" }];
  }
  // Who has chosen the last of them has seen that there are two.
  if (shownAt.length === 1 || dst.overlap === "last") return [];
  const times = shownAt.map(formatInstant).join(" and ");
  const message = `a clock change repeats ${wall} in ${timezone}, at ${times}: ${identity} runs at the first of them`;
  const hint = `write the one that is meant with its offset, like at: ${formatInstant(runsAt)}, or dst: { overlap: last }`;
  return [{ kind: "once-repeated", identities, message, hint }];
}
