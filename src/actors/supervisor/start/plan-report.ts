/** S16: what a reload would change, computed without changing anything. */
import { decide } from "../../../core/decision/decide.js";
import type { CompiledRule } from "../../../core/decision/model.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { definitionToRaw } from "../../../core/job/schema.js";
import { dueAt } from "../../../core/period/occasion.js";
import { nextPeriod, planOnReturn } from "../../../core/period/periods.js";
import { type EpochMs, formatInstant } from "../../../core/time/instant.js";
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
  readonly unchanged: number;
}

/** Jobs looked at before everything else has its turn. */
const PER_TURN = 2_000;

/** `kept` stay whatever the new set says, also where it has nothing of them. */
export async function differenceOf(rows: JobRows, wanted: WantedJobs, kept: readonly string[]): Promise<Difference> {
  const [added, changed, removed]: [number[], number[], TimelineHandle[]] = [[], [], []];
  const seen = new Uint8Array(rows.names.handleEnd);
  let unchanged = 0;
  const see = (handle: TimelineHandle | null): boolean => {
    if (handle === null || rows.isRemoved(handle)) return false;
    seen[handle] = 1;
    return true;
  };
  for (let index = 0; index < wanted.size; index++) {
    const handle = rows.names.handleOf(wanted.identityAt(index));
    if (handle === null || !see(handle)) added.push(index);
    else if (rows.hasContent(handle, wanted.contentHashAt(index))) unchanged += 1;
    else changed.push(index);
    if (index % PER_TURN === PER_TURN - 1) await turnOfLoop();
  }
  for (const identity of kept) {
    if (wanted.indexOf(identity) < 0 && see(rows.names.handleOf(identity))) unchanged += 1;
  }
  for (const handle of rows.handles()) if (seen[handle] !== 1 && !rows.isRemoved(handle)) removed.push(handle);
  return { added, changed, removed, unchanged };
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
