/** What the store knows of a job's definition, and what takes its place when it knows nothing. */

import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { readJobDefinition } from "../../../core/job/schema.js";
import { storedDefinition } from "../../../core/job/stored.js";
import { carriedPeriod } from "../../../core/period/carry.js";
import { type StateDocument, standingOf } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { DefinitionVersion, StateReader } from "../../../persist/store.js";

/** The definition that came into force last. Versions never go back in time, so it is the newest one on record. */
export interface LastVersion {
  /** null: none is known, it is damaged, or this version of the program does not read it. */
  readonly definition: JobDefinition | null;
  readonly text: string | null;
  /** False: it does not match its checksum. An older one must not be taken in its place. */
  readonly isIntact: boolean;
  /** Whether the job is there; a removed one comes back with a version of its own. */
  readonly isInForce: boolean;
  readonly definedAt: EpochMs | null;
}

type Definitions = Pick<StateReader, "definitionVersions" | "newestVersion">;

export async function lastVersion(identity: string, store: Definitions): Promise<LastVersion> {
  const newest = await store.newestVersion(identity);
  const definedAt = newest?.definedAt ?? null;
  if (newest?.isIntact === false) return { definition: null, text: null, isIntact: false, isInForce: false, definedAt };
  const text = newest?.text === null ? await lastTextOf(identity, store) : (newest?.text ?? null);
  const isInForce = newest !== undefined && newest.text !== null;
  const definition = text === null ? null : storedDefinition(text);
  return { definition, text, isIntact: true, isInForce, definedAt };
}

/** Of a job that was removed. */
async function lastTextOf(identity: string, store: Definitions): Promise<string | null> {
  const versions = await store.definitionVersions(identity);
  return versions.findLast((version) => version.isIntact && version.text !== null)?.text ?? null;
}

/**
 * The version that follows. It is dated after the one before, also when the clock went back in between: otherwise the
 * older definition would be the one that is read from then on.
 */
export function versionAfter(
  last: LastVersion,
  identity: string,
  text: string | null,
  now: EpochMs,
): DefinitionVersion {
  return { identity, definedAt: last.definedAt === null ? now : Math.max(now, last.definedAt + 1), text };
}

/** S14: the period that was live under the definition of the last run, if the rule changed while nobody was there. */
export function carriedBy(before: JobDefinition | null, document: StateDocument, now: EpochMs): EpochMs | null {
  return before === null ? null : carriedPeriod(compileRule(before), standingOf(document), now);
}

/** For a job that is gone and whose definition nobody knows: enough of one to watch its runs to their end. */
export function placeholderDefinition(identity: string): JobDefinition {
  const read = readJobDefinition(
    { identity, schedule: "0 0 1 1 *", policy: { suspend: true }, command: ["/bin/true"] },
    undefined,
    { mayUseReservedPrefix: true },
  );
  if (!read.ok) throw new Error(`invariant broken: no placeholder for ${identity}: ${read.error[0]?.message}`);
  return read.value;
}
