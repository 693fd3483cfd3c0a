/** A reload, or a plan of one, as it is answered. */
import { formatPath, formatPlace } from "../../core/config/format-problem.js";
import type { LocatedProblem } from "../../core/config/located.js";
import type { PlanAnswer } from "../../operations/system/plan-answer.js";
import { safeFinding } from "../boot/safe-findings.js";
import type { ReloadReport } from "../reload-report.js";

export function planAnswer({ plan, findings, kept, notStartable }: ReloadReport): PlanAnswer {
  // 'krond reload' is what a service manager calls: its output ends up in a journal.
  const located = findings.map((finding) => safeFinding(finding).located);
  const problems = located.map((it) => {
    const { path, message } = it.problem;
    return `${formatPlace(it)}: ${path.length === 0 ? "" : `${formatPath(path)}: `}${message}`;
  });
  if (notStartable === undefined) return { plan, kept, problems };
  return { plan, kept, problems, notStartable: notStartable.map(({ located }) => hostLine(located)) };
}

/** Its words are ours, and name a program only where that can be no more than a name. */
function hostLine(located: LocatedProblem): string {
  const { message, hint = "" } = located.problem;
  return `${formatPlace(located)}: ${located.identity}: ${message}${hint === "" ? "" : ` (${hint})`}`;
}
