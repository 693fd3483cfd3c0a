/** Names of jobs, tags and programs as a terminal may show them: they are written by anybody. */
import type { PeakReport } from "./report.js";

/** Controls, and marks that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const LONGEST_NAME = 60;

export function shownName(name: string): string {
  const safe = name.replace(UNSAFE, "\ufffd");
  const points = [...safe];
  return points.length <= LONGEST_NAME ? safe : `${points.slice(0, LONGEST_NAME - 1).join("")}…`;
}

/** `a, b ×3 and 12 more`. */
export function whoText({ contributors, other_contributors }: PeakReport): string {
  const named = contributors.map(({ name, starts }) =>
    starts === 1 ? shownName(name) : `${shownName(name)} ×${starts}`,
  );
  return `${named.join(", ")}${other_contributors === 0 ? "" : ` and ${other_contributors} more`}`;
}
