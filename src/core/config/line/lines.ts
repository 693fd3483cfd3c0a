/** What the formats with one job a line have in common. */

import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import type { JobDefinition } from "../../job/definition.js";
import { formatSize } from "../../job/size.js";
import {
  type Against,
  byPlace,
  type ConfigReading,
  type LocatedJob,
  type LocatedProblem,
  type Stretch,
} from "../located.js";

export interface LineSource {
  readonly file: string;
  /** One-based. */
  readonly line: number;
  /** Where places are asked for, and no jobs: a line of which there is something to say is none. */
  readonly against?: Against;
}

export interface LineReading {
  readonly job: LocatedJob | null;
  readonly problems: readonly LocatedProblem[];
}

export type LineReader = (line: string, source: LineSource) => LineReading;

/** Reads a whole text line by line. Larger files are streamed by whoever reads them, with the same line reader. */
export function readLines(file: string, text: string, read: LineReader, against?: Against): ConfigReading {
  const more = against === undefined ? {} : { against };
  const jobs: LocatedJob[] = [];
  const problems: LocatedProblem[] = [];
  let number = 1;
  for (let start = text.startsWith("\ufeff") ? 1 : 0; start < text.length; number++) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const reading = read(text.slice(start, end), { file, line: number, ...more });
    if (reading.job !== null) jobs.push(reading.job);
    for (const problem of reading.problems) problems.push(problem);
    start = end + 1;
  }
  return { jobs, settings: [], problems };
}

export function tooLongLine(line: string, source: LineSource): LineReading | null {
  if (line.length <= LIMITS.jobLineChars) return null;
  const message = `the line is longer than ${formatSize(LIMITS.jobLineChars)}`;
  const problem: Problem = { code: "limit-exceeded", message, path: [] };
  return lineReading(source, 1, null, null, [{ problem, start: 0, end: 1 }]);
}

/** A line with any problem is no job: what it would be is not what somebody wrote. */
export function lineReading(
  { file, line }: LineSource,
  column: number,
  rawIdentity: unknown,
  definition: JobDefinition | null,
  problems: readonly ({ readonly problem: Problem } & Stretch)[],
): LineReading {
  if (problems.length === 0 && definition !== null) return { job: { definition, file, line, column }, problems: [] };
  const identity = typeof rawIdentity === "string" ? rawIdentity : null;
  const located = problems.map(({ problem, start, end }) => {
    return { problem, file, line, column: start + 1, length: Math.max(1, end - start), identity };
  });
  return { job: null, problems: located.sort(byPlace) };
}
