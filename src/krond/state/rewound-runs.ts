/**
 * What a rewind does with the records of runs: a period that counts as not handled again is claimed again, and the record
 * of the run it had would refuse that (S23). It stays on record under another name.
 */
import { runKind } from "../../actors/supervisor/write/ledger-text.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Batch, LedgerKey, LedgerRecord, StateReader, StoredRecord } from "../../persist/store.js";

/** The source that these runs have from then on. */
const REWOUND = "rewound";
const PAGE = 1_000;

/** Runs of the job's own periods after an instant, moved aside. */
export async function rewoundRuns(
  reader: StateReader,
  identity: string,
  afterAt: EpochMs,
): Promise<Required<Pick<Batch, "ledger" | "removed">>> {
  const runs = (await recordsAfter(reader, identity, afterAt)).filter(({ kind }) => kind === runKind(null));
  return {
    ledger: runs.filter(({ isIntact }) => isIntact).map(renamed),
    removed: { ledger: runs.map(({ at, kind }): LedgerKey => ({ identity, at, kind })) },
  };
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
  const content = { ...(JSON.parse(text) as object), source: REWOUND };
  return { identity, at, kind: runKind(REWOUND), text: JSON.stringify(content) };
}
