/**
 * One group of batches as one LMDB transaction. Everything is serialised and sorted first, because the binding commits
 * the half when the callback of a transaction throws: ours only hands over what is ready.
 */
import type { Database } from "lmdb";
import { checksumOfBytes, seedOfDocument, seedOfKey } from "../checksum.js";
import { admitted } from "../claims.js";
import { type DocumentKey, recordKey } from "../keys.js";
import type { Batch, Claim, DefinitionVersion, DocumentWrite } from "../store.js";
import { Arena } from "./arena.js";
import { commit } from "./commit.js";
import { aliveKey, type Databases, NOTE_PREFIX, OBJECT_PREFIX } from "./environment.js";

/** The writes of one database, column by column: thousands of small objects would cost more than the writes. */
class Writes<K extends string | Buffer> {
  readonly #keys: K[] = [];
  /** null removes the entry. */
  readonly #values: (Buffer | null)[] = [];
  readonly #sums: number[] = [];
  /** The first four bytes of the key, as a number. */
  readonly #ranks: number[] = [];

  put(key: K, value: Buffer, seed: number, rank: number): void {
    this.#add(key, value, checksumOfBytes(seed, value), rank);
  }

  remove(key: K, rank: number): void {
    this.#add(key, null, 0, rank);
  }

  handOver(database: Database<string, K>): void {
    for (const index of this.#order()) {
      const key = this.#keys[index] as K;
      const value = this.#values[index];
      if (value === null || value === undefined) database.remove(key);
      // The binding takes bytes where it would encode a text itself; its typings know texts only.
      else database.put(key, value as unknown as string, this.#sums[index] as number);
    }
  }

  #add(key: K, value: Buffer | null, sum: number, rank: number): void {
    this.#keys.push(key);
    this.#values.push(value);
    this.#sums.push(sum);
    this.#ranks.push(rank);
  }

  /**
   * Neighbours in key order lie on the same pages: fewer pages to copy and to sync. Later writes of the same key stay
   * later. Sorting plain numbers costs a tenth of comparing the keys.
   */
  #order(): Iterable<number> {
    const count = this.#keys.length;
    if (count >= MAX_SORTED) return this.#keys.keys();
    const order = Float64Array.from(this.#ranks, (rank, index) => rank * MAX_SORTED + index).sort();
    for (let index = 0; index < count; index += 1) order[index] = (order[index] as number) % MAX_SORTED;
    return order;
  }
}

const RANK_BYTES = 4;

/** Beyond so many writes rank and index no longer fit into one number; such a batch is sorted by its maker. */
const MAX_SORTED = 2 ** 21;

function rankOfDocument(key: DocumentKey): number {
  let rank = 0;
  for (let index = 0; index < RANK_BYTES; index += 1) rank = rank * 256 + key.charCodeAt(index);
  return rank;
}

class Group {
  readonly documents = new Writes<string>();
  readonly ledger = new Writes<Buffer>();
  readonly definitions = new Writes<Buffer>();
  readonly meta = new Writes<string>();
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  add(batch: Batch): void {
    if (batch.removed !== undefined) this.#remove(batch.removed);
    for (const it of batch.documents ?? []) this.#document(it);
    for (const it of batch.ledger ?? []) {
      const value = this.#arena.write(`${it.identity}\n`, it.text);
      this.#record(this.ledger, recordKey(it.identity, it.at, it.kind), value);
    }
    for (const it of batch.definitions ?? []) this.#definition(it);
    for (const it of batch.meta ?? []) this.note(NOTE_PREFIX + it.key, it.text);
    for (const it of batch.objects ?? []) this.note(OBJECT_PREFIX + it.key, it.text);
    if (batch.alive !== undefined) this.note(aliveKey(batch.alive.bootedAt), String(batch.alive.at));
  }

  /** An entry of the database `meta`, by its full key. */
  note(key: string, text: string | null): void {
    if (text === null) this.meta.remove(key, 0);
    else this.meta.put(key, this.#arena.write(text), seedOfKey(key), 0);
  }

  #document({ key, text }: DocumentWrite): void {
    const rank = rankOfDocument(key);
    if (text === null) this.documents.remove(key, rank);
    else this.documents.put(key, this.#arena.write(text), seedOfDocument(key), rank);
  }

  /** Without a line break behind the identity: the job was removed. */
  #definition({ identity, definedAt, text }: DefinitionVersion): void {
    const value = text === null ? this.#arena.write(identity) : this.#arena.write(`${identity}\n`, text);
    this.#record(this.definitions, recordKey(identity, definedAt), value);
  }

  #record(writes: Writes<Buffer>, key: Buffer, value: Buffer): void {
    writes.put(key, value, seedOfKey(key), key.readUInt32BE(0));
  }

  #remove(removed: NonNullable<Batch["removed"]>): void {
    for (const it of removed.ledger ?? []) this.#drop(this.ledger, recordKey(it.identity, it.at, it.kind));
    for (const it of removed.definitions ?? []) this.#drop(this.definitions, recordKey(it.identity, it.definedAt));
    for (const bootedAt of removed.alive ?? []) this.note(aliveKey(bootedAt), null);
  }

  #drop(writes: Writes<Buffer>, key: Buffer): void {
    writes.remove(key, key.readUInt32BE(0));
  }
}

async function write(databases: Databases, group: Group): Promise<void> {
  await commit(databases.root, () => {
    group.documents.handOver(databases.documents);
    group.ledger.handOver(databases.ledger);
    group.definitions.handOver(databases.definitions);
    group.meta.handOver(databases.meta);
  });
}

/** The claims of each batch that are refused; such a batch is left out. */
export async function writeGroup(
  databases: Databases,
  batches: readonly Batch[],
  arena: Arena,
): Promise<readonly (readonly Claim[])[]> {
  const group = new Group(arena);
  const { ledger } = databases;
  const admission = admitted(batches, ({ identity, at, kind }) => ledger.doesExist(recordKey(identity, at, kind)));
  for (const batch of admission.admitted) group.add(batch);
  if (admission.admitted.length > 0) await write(databases, group);
  // It is in the store. Of one that failed nothing is written over: the binding may be reading it.
  arena.empty();
  return admission.refused;
}

/** Entries about the store itself, which no batch can reach. null removes. */
export function writeMeta(databases: Databases, entries: readonly (readonly [string, string | null])[]): Promise<void> {
  const group = new Group(new Arena());
  for (const [key, text] of entries) group.note(key, text);
  return write(databases, group);
}
