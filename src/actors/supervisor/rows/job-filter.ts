/** Which jobs a question means, told from their status: what the index is held against, and all there is without a daemon. */
import { type IdentityFilter, identityFilter } from "../../../core/job/identity-glob.js";
import { isFailing, type Signs } from "../../../core/state/ending.js";
import { parseInstant } from "../../../core/time/instant.js";
import type { StoredVersion } from "../../../persist/store.js";
import type { JobStatus } from "../port.js";
import { calledIn, type ListFilter } from "./job-query.js";

/** Whether a job is one of those: all that can be said without its definition. */
export type IsWanted = (row: JobStatus) => boolean;

export function wantedBy(filter: ListFilter): IsWanted {
  const { identities, standings, search = "" } = filter;
  const called = calledIn(filter);
  const isNamed: IdentityFilter = identities.length === 0 ? () => true : identityFilter(identities);
  return (row) => {
    const { identity, standing } = row;
    if (!isNamed(identity) || !(identity.includes(search) || called.has(identity))) return false;
    return (standings.length === 0 || standings.includes(standing)) && isAsItShould(row, filter);
  };
}

function isAsItShould(row: JobStatus, filter: ListFilter): boolean {
  const { isFailing: mustFail, isRunning: mustRun, outcomes = [], dueBy } = filter;
  if (mustFail === true && !isFailing(signsOf(row))) return false;
  if (mustRun === true && row.active.length === 0) return false;
  if (outcomes.length > 0 && !outcomes.some((outcome) => outcome === row.lastOutcome)) return false;
  if (dueBy === undefined) return true;
  const next = parseInstant(row.nextChosenTime ?? "");
  return row.standing === "enabled" && next.ok && next.value <= dueBy;
}

function signsOf({ lastRun, lastOutcome: outcome, startFailure }: JobStatus): Signs {
  return { result: lastRun?.result ?? null, outcome, hasStartFailure: startFailure !== null };
}

/** Whether a definition, as it is on record, has one of the tags. */
export function isTagged(version: StoredVersion | undefined, wanted: readonly string[]): boolean {
  if (version === undefined || version.text === null || !version.isIntact) return false;
  // What the daemon wrote itself.
  const { tags = [] } = JSON.parse(version.text) as { readonly tags?: readonly string[] };
  return wanted.some((tag) => tags.includes(tag));
}
