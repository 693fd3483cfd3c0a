/**
 * What a group of batches comes to, as the arrays that `kron.apply` takes: of several writes of one thing the last one
 * counts. Sorted by their keys, so that neighbours on disk are written together.
 */
import { nameOfRecord } from "../batch.js";
import { ANY_POOL, type Shard } from "../cluster.js";
import type { Batch, DefinitionVersion, LedgerKey, LedgerRecord } from "../store.js";
import { arrayOf, type Element, type ElementType } from "./arrays.js";
import { identityUuid, tailOfKey, uuidOfKey } from "./uuid.js";

type Arrays = readonly (readonly Element[])[];

const RECORD_TYPES = ["uuid", "bigint", "text", "text", "text"] as const;
const TEXT_TYPES = ["text", "text", "text"] as const;
/** Those of the parameters of `kron.apply`, behind session, number and timeline. */
export const ARRAY_TYPES: readonly ElementType[] = [
  ...(["uuid", "uuid", "uuid", "text"] as const),
  ...RECORD_TYPES,
  "text",
  ...(["uuid", "bigint", "text"] as const),
  ...RECORD_TYPES,
  ...(["uuid", "bigint"] as const),
  ...(["uuid", "bigint", "text", "text"] as const),
  ...TEXT_TYPES,
  ...TEXT_TYPES,
  ...(["text", "bigint", "bigint"] as const),
  ...(["text", "bigint", "bigint", "bigint"] as const),
];

/** The shard of whoever looks after all of them. */
export const ALL_SHARDS: Shard = { pool: ANY_POOL, number: -1 };

/** A batch, and the shard of whoever commits it: its times of being alive are of that one. */
export interface ShardBatch extends Batch {
  readonly shard: Shard;
}

interface AliveEnd {
  readonly shard: Shard;
  readonly from: number;
  /** null: it is removed in the end. */
  readonly until: number | null;
}

interface LedgerEnd {
  readonly key: LedgerKey;
  /** null: it is removed in the end. */
  text: string | null;
  wasRemoved: boolean;
  token: string | null;
}

type Texts = Map<string, string | null>;

class Outcome {
  readonly documents: Texts = new Map();
  readonly notes: Texts = new Map();
  readonly objects: Texts = new Map();
  readonly ledger = new Map<string, LedgerEnd>();
  readonly definitions = new Map<string, Omit<DefinitionVersion, "text"> & { readonly text?: string | null }>();
  readonly alive = new Map<string, AliveEnd>();

  /** Within one batch removals come first. */
  add(batch: ShardBatch): void {
    const { removed = {}, ledger = [], claims = [], definitions = [], documents, meta, objects, alive } = batch;
    for (const key of removed.ledger ?? []) this.#record(key, null);
    for (const { identity, definedAt } of removed.definitions ?? []) {
      this.definitions.set(nameOfVersion(identity, definedAt), { identity, definedAt });
    }
    for (const bootedAt of removed.alive ?? []) this.#alive(batch.shard, bootedAt, null);
    put(this.documents, documents);
    put(this.notes, meta);
    put(this.objects, objects);
    for (const record of ledger) this.#record(record, record.text);
    for (const { key, token } of claims) this.#record(key).token = token;
    for (const it of definitions) this.definitions.set(nameOfVersion(it.identity, it.definedAt), it);
    if (alive !== undefined) this.#alive(batch.shard, alive.bootedAt, alive.at);
  }

  #alive(shard: Shard, from: number, until: number | null): void {
    this.alive.set(`${shard.pool} ${shard.number} ${from}`, { shard, from, until });
  }

  #record(key: LedgerKey, text?: string | null): LedgerEnd {
    const name = nameOfRecord(key);
    const end = this.ledger.get(name) ?? { key, text: null, wasRemoved: false, token: null };
    if (text !== undefined) end.text = text;
    if (text === null) end.wasRemoved = true;
    this.ledger.set(name, end);
    return end;
  }
}

function nameOfVersion(identity: string, definedAt: number): string {
  return `${identity}\n${definedAt}`;
}

function put(texts: Texts, writes: readonly { readonly key: string; readonly text: string | null }[] = []): void {
  for (const { key, text } of writes) texts.set(key, text);
}

function sorted<T>(items: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...items].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Names that go, then names and texts of those that stay. */
function textArrays(texts: Texts): readonly [gone: string[], keys: string[], texts: string[]] {
  const [gone, keys, kept]: [string[], string[], string[]] = [[], [], []];
  for (const [key, text] of sorted(texts)) {
    if (text === null) gone.push(key);
    else {
      keys.push(key);
      kept.push(text);
    }
  }
  return [gone, keys, kept];
}

function documentArrays(documents: Texts): Arrays {
  const [gone, keys, texts] = textArrays(documents);
  return [gone.map(uuidOfKey), keys.map(uuidOfKey), keys.map(tailOfKey), texts];
}

type Placed = LedgerRecord & { readonly uuid: string; readonly token: string | null };

function columnsOf(records: readonly Placed[]): Arrays {
  return [
    records.map(({ uuid }) => uuid),
    records.map(({ at }) => at),
    records.map(({ kind }) => kind),
    records.map(({ identity }) => identity),
    records.map(({ text }) => text),
  ];
}

function ledgerArrays(ledger: ReadonlyMap<string, LedgerEnd>): Arrays {
  const ends = sorted([...ledger.values()].map((end) => [identityUuid(end.key.identity), end] as const));
  const placed = (uuid: string, { key, text, token }: LedgerEnd): Placed => ({ ...key, text: text ?? "", uuid, token });
  const all = ends.map(([uuid, end]) => ({ end, record: placed(uuid, end) }));
  const claims = all.filter(({ end }) => end.token !== null).map(({ record }) => record);
  const gone = all.filter(({ end }) => end.wasRemoved).map(({ record }) => record);
  // What a claim has put there is put there again only if it was removed in between.
  const written = all.filter(({ end }) => end.text !== null && (end.token === null || end.wasRemoved));
  return [
    ...columnsOf(claims),
    claims.map(({ token }) => token),
    ...columnsOf(gone).slice(0, 3),
    ...columnsOf(written.map(({ record }) => record)),
  ];
}

function definitionArrays({ definitions }: Outcome): Arrays {
  const all = sorted([...definitions.values()].map((it) => [identityUuid(it.identity), it] as const));
  const gone = all.filter(([, { text }]) => text === undefined);
  const kept = all.filter(([, { text }]) => text !== undefined);
  return [
    gone.map(([uuid]) => uuid),
    gone.map(([, { definedAt }]) => definedAt),
    kept.map(([uuid]) => uuid),
    kept.map(([, { definedAt }]) => definedAt),
    kept.map(([, { identity }]) => identity),
    kept.map(([, { text = null }]) => text),
  ];
}

function spanArrays(spans: readonly AliveEnd[]): Arrays {
  return [spans.map(({ shard }) => shard.pool), spans.map(({ shard }) => shard.number), spans.map(({ from }) => from)];
}

function aliveArrays({ alive }: Outcome): Arrays {
  const spans = [...alive.values()];
  const kept = spans.filter(({ until }) => until !== null);
  const gone = spans.filter(({ until }) => until === null);
  return [...spanArrays(gone), ...spanArrays(kept), kept.map(({ until }) => until)];
}

/** null: nothing is to be written. */
export function arraysOf(group: readonly ShardBatch[]): readonly Buffer[] | null {
  const outcome = new Outcome();
  for (const batch of group) outcome.add(batch);
  const arrays = columnsOfAll(outcome);
  if (arrays.every((array) => array.length === 0)) return null;
  return ARRAY_TYPES.map((type, index) => arrayOf(type, arrays[index] ?? []));
}

function columnsOfAll(outcome: Outcome): Arrays {
  return [
    ...documentArrays(outcome.documents),
    ...ledgerArrays(outcome.ledger),
    ...definitionArrays(outcome),
    ...textArrays(outcome.notes),
    ...textArrays(outcome.objects),
    ...aliveArrays(outcome),
  ];
}

/** The instants that a group writes records about. */
export function instantsOf(group: readonly Batch[]): Set<number> {
  return new Set(group.flatMap(({ ledger = [] }) => ledger.map(({ at }) => at)));
}
