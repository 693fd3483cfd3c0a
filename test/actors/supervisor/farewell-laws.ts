/**
 * What a daemon leaves of its jobs is what reading all of them would have found: of each that is said to rest, at any
 * instant from then on, and nobody who is on record is missing.
 */
import { readFarewell } from "../../../src/actors/supervisor/start/farewell.js";
import { contentAt, glanceAt, identityAt, instantAt, standingAt } from "../../../src/actors/supervisor/start/survey.js";
import { MARK } from "../../../src/core/restart/glance.js";
import { type PlannedRow, planJob } from "../../../src/core/restart/resting.js";
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import type { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";

const LATER_MS = [0, SECOND_MS, 20 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS, 50 * HOUR_MS];

type Kept = Omit<PlannedRow, "trouble" | "identity">;

/** Nothing of the disk is changed by it. */
export async function farewellViolations(disk: MemoryDisk, leftAt: EpochMs): Promise<string[]> {
  const { farewell } = disk;
  if (farewell === null) return [];
  const violations: string[] = [];
  for (const laterMs of LATER_MS) violations.push(...(await violationsAt(disk, farewell, leftAt + laterMs)));
  disk.farewell = farewell;
  return violations;
}

async function violationsAt(disk: MemoryDisk, farewell: Buffer, now: EpochMs): Promise<string[]> {
  const left = readFarewell(Buffer.from(farewell), now);
  if (left === null) return ["what was left cannot be read"];
  const read = await rowsOf(disk, now);
  const violations: string[] = [];
  const { page, unsaid } = left;
  let from = 0;
  const told = new Set(unsaid);
  for (let index = 0; index < page.count; index++) {
    const identity = identityAt(page, from, page.identityEnds[index] as number);
    from = page.identityEnds[index] as number;
    told.add(identity);
    const found = read.get(identity);
    const kept: Kept = {
      standing: standingAt(page, index),
      contentHash: contentAt(page, index),
      liveAt: instantAt(page.liveAt, index),
      wakeAt: instantAt(page.wakeAt, index),
      glance: glanceAt(page, index),
    };
    const isSame = found !== undefined && (isAsGood(kept, keptOf(found)) || isTold(disk, found, kept));
    if (kept.standing === "QUIET" && !isSame) {
      violations.push(`${identity} at ${now}: left ${JSON.stringify(kept)}, on record ${JSON.stringify(found)}`);
    }
  }
  for (const [identity, { standing }] of read) {
    if (standing !== "GONE" && !told.has(identity)) violations.push(`${identity} is ${standing}, and was not told of`);
  }
  return violations;
}

function keptOf({ standing, contentHash, liveAt, wakeAt, glance }: PlannedRow): Kept {
  return { standing, contentHash, liveAt, wakeAt, glance };
}

/**
 * What the clock alone makes another is as old as it would be if the daemon had gone on: whoever asks reads it anew, and a
 * job that is held is called when it would have been, which is at another time than a fresh look has it.
 */
function isAsGood(kept: Kept, found: Kept): boolean {
  const { glance } = kept;
  if (glance === null || (glance.marks & MARK.loose) === 0) return JSON.stringify(kept) === JSON.stringify(found);
  return timeless(kept) === timeless(found) && (kept.wakeAt === null) === (found.wakeAt === null);
}

/**
 * A start that looks at everything tells again of what was left out before the period that is to come, and, in the second of
 * the definition, of the one that lay before it (S14).
 */
function isTold(disk: MemoryDisk, { identity, standing }: PlannedRow, { liveAt }: Kept): boolean {
  const told = [...(disk.ledger.get(identity)?.values() ?? [])].flatMap(({ kind, at, text }) => {
    const { last, reason } = JSON.parse(text) as { readonly last?: string; readonly reason?: string };
    if (kind === "gap" && last !== undefined) return Date.parse(last);
    return kind === "period" && reason === "before_definition" ? at : [];
  });
  return standing === "STEP" && told.some((at) => at < (liveAt ?? Number.POSITIVE_INFINITY));
}

function timeless({ standing, contentHash, glance }: Kept): string {
  return JSON.stringify({ standing, contentHash, glance: { ...glance, second: 0 } });
}

async function rowsOf(disk: MemoryDisk, now: EpochMs): Promise<Map<string, PlannedRow>> {
  const term = requireOk(acquireMemoryLock(disk));
  const store = requireOk(openMemoryStore(term, disk));
  const rows = new Map<string, PlannedRow>();
  for await (const slice of store.jobs()) {
    for (const job of slice) {
      const row = planJob(job, { now, isChecked: false, isCurrent: false });
      rows.set(row.identity, row);
    }
  }
  await store.close();
  term.release();
  return rows;
}
