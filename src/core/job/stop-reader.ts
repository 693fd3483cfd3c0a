/** Reads what a job stops for by itself (S51). */
import type { Problem } from "../base/problem.js";
import { parseInstant, SECOND_MS } from "../time/instant.js";
import type { Policy, StopRule } from "./definition.js";
import type { PartialRawJob } from "./shape.js";

/** null: nothing. */
export function readStop({ stop }: PartialRawJob, problems: Problem[]): StopRule | null {
  if (stop === undefined) return null;
  const { after_failures: afterFailures = null, after_runs: afterRuns = null, at } = stop;
  if (afterFailures === null && afterRuns === null && at === undefined) {
    const hint = "write stop: { after_failures: 5 }, after_runs or at; or leave it out";
    problems.push({ code: "field-missing", message: "it stops for nothing", path: ["stop"], hint });
    return null;
  }
  return { afterFailures, afterRuns, at: at === undefined ? null : readEnd(at, problems) };
}

function readEnd(text: string, problems: Problem[]): number | null {
  const path = ["stop", "at"];
  const read = parseInstant(text);
  if (!read.ok) problems.push({ ...read.error, path });
  else if (read.value % SECOND_MS === 0) return read.value;
  else problems.push({ code: "instant-range", message: "a job ends at a whole second", path });
  return null;
}

export function withStop(policy: Policy, stop: StopRule | null): Policy {
  return stop === null ? policy : Object.freeze({ ...policy, stop: Object.freeze(stop) });
}
