/**
 * What a rewind does with the records of runs: a period that counts as not handled again is claimed again, and the record
 * of the run it had would refuse that (S23). It stays on record under another name.
 */
import { runKind } from "../../actors/supervisor/write/ledger-text.js";
import { REWOUND_SOURCE } from "../../core/state/definition-transitions.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Batch, LedgerKey, LedgerRecord, StateReader, StoredRecord } from "../../persist/store.js";

const PAGE = 1_000;

/** Runs of the job's own periods after an instant, and those of other slots (S40) that the clock has not reached, moved aside. */
export async function rewoundRuns(
  reader: StateReader,
  identity: string,
  afterAt: EpochMs,
  now: EpochMs,
): Promise<Required<Pick<Batch, "ledger" | "removed">>> {
  const later = await recordsAfter(reader, identity, Math.min(afterAt, now));
  const runs = later.filter(({ kind, at }) => (kind === runKind(null) ? at > afterAt : at > now && isSlotRun(kind)));
  return {
    ledger: runs.filter(({ isIntact }) => isIntact).map(renamed),
    removed: { ledger: runs.map(({ at, kind }): LedgerKey => ({ identity, at, kind })) },
  };
}

function isSlotRun(kind: string): boolean {
  return kind.startsWith(runKind("")) && kind !== runKind(REWOUND_SOURCE);
}

/** Also those of a period of which there are several. */
async function recordsAfter(reader: StateReader, identity: string, afterAt: EpochMs): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (let limit = PAGE; ; limit *= 2) {
    const newest = await reader.ledgerLatest(identity, limit);
    found.splice(0, found.length, ...newest.filter(({ at }) => at > afterAt));
    if (newest.length < limit || found.length < newest.length) return found;
  }
}

function renamed({ identity, at, text }: StoredRecord): LedgerRecord {
  const content = { ...(JSON.parse(text) as object), source: REWOUND_SOURCE };
  return { identity, at, kind: runKind(REWOUND_SOURCE), text: JSON.stringify(content) };
}
