/** S16: what a reload would change, computed without changing anything. */
import { isEndpoint } from "../../../core/base/identity.js";
import { compileRule } from "../../../core/decision/compile.js";
import { decide } from "../../../core/decision/decide.js";
import type { JobDefinition, Policy } from "../../../core/job/definition.js";
import { definitionToRaw } from "../../../core/job/schema.js";
import { carriedPeriod } from "../../../core/period/carry.js";
import { cronOccasion } from "../../../core/period/occasion.js";
import { planOnReturn } from "../../../core/period/periods.js";
import { type JobStanding, verdict } from "../../../core/period/policy.js";
import { aheadOf, type OutlookRule } from "../../../core/restart/outlook.js";
import { type EpochMs, floorToSecond, formatInstant, formatSecond } from "../../../core/time/instant.js";
import type { TimelineHandle } from "../../timeline.js";
import { turnOfLoop } from "../../turns.js";
import type { ChangedJob } from "../port.js";
import type { JobRows } from "../rows/job-rows.js";
import type { WantedJobs } from "./wanted-jobs.js";

/** What differs, as places in the wanted set and as handles: names are looked up only where something is told of them. */
export interface Difference {
  /** Indexes of wanted jobs that are not in force. */
  readonly added: readonly number[];
  readonly changed: readonly number[];
  readonly removed: readonly TimelineHandle[];
  /** Names of those that would be removed and are to stay as they are (S35). */
  readonly kept: readonly string[];
  /** These included. */
  readonly unchanged: number;
}

/** Jobs looked at before everything else has its turn. */
const PER_TURN = 2_000;

/**
 * Jobs of which the new set has nothing are removed, but for those that `keeps` says stay whatever it says. Endpoints are no
 * concern of any set.
 */
export async function differenceOf(
  rows: JobRows,
  wanted: WantedJobs,
  keeps: (identity: string) => boolean,
): Promise<Difference> {
  const [added, changed, removed, kept]: [number[], number[], TimelineHandle[], string[]] = [[], [], [], []];
  const seen = new Uint8Array(rows.names.handleEnd);
  let unchanged = 0;
  for (let index = 0; index < wanted.size; index++) {
    const handle = rows.names.handleOf(wanted.identityAt(index));
    if (handle === null || rows.isRemoved(handle)) added.push(index);
    else {
      seen[handle] = 1;
      if (rows.hasContent(handle, wanted.contentHashAt(index))) unchanged += 1;
      else changed.push(index);
    }
    if (index % PER_TURN === PER_TURN - 1) await turnOfLoop();
  }
  for (const handle of rows.handles()) {
    if (seen[handle] === 1 || rows.isRemoved(handle)) continue;
    const identity = rows.names.identityOf(handle);
    if (isEndpoint(identity)) continue;
    if (keeps(identity)) kept.push(identity);
    else removed.push(handle);
  }
  return { added, changed, removed, kept, unchanged: unchanged + kept.length };
}

/** When the job runs next, of what is still to come. Empty when it is unschedulable or there is nothing left. */
function chosenText(rule: OutlookRule, standing: JobStanding, now: EpochMs): string {
  const chosenAt = aheadOf(rule, standing, now)?.chosenAt ?? null;
  return chosenAt === null ? "" : formatInstant(chosenAt);
}

/** S14: the period that is live under the old rule is carried over to the new one, which may have it due by now. */
function startsAtOnce({ before, after, standing, policy }: ChangeInput, now: EpochMs): boolean {
  const carriedAt = carriedPeriod(before.compiled, standing, now);
  const edited = { ...standing, definedAt: floorToSecond(now), carriedAt };
  const { liveAt } = planOnReturn(after.compiled, edited, now);
  if (liveAt === null || after.isSuspended) return false;
  const occasion = cronOccasion(decide(after.compiled, liveAt));
  return now >= occasion.dueAt && verdict(edited, occasion, policy, [], now).kind === "start";
}

function changedFields(before: JobDefinition, after: JobDefinition): string[] {
  const [one, other] = [definitionToRaw(before), definitionToRaw(after)] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...names].filter((name) => JSON.stringify(one?.[name]) !== JSON.stringify(other?.[name])).sort();
}

interface ChangeInput {
  readonly before: OutlookRule & { readonly definition: JobDefinition };
  readonly after: OutlookRule & { readonly definition: JobDefinition };
  /** As it is before the change. */
  readonly standing: JobStanding;
  /** Of the new definition. */
  readonly policy: Policy;
}

export function ruleOf(definition: JobDefinition): ChangeInput["before"] {
  return { definition, compiled: compileRule(definition), isSuspended: definition.policy.suspend };
}

export function changedJob(input: ChangeInput, now: EpochMs): ChangedJob {
  const { before, after, standing } = input;
  const from = chosenText(before, standing, now);
  const to = startsAtOnce(input, now) ? formatSecond(now) : chosenText(after, standing, now);
  const moves = from === to ? { movesFrom: null, movesTo: null } : { movesFrom: from, movesTo: to };
  const fields = changedFields(before.definition, after.definition);
  return { identity: after.definition.identity, fields, ...moves };
}
