/** What a set of jobs changes, told as a plan of a reload is (S16), and what of it runs: by what is on record. */

import type { ChangedJob, PlanReport } from "../../actors/supervisor/port.js";
import { changedJob, ruleOf } from "../../actors/supervisor/start/plan-report.js";
import { inTurns } from "../../actors/turns.js";
import { compareNames } from "../../core/base/identity.js";
import { storedDefinition } from "../../core/job/stored.js";
import { activeStates, newDocument, type StateDocument, standingOf } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import type { Comparison, Wish } from "./apply.js";

export async function plannedChanges(
  reader: StateReader,
  { jobs }: Wish,
  { applied, before }: Comparison,
  now: EpochMs,
): Promise<PlanReport> {
  const { added, removed, unchanged, moving } = applied;
  // What an apply that was broken off has taken out comes in again.
  const out = moving.filter((identity) => !before.has(identity));
  const changed: ChangedJob[] = [];
  const differing = jobs.filter(({ identity }) => before.has(identity));
  await inTurns(differing, async ({ identity, text }) => {
    const was = storedDefinition(before.get(identity)?.text ?? text);
    const becomes = storedDefinition(text);
    if (becomes === null) throw new Error(`invariant broken: ${identity} was read and cannot be read again`);
    const standing = standingOf(await documentOf(reader, identity));
    const input = { before: ruleOf(was ?? becomes), after: ruleOf(becomes), standing, policy: becomes.policy };
    changed.push(changedJob(input, now));
  });
  changed.sort((one, other) => compareNames(one.identity, other.identity));
  return { added: [...added, ...out].sort(compareNames), removed, changed, unchanged };
}

/** Which of them have runs that go on. */
export async function runningOf(reader: StateReader, identities: readonly string[]): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  await inTurns(identities, async (identity) => {
    if (activeStates(await documentOf(reader, identity)).length > 0) running.add(identity);
  });
  return running;
}

/** One that cannot be read is the business of whoever looks after the job. */
async function documentOf(reader: StateReader, identity: string): Promise<StateDocument> {
  const entry = await reader.get(identity);
  const parsed = entry === undefined ? null : parseDocument(entry.text, entry.key);
  return parsed?.ok === true ? parsed.value : newDocument(identity);
}
