/** Names of jobs, tags and programs as a terminal may show them: they are written by anybody. */
import { plainText } from "../../core/base/plain-text.js";
import type { PeakReport } from "./report.js";

const LONGEST_NAME = 60;

export function shownName(name: string): string {
  const safe = plainText(name);
  const points = [...safe];
  return points.length <= LONGEST_NAME ? safe : `${points.slice(0, LONGEST_NAME - 1).join("")}…`;
}

/** `a, b ×3 and 12 more`. */
export function whoText({ contributors, other_contributors }: PeakReport): string {
  const named = contributors.map(({ name, called, starts }) => {
    const shown = shownName(called ?? name);
    return starts === 1 ? shown : `${shown} ×${starts}`;
  });
  return `${named.join(", ")}${other_contributors === 0 ? "" : ` and ${other_contributors} more`}`;
}
