/** S16: what a reload would change, computed without changing anything. */
import { decide } from "../../core/decision/decide.js";
import type { CompiledRule } from "../../core/decision/model.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { definitionToRaw } from "../../core/job/schema.js";
import { nextPeriod, planOnReturn } from "../../core/periods.js";
import { dueAt } from "../../core/policy.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { isSameDefinition } from "./job-entry.js";
import type { ChangedJob, PlanReport } from "./port.js";

export interface Difference {
  readonly added: readonly JobDefinition[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly before: JobDefinition; readonly after: JobDefinition }[];
  readonly unchanged: number;
}

/** `inForce` are the definitions now; `kept` stay whatever the new set says. */
export function differenceOf(
  inForce: ReadonlyMap<string, JobDefinition>,
  wanted: readonly JobDefinition[],
  kept: ReadonlySet<string>,
): Difference {
  const added: JobDefinition[] = [];
  const changed: { before: JobDefinition; after: JobDefinition }[] = [];
  const seen = new Set<string>();
  let unchanged = 0;
  for (const after of wanted) {
    seen.add(after.identity);
    const before = inForce.get(after.identity);
    if (before === undefined) added.push(after);
    else if (isSameDefinition(before, after)) unchanged += 1;
    else changed.push({ before, after });
  }
  const removed = [...inForce.keys()].filter((identity) => !seen.has(identity) && !kept.has(identity));
  return { added, removed, changed, unchanged };
}

/**
 * The chosen time of the first unhandled period that is still to come: what lies behind is never moved into the future, nor
 * triggered by an edit (S14). Empty when it is unschedulable or there is none.
 */
function chosenText(compiled: CompiledRule, lastHandledAt: EpochMs | null, now: EpochMs): string {
  const { liveAt: firstAt } = planOnReturn(compiled, { lastHandledAt, definedAt: null }, now);
  const isBehind = firstAt !== null && dueAt(decide(compiled, firstAt)) < now;
  const liveAt = isBehind ? nextPeriod(compiled, firstAt) : firstAt;
  const chosenAt = liveAt === null ? null : decide(compiled, liveAt).chosenAt;
  return chosenAt === null ? "" : formatInstant(chosenAt);
}

function changedFields(before: JobDefinition, after: JobDefinition): string[] {
  const [one, other] = [definitionToRaw(before), definitionToRaw(after)] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...names].filter((name) => JSON.stringify(one?.[name]) !== JSON.stringify(other?.[name])).sort();
}

export interface ChangeInput {
  readonly before: JobDefinition;
  readonly after: JobDefinition;
  readonly compiledBefore: CompiledRule;
  readonly compiledAfter: CompiledRule;
  readonly lastHandledAt: EpochMs | null;
}

export function changedJob(
  { before, after, compiledBefore, compiledAfter, lastHandledAt }: ChangeInput,
  now: EpochMs,
): ChangedJob {
  const from = chosenText(compiledBefore, lastHandledAt, now);
  const to = chosenText(compiledAfter, lastHandledAt, now);
  const moves = from === to ? { movesFrom: null, movesTo: null } : { movesFrom: from, movesTo: to };
  return { identity: after.identity, fields: changedFields(before, after), ...moves };
}

export function planReport({ added, removed, unchanged }: Difference, changed: readonly ChangedJob[]): PlanReport {
  return { added: added.map(({ identity }) => identity), removed, changed, unchanged };
}
