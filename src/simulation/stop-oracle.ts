/** Jobs that stop by themselves (S51), judged after the fact: by how many runs they began, and how late. */
import { type EpochMs, formatInstant, MINUTE_MS } from "../core/time/instant.js";
import type { JobHistory } from "./job-history.js";

/** A run that was claimed at the last moment begins a little after it. */
const SLACK_MS = 2 * MINUTE_MS;

export function* judgeStops(job: JobHistory): Iterable<string> {
  const rules = job.versions.flatMap(({ definition }) => (definition === null ? [] : [definition.policy.stop]));
  const own = job.slotStarts.filter(({ source }) => source !== "manual").map(({ startedAt }) => startedAt);
  const starts: readonly EpochMs[] = [...job.starts.values(), ...own];
  // With a definition that asks for less, or nothing, nobody can tell which run it was that counted.
  const [first] = rules;
  if (first === undefined || rules.some((rule) => JSON.stringify(rule) !== JSON.stringify(first))) return;
  const { afterRuns, at } = first;
  // Whoever resumes it lets it begin as many again.
  const most = afterRuns === null ? Number.POSITIVE_INFINITY : afterRuns * Math.max(1, job.stops);
  if (starts.length > most) yield `${job.identity} began ${starts.length} runs, and is to stop after ${afterRuns}`;
  const late = at === null ? undefined : starts.find((startedAt) => startedAt > at + SLACK_MS);
  if (at !== null && late !== undefined) {
    yield `${job.identity} began at ${formatInstant(late)}, and has ended at ${formatInstant(at)}`;
  }
}
