/** Reading a store on a server. Each answer is as of one instant; what is asked for in one turn is asked in one statement. */
import type { StoredJob } from "../../core/restart/resting.js";
import type { EpochMs } from "../../core/time/instant.js";
import { ANY_POOL, type Shard } from "../cluster.js";
import { ALL_KEYS, type KeyRange } from "../key-range.js";
import type { DocumentKey } from "../keys.js";
import {
  type AliveSpan,
  type DocumentEntry,
  type LedgerCursor,
  type LedgerPage,
  type Note,
  type ObjectsAsked,
  PAGE_SIZE,
  SLICE_JOBS,
  type StateReader,
  type StoreCounts,
  type StoredObject,
  type StoredRecord,
  type StoredVersion,
} from "../store.js";
import { storedJob } from "../stored-job.js";
import type { Queries } from "./connection.js";
import { Together } from "./together.js";
import { digitsOf, identityUuid, isWithin, keyOf, tailOfKey, uuidOfKey } from "./uuid.js";

export interface DocumentRow extends Readonly<Record<string, unknown>> {
  readonly key: string;
  readonly tail: string;
  readonly text: string;
}

/** Numbers of eight bytes come as texts. */
interface VersionRow extends Readonly<Record<string, unknown>> {
  readonly key: string;
  readonly defined_at: string;
  readonly identity: string;
  readonly text: string | null;
}

export interface RecordRow extends Readonly<Record<string, unknown>> {
  readonly key: string;
  readonly at: string;
  readonly kind: string;
  readonly identity: string;
  readonly text: string;
}

interface JobRow extends Readonly<Record<string, unknown>> {
  readonly key: string;
  readonly tail: string | null;
  readonly document_text: string | null;
  readonly defined_at: string | null;
  readonly identity: string | null;
  readonly definition_text: string | null;
}

/** Behind every instant that there is. */
const LAST_AT = "9223372036854775807";
const BEFORE_KINDS = "";

export function toDocument({ key, tail, text }: DocumentRow): DocumentEntry {
  return { key: keyOf(key, tail), text, isIntact: true };
}

function toVersion({ identity, defined_at, text }: VersionRow): StoredVersion {
  return { identity, definedAt: Number(defined_at), text, isIntact: true };
}

export function toRecord({ identity, at, kind, text }: RecordRow): StoredRecord {
  return { identity, at: Number(at), kind, text, isIntact: true };
}

function toJob(row: JobRow): StoredJob {
  const { key, tail, document_text: text, identity, defined_at, definition_text } = row;
  const document = tail === null || text === null ? null : toDocument({ key, tail, text });
  const version = identity === null ? null : { identity, definedAt: Number(defined_at), text: definition_text };
  return storedJob(document, version === null ? null : { ...version, isIntact: true }, digitsOf(key));
}

/** What is asked for by name, put together by turns, of all views together. */
interface Lookups {
  readonly documents: Together<string, DocumentEntry>;
  readonly versions: Together<string, StoredVersion>;
  /** By the key of an identity: where it lies by what is wanted now. */
  readonly shards: Together<string, PlacedShard>;
}

/** A shard, and how many its pool has. */
interface PlacedShard extends Shard {
  readonly shards: number;
}

/** What all views of one opened store share. */
export interface Opening {
  /** What the store is called. */
  readonly place: string;
  readonly storeId: string;
  readonly queries: Queries;
  readonly lookups: Lookups;
  readonly close: () => Promise<void>;
  isClosed: boolean;
}

export function openingOf(place: string, storeId: string, queries: Queries, close: () => Promise<void>): Opening {
  return { place, storeId, queries, lookups: lookupsOf(queries), close, isClosed: false };
}

function lookupsOf(queries: Queries): Lookups {
  const documents = new Together<string, DocumentEntry>(async (keys) => {
    const text = "select key, tail, text from kron.document where key = any ($1)";
    const rows = await queries.rows<DocumentRow>(text, [keys]);
    return new Map(rows.map((row) => [digitsOf(row.key), toDocument(row)]));
  });
  const versions = new Together<string, StoredVersion>(async (keys) => {
    const text =
      "select v.* from unnest($1::uuid[]) as asked (key) cross join lateral (select key, defined_at, identity, text " +
      "from kron.definition d where d.key = asked.key order by defined_at desc limit 1) v";
    const rows = await queries.rows<VersionRow>(text, [keys]);
    return new Map(rows.map((row) => [digitsOf(row.key), toVersion(row)]));
  });
  const shards = new Together<string, PlacedShard>(async (keys) => {
    const text =
      "select a.key, p.name as pool, p.shards, kron.shard_number(a.key, p.shards) as number from unnest($1::uuid[]) as a (key) " +
      "left join kron.wanted w on w.key = a.key join kron.pool p on p.name = coalesce(w.pool, 'any')";
    const rows = await queries.rows<PlacedShard & { key: string } & Readonly<Record<string, unknown>>>(text, [keys]);
    return new Map(rows.map(({ key, pool, number, shards }) => [digitsOf(key), { pool, number, shards }]));
  });
  return { documents, versions, shards };
}

/** Where a job lies by what is wanted now. */
export async function placedShard({ lookups, place }: Opening, identity: string): Promise<PlacedShard> {
  const found = await lookups.shards.get(identityUuid(identity));
  if (found === undefined) throw new Error(`invariant broken: ${place} has no pool ${ANY_POOL}`);
  return found;
}

export class PostgresReader implements StateReader {
  readonly storeId: string;
  /** The checksums of a server are those of its pages, and none of its business with us. */
  readonly isChecked = false;
  readonly source = null;
  readonly range: KeyRange;
  readonly opening: Opening;
  /** Of which pool the keys are, and whose times of being alive; null: all of them. */
  protected readonly shard: Shard | null;

  constructor(opening: Opening, range: KeyRange = ALL_KEYS, shard: Shard | null = null) {
    this.opening = opening;
    this.range = range;
    this.shard = shard;
    this.storeId = opening.storeId;
  }

  inRange(range: KeyRange): StateReader {
    return new PostgresReader(this.opening, range, this.shard);
  }

  /** What nobody wants in another pool belongs to any. */
  #isOurs(table: "document" | "definition" | "ledger"): string {
    const within = isWithin(`${table}.key`, this.range);
    if (this.shard === null) return within;
    const { pool } = this.shard;
    const wanted = `(select from kron.wanted w where w.key = ${table}.key and w.pool`;
    return pool === ANY_POOL
      ? `${within} and not exists ${wanted} <> 'any')`
      : `${within} and exists ${wanted} = '${pool}')`;
  }

  protected queries(): Queries {
    if (this.opening.isClosed) throw new Error("invariant broken: a closed store was used");
    return this.opening.queries;
  }

  async get(identity: string): Promise<DocumentEntry | undefined> {
    this.queries();
    return this.opening.lookups.documents.get(identityUuid(identity));
  }

  async bytes(key: DocumentKey): Promise<Buffer | undefined> {
    const text = "select text from kron.document where key = $1 and tail = $2";
    const [row] = await this.queries().rows<DocumentRow>(text, [uuidOfKey(key), tailOfKey(key)]);
    return row === undefined ? undefined : Buffer.from(row.text);
  }

  async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
    const select = `select key, tail, text from kron.document where ${this.#isOurs("document")}`;
    for (let after: string | null = null; ; ) {
      const page: readonly DocumentRow[] = await this.#pageAfter<DocumentRow>(select, after, PAGE_SIZE);
      if (page.length > 0) yield page.map(toDocument);
      if (page.length < PAGE_SIZE) return;
      after = page.at(-1)?.key ?? null;
    }
  }

  #pageAfter<R extends DocumentRow>(select: string, after: string | null, limit: number): Promise<readonly R[]> {
    const behind = after === null ? "" : `and key > '${after}'`;
    return this.queries().rows<R>(`${select} ${behind} order by key limit ${limit}`);
  }

  /** Of each table the first keys: the first of both together are among them. */
  async *jobs(): AsyncGenerator<readonly StoredJob[]> {
    for (let after: string | null = null; ; ) {
      const behind: string = after === null ? "" : ` and key > '${after}'`;
      const page: readonly JobRow[] = await this.queries().rows<JobRow>(
        `select key, d.tail, d.text as document_text, v.defined_at, v.identity, v.text as definition_text
         from (select key, tail, text from kron.document
               where ${this.#isOurs("document")}${behind} order by key limit ${SLICE_JOBS}) d
         full join (select distinct on (key) key, defined_at, identity, text from kron.definition
                    where ${this.#isOurs("definition")}${behind} order by key, defined_at desc limit ${SLICE_JOBS}) v using (key)
         order by key limit ${SLICE_JOBS}`,
      );
      if (page.length > 0) yield page.map(toJob);
      if (page.length < SLICE_JOBS) return;
      after = page.at(-1)?.key ?? null;
    }
  }

  async ledgerLatest(identity: string, limit: number, before?: EpochMs): Promise<readonly StoredRecord[]> {
    const text =
      "select key, at, kind, identity, text from kron.ledger where key = $1 and at < $2 order by at desc, kind desc limit $3";
    const values = [identityUuid(identity), before ?? LAST_AT, limit];
    return (await this.queries().rows<RecordRow>(text, values)).map(toRecord);
  }

  async ledgerScan(cursor: LedgerCursor | null, limit: number): Promise<LedgerPage> {
    const [key, at, kind = BEFORE_KINDS] = cursor?.split("/") ?? [];
    const before = cursor === null ? "" : "and (key, at, kind) < ($1, $2, $3)";
    const text = `select key, at, kind, identity, text from kron.ledger where ${this.#isOurs("ledger")} ${before}
      order by key desc, at desc, kind desc limit ${limit}`;
    const rows = await this.queries().rows<RecordRow>(text, cursor === null ? [] : [key, at, kind]);
    const last = rows.at(-1);
    const isEnd = last === undefined || rows.length < limit;
    return { records: rows.map(toRecord), next: isEnd ? null : `${last.key}/${last.at}/${last.kind}` };
  }

  async newestVersion(identity: string): Promise<StoredVersion | undefined> {
    this.queries();
    return this.opening.lookups.versions.get(identityUuid(identity));
  }

  async definitionVersions(identity: string): Promise<readonly StoredVersion[]> {
    const text = "select key, defined_at, identity, text from kron.definition where key = $1 order by defined_at";
    return (await this.queries().rows<VersionRow>(text, [identityUuid(identity)])).map(toVersion);
  }

  async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
    const select = `select key, defined_at, identity, text from kron.definition where ${this.#isOurs("definition")}`;
    for (let before: readonly string[] = []; ; ) {
      const behind = before.length === 0 ? "" : "and (key, defined_at) < ($1, $2)";
      const text = `${select} ${behind} order by key desc, defined_at desc limit ${PAGE_SIZE}`;
      const page: readonly VersionRow[] = await this.queries().rows<VersionRow>(text, before);
      const last = page.at(-1);
      if (last !== undefined) yield page.map(toVersion);
      if (last === undefined || page.length < PAGE_SIZE) return;
      before = [last.key, last.defined_at];
    }
  }

  /** Of a store that several nodes had: those of the shard that the job lies in now, and those of daemons that were alone. */
  async aliveSpans(identity: string | null, from: EpochMs, to: EpochMs): Promise<readonly AliveSpan[]> {
    const shard = this.shard ?? (identity === null ? null : await placedShard(this.opening, identity));
    const whose = shard === null ? "" : "and (number = -1 or (pool = $3 and number = $4))";
    const text = `select from_at, max(until_at) as until_at from kron.tenure where from_at < $1 and until_at >= $2 ${whose}
      group by from_at order by from_at`;
    const values = [to, from, ...(shard === null ? [] : [shard.pool, shard.number])];
    const rows = await this.queries().rows<{ from_at: string; until_at: string }>(text, values);
    return rows.map(({ from_at, until_at }) => ({ bootedAt: Number(from_at), at: Number(until_at) }));
  }

  async meta(key: string): Promise<string | undefined> {
    const [row] = await this.queries().rows<{ text: string }>("select text from kron.note where key = $1", [key]);
    return row?.text;
  }

  async notes(): Promise<readonly Note[]> {
    return this.queries().rows<{ key: string; text: string }>("select key, text from kron.note order by key");
  }

  async object(key: string): Promise<StoredObject | undefined> {
    const [row] = await this.queries().rows<{ text: string }>("select text from kron.object where key = $1", [key]);
    return row === undefined ? undefined : { key, text: row.text, isIntact: true };
  }

  async objects({ prefix, after = "", limit }: ObjectsAsked): Promise<readonly StoredObject[]> {
    const text = "select key, text from kron.object where key > $1 and key >= $2 and key < $3 order by key limit $4";
    const values = [after, prefix, `${prefix}\x7f`, limit];
    const rows = await this.queries().rows<{ key: string; text: string }>(text, values);
    return rows.map((row) => ({ ...row, isIntact: true }));
  }

  async counts(): Promise<StoreCounts> {
    const tables = ["document", "ledger", "definition"] as const;
    const counts = tables.map(
      (table) => `(select count(*) from kron.${table} where ${this.#isOurs(table)}) as ${table}`,
    );
    const text = `select ${counts.join(", ")}`;
    const [row] = await this.queries().rows<{ document: string; ledger: string; definition: string }>(text);
    const { document = 0, ledger = 0, definition = 0 } = row ?? {};
    return { documents: Number(document), ledger: Number(ledger), definitions: Number(definition) };
  }

  async size(): Promise<number> {
    const tables = "select oid from pg_class where relnamespace = 'kron'::regnamespace and relkind in ('r', 'm')";
    const [row] = await this.queries().rows<{ bytes: string | null }>(
      `select sum(pg_total_relation_size(oid)) as bytes from (${tables}) as tables`,
    );
    return Number(row?.bytes ?? 0);
  }

  async close(): Promise<void> {
    if (this.opening.isClosed) return;
    this.opening.isClosed = true;
    await this.opening.close();
  }
}
