/** The status of all jobs from the store alone, while no daemon runs: what the last one knew and wrote. */

import { livenessOf } from "../../actors/process-identity.js";
import type { JobStatus } from "../../actors/supervisor/port.js";
import { comparisonOf } from "../../actors/supervisor/rows/job-order.js";
import { BY_NAME } from "../../actors/supervisor/rows/job-query.js";
import { recordedStatus } from "../../actors/supervisor/rows/recorded-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { storedDefinition } from "../../core/job/stored.js";
import { type ActiveState, activeStates, newDocument } from "../../core/state/document.js";
import type { EpochMs } from "../../core/time/instant.js";
import { currentDefinitions, type StateReader, type StoredVersion } from "../../persist/store.js";
import { documentOf } from "./why.js";

const byIdentity = comparisonOf(BY_NAME);

/** So many are put in order; of more, a page at a time is, in the order of the store. */
const SORTED_ROWS = 10_000;

/** A job whose document this version cannot use is left out, and told of. */
export async function* offlineStatuses(
  reader: StateReader,
  now: EpochMs,
  onUnusable: (error: KronError) => void,
): AsyncGenerator<readonly JobStatus[]> {
  let rows: JobStatus[] = [];
  for await (const page of currentDefinitions(reader)) {
    for (const version of page) {
      try {
        rows.push(...(await statusesOf(reader, version, now)));
      } catch (error) {
        if (!(error instanceof KronError)) throw error;
        onUnusable(error);
      }
    }
    if (rows.length < SORTED_ROWS) continue;
    yield rows.sort(byIdentity);
    rows = [];
  }
  yield rows.sort(byIdentity);
}

/** Of those of them that there are, as they are on record. */
export async function recordedStatuses(
  reader: StateReader,
  identities: readonly string[],
  now: EpochMs,
): Promise<readonly JobStatus[]> {
  const found = identities.map(async (identity) => {
    const version = await reader.newestVersion(identity);
    return version === undefined ? [] : statusesOf(reader, version, now);
  });
  return (await Promise.all(found)).flat();
}

async function statusesOf(reader: StateReader, { identity, text, isIntact }: StoredVersion, now: EpochMs) {
  const definition = text === null || !isIntact ? null : storedDefinition(text);
  if (definition === null) return [];
  const document = (await documentOf(reader, identity)) ?? newDocument(identity);
  const status = recordedStatus(definition, document, now);
  return [{ ...status, active: status.active.filter((_, index) => isAlive(activeStates(document)[index])) }];
}

/** S27: a process on record that nobody watches may have ended long ago. */
function isAlive(state: ActiveState | undefined): boolean {
  if (state?.PIDStartTicks === undefined || state.BootID === undefined) return false;
  return livenessOf({ pid: state.PID, startTicks: state.PIDStartTicks, bootId: state.BootID }) !== "gone";
}
