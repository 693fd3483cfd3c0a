/**
 * Who has what a batch claims (`Batch.claims`). Looked up before anything is written: where one process writes, nothing can
 * come in between.
 */
import { nameOfRecord } from "./batch.js";
import type { Batch, Claim, LedgerKey } from "./store.js";

/** Of batches that are to become durable together. */
interface Admission<B extends Batch> {
  /** Those of which no claim was refused, in their order. */
  readonly admitted: readonly B[];
  /** For each batch the claims that somebody else has. */
  readonly refused: readonly (readonly Claim[])[];
}

const NOTHING: readonly Claim[] = [];

/** `isTaken`: whether there is a record of this name. Within the group the earlier batch has what both claim. */
export function admitted<B extends Batch>(group: readonly B[], isTaken: (key: LedgerKey) => boolean): Admission<B> {
  if (!group.some(hasClaims)) return { admitted: group, refused: group.map(() => NOTHING) };
  const written = new Set<string>();
  const refused = group.map((batch) => {
    const isAmong = (key: LedgerKey): boolean => written.size > 0 && written.has(nameOfRecord(key));
    const taken = (batch.claims ?? NOTHING).filter(({ key }) => isAmong(key) || isTaken(key));
    if (taken.length === 0 && group.length > 1) for (const it of batch.ledger ?? []) written.add(nameOfRecord(it));
    return taken;
  });
  return { admitted: group.filter((_, index) => refused[index]?.length === 0), refused };
}

function hasClaims({ claims = NOTHING }: Batch): boolean {
  return claims.length > 0;
}
