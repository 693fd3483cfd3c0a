/**
 * What a simulated machine keeps when its process dies, and the faults it may show. A disk outlives the stores opened on
 * it: closing, crashing and opening again is how tests restart the world.
 */
import type { DocumentKey } from "../keys.js";
import type { AliveSpan, Batch, DefinitionVersion, LedgerKey, LedgerRecord, ObjectWrite } from "../store.js";

export interface StoredDocument {
  readonly text: string;
  readonly isIntact: boolean;
}

/**
 * What happens instead of the next commit. `isDurable` says what the disk holds afterwards: a failed sync and a crash
 * leave that open, so both answers must be survived.
 */
export type CommitFault =
  | { readonly kind: "fail"; readonly errno: "EIO" | "ENOSPC"; readonly isDurable: boolean }
  | { readonly kind: "crash"; readonly isDurable: boolean };

/** Asked before each commit, which are counted from 1 over the life of the disk. null: the commit goes well. */
export type FaultPlan = (commit: number, group: readonly Batch[]) => CommitFault | null;

export class MemoryDisk {
  readonly storeId: string;
  readonly documents = new Map<DocumentKey, StoredDocument>();
  /** By identity, then by `at/kind`. */
  readonly ledger = new Map<string, Map<string, LedgerRecord>>();
  /** By identity, then by `definedAt`. */
  readonly definitions = new Map<string, Map<number, DefinitionVersion>>();
  readonly notes = new Map<string, string>();
  readonly objects = new Map<string, string>();
  readonly alive = new Map<number, AliveSpan>();
  isLoading = false;
  /** What the last store that was closed has left; whatever is written after it ends it. */
  farewell: Buffer | null = null;
  commits = 0;
  faults: FaultPlan = () => null;
  /** Called when a fault crashes the process: its commit settles never, and its store answers nothing any more. */
  onCrash: () => void = () => undefined;

  constructor(storeId = "memory") {
    this.storeId = storeId;
  }

  takeFarewell(): Buffer | null {
    const left = this.farewell;
    this.farewell = null;
    return left;
  }

  apply(batch: Batch): void {
    this.farewell = null;
    this.#remove(batch.removed ?? {});
    for (const { key, text } of batch.documents ?? []) {
      if (text === null) this.documents.delete(key);
      else this.documents.set(key, { text, isIntact: true });
    }
    for (const it of batch.ledger ?? []) inner(this.ledger, it.identity).set(`${it.at}/${it.kind}`, it);
    for (const it of batch.definitions ?? []) inner(this.definitions, it.identity).set(it.definedAt, it);
    put(this.notes, batch.meta ?? []);
    put(this.objects, batch.objects ?? []);
    if (batch.alive !== undefined) this.alive.set(batch.alive.bootedAt, batch.alive);
  }

  hasRecord({ identity, at, kind }: LedgerKey): boolean {
    return this.ledger.get(identity)?.has(`${at}/${kind}`) === true;
  }

  /** A flipped bit. */
  damage(key: DocumentKey, text: string): void {
    this.farewell = null;
    this.documents.set(key, { text, isIntact: false });
  }

  #remove(removed: NonNullable<Batch["removed"]>): void {
    for (const it of removed.ledger ?? []) this.ledger.get(it.identity)?.delete(`${it.at}/${it.kind}`);
    for (const it of removed.definitions ?? []) this.definitions.get(it.identity)?.delete(it.definedAt);
    for (const bootedAt of removed.alive ?? []) this.alive.delete(bootedAt);
  }
}

function put(texts: Map<string, string>, writes: readonly ObjectWrite[]): void {
  for (const { key, text } of writes) {
    if (text === null) texts.delete(key);
    else texts.set(key, text);
  }
}

function inner<K, V>(outer: Map<string, Map<K, V>>, identity: string): Map<K, V> {
  const found = outer.get(identity);
  if (found !== undefined) return found;
  const created = new Map<K, V>();
  outer.set(identity, created);
  return created;
}
