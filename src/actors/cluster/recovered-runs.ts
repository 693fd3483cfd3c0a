/** What documents say of runs that this node has begun, for the keeper of a daemon that has just started (C14, S29). */
import type { JobDefinition } from "../../core/job/definition.js";
import { type ActiveState, activeStates, holderOf, type StateDocument } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import { knownInstant } from "../../core/time/instant.js";
import type { AttemptParams } from "../../machines/effects.js";
import type { ClusterMember } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";
import { adoptedOutput, type RunPlace } from "../supervisor/run/arm-request.js";
import type { AwayRun } from "../supervisor/run/away.js";
import { lastVersion } from "../supervisor/start/last-version.js";

/**
 * Of the whole store, before anything of it is looked after here. What cannot be read is the business of whoever looks after
 * the job (S32).
 */
export async function recordedRuns(
  member: Pick<ClusterMember, "documentsNaming" | "node">,
  store: Pick<StateReader, "definitionVersions" | "newestVersion">,
  place: RunPlace,
): Promise<readonly AwayRun[]> {
  const runs: AwayRun[] = [];
  for (const { key, text, isIntact } of await member.documentsNaming(member.node)) {
    const document = isIntact ? parseDocument(text, key) : null;
    if (document?.ok !== true) continue;
    const { definition } = await lastVersion(document.value.Identity, store);
    runs.push(...runsOfNode(document.value, definition, member.node, place));
  }
  return runs;
}

/** `definition`: null where nobody knows it any more; then the output of its runs is left as it is. */
export function runsOfNode(
  document: StateDocument,
  definition: JobDefinition | null,
  node: string,
  place: RunPlace,
): readonly AwayRun[] {
  return activeStates(document).flatMap((active) => {
    const { AttemptID: attemptId, Node, Confirmed = false } = active;
    // Whoever names the node of a run names the run.
    if (Node !== node || attemptId === undefined) return [];
    const output = definition === null ? null : adoptedOutput(definition, attemptOf(active, attemptId), place);
    return [{ identity: document.Identity, attemptId, holder: holderOf(active), output, hasBegun: Confirmed }];
  });
}

function attemptOf({ Source, PeriodID, ChosenTime }: ActiveState, attemptId: string): AttemptParams {
  const [slotAt, chosenAt] = [knownInstant(PeriodID), knownInstant(ChosenTime)];
  return { attemptId, source: Source ?? null, periodId: PeriodID, slotAt, chosenAt };
}
