/** What refused the seconds of a window in which none was found: the draws of the decision on record, made again. */
import { compileRule } from "../decision/compile.js";
import { explainDecision } from "../decision/explain.js";
import type { DecisionRecord } from "../decision/model.js";
import { readDecisionRecord } from "../decision/record-reader.js";

/** Constraints that are named; there may be as many as a job has clauses. */
const NAMED = 3;

/** The one that refused most comes first. null: a second was found, or the record cannot be read. */
export function refusedBy(record: DecisionRecord | null): string | null {
  const read = record?.unschedulable === true ? readDecisionRecord(record) : null;
  if (read === null || !read.ok) return null;
  const { candidates } = explainDecision(compileRule(read.value.rule), read.value.nominalAt);
  const counts = new Map<string, number>();
  for (const { rejectedBy } of candidates) {
    // By another version of the zone's data it would have been found.
    if (rejectedBy === null) return null;
    const name = `${rejectedBy.set} ${rejectedBy.clauses}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const [only] = sorted;
  if (sorted.length === 1 && only !== undefined) return `all of them refused by ${only[0]}`;
  const named = sorted.slice(0, NAMED).map(([name, count]) => `${count} by ${name}`);
  const rest = sorted.slice(NAMED).reduce((sum, [, count]) => sum + count, 0);
  return `refused: ${[...named, ...(rest === 0 ? [] : [`${rest} by others`])].join(", ")}`;
}
