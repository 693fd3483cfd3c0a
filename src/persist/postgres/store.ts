/** Writing to a store on a server: one statement a commit, fenced and numbered, sent again until its fate is known (C7, C9). */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { EpochMs } from "../../core/time/instant.js";
import { assertBatch } from "../batch.js";
import { admitted } from "../claims.js";
import type { Shard } from "../cluster.js";
import { CommitQueue } from "../commit-queue.js";
import { storeError, writeFailed } from "../failures.js";
import { type KeyRange, keyRanges } from "../key-range.js";
import { assertHeld, type LockTerm } from "../lock.js";
import {
  type Batch,
  type Claim,
  type FailoverFence,
  type LedgerKey,
  PAGE_SIZE,
  type StateStore,
  type StoredRecord,
} from "../store.js";
import { arrayOf } from "./arrays.js";
import type { Connection } from "./connection.js";
import { ALL_SHARDS, ARRAY_TYPES, arraysOf, instantsOf, type ShardBatch } from "./group.js";
import { Months } from "./months.js";
import { type Opening, PostgresReader, type RecordRow, toRecord } from "./reads.js";
import { type Patience, patiently } from "./retry.js";
import type { Session } from "./session.js";
import { isNoTable, verdictOf } from "./trouble.js";
import { digitsOf, identityUuid } from "./uuid.js";

/** A commit that gets no answer for so long while its lease holds will get none. */
const SENT_FOR_MS = 120_000;
const PLACES = ["session", "number", "timeline", ...ARRAY_TYPES].map((_, index) => `$${index + 1}`);
const APPLY = `select kron.apply(${PLACES.join(", ")})`;

/** A commit of nothing. */
const NOTHING = ARRAY_TYPES.map((type) => arrayOf(type, []));

/** Doubtful: it is applied, and it may be that no replica has it, whatever the server is told to wait for. */
type Fate = "confirmed" | "doubtful" | "claimed";

function nameOf(uuid: string, { at, kind }: Pick<LedgerKey, "kind"> & { readonly at: string | number }): string {
  return `${uuid}/${at}/${kind}`;
}

/** What all views of one store write through. */
class Writer {
  readonly queue = new CommitQueue<ShardBatch>((group) => this.#inTurn(() => this.#write(group)));
  readonly #session: Session;
  readonly #connection: Connection;
  readonly #opening: Opening;
  readonly #timeline: string;
  readonly #months: Months;
  readonly #patience: Patience;
  #number = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(session: Session, connection: Connection, opening: Opening, timeline: string) {
    this.#session = session;
    this.#connection = connection;
    this.#opening = opening;
    this.#timeline = timeline;
    this.#months = new Months(connection, session.id);
    this.#patience = { withinMs: SENT_FOR_MS, mayGoOn: session.assertHeld };
  }

  /** Between looking for a month's table and writing to it nobody drops it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** A record that is there stays there: each time round fewer claims are left. */
  async #write(group: readonly ShardBatch[]): Promise<readonly (readonly Claim[])[]> {
    const taken = new Set<string>();
    for (;;) {
      const admission = admitted(group, (key) => taken.has(nameOf(identityUuid(key.identity), key)));
      if (admission.admitted.length === 0 || (await this.#apply(admission.admitted))) return admission.refused;
      const before = taken.size;
      for (const name of await this.#taken(admission.admitted)) taken.add(name);
      if (taken.size === before) throw new Error("a claim is refused, and nobody has it");
    }
  }

  /** False: something that it claims is there. */
  async #apply(group: readonly ShardBatch[]): Promise<boolean> {
    const arrays = arraysOf(group);
    if (arrays === null) return true;
    try {
      await patiently(this.#patience, () => this.#months.make(instantsOf(group)));
      let fate = await this.#numbered(arrays);
      if (fate === "claimed") return false;
      // C10: what is written behind it is on no replica unless it is there too.
      while (fate === "doubtful") fate = await this.#numbered(NOTHING);
      return true;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #numbered(arrays: readonly Buffer[]): Promise<Fate> {
    this.#number += 1;
    const number = this.#number;
    return patiently(this.#patience, (tries) => this.#send(number, arrays, tries));
  }

  async #send(number: number, arrays: readonly Buffer[], tries: number): Promise<Fate> {
    const before = this.#connection.warnings;
    try {
      await this.#connection.rows(APPLY, [this.#session.id, number, this.#timeline, ...arrays], tries + 1);
      this.#session.applied(number);
      return this.#connection.warnings === before ? "confirmed" : "doubtful";
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict === "claimed") return "claimed";
      if (verdict !== "applied") throw error;
      this.#session.applied(number);
      return "doubtful";
    }
  }

  #failure(error: unknown): unknown {
    const verdict = verdictOf(error);
    if (verdict === "fenced") return this.#session.fenced();
    if (verdict === "elsewhere") return this.#session.takenOver();
    if (verdict !== "unsuitable") return error;
    const message = `the server of ${this.#session.place} is not the one that it was: ${String(error)}`;
    const hint = "the next start says what to do";
    return this.#session.fail(storeError("store-unsuitable", "commit", message, hint));
  }

  async #taken(group: readonly Batch[]): Promise<ReadonlySet<string>> {
    const keys = group.flatMap(({ claims = [] }) => claims.map(({ key }) => key));
    const text =
      "select l.key, l.at, l.kind from kron.ledger l join unnest($1::uuid[], $2::bigint[], $3::text[]) as c (key, at, kind) " +
      "on l.key = c.key and l.at = c.at and l.kind = c.kind";
    const values = [keys.map((it) => identityUuid(it.identity)), keys.map((it) => it.at), keys.map((it) => it.kind)];
    const rows = await this.#opening.queries.rows<{ key: string; at: string; kind: string }>(text, values);
    return new Set(rows.map((row) => nameOf(digitsOf(row.key), row)));
  }

  async dropLedger(before: EpochMs, along: (records: readonly StoredRecord[]) => Batch): Promise<number> {
    try {
      const tables = await patiently(this.#patience, () => this.#months.before(before));
      let dropped = 0;
      for (const table of tables) {
        for await (const records of this.#recordsOf(table)) {
          await this.queue.commit({ ...along(records), shard: ALL_SHARDS });
        }
        // Otherwise the next sweep tries it again.
        if (await this.#inTurn(() => patiently(this.#patience, () => this.#months.drop(table)))) dropped += 1;
      }
      return dropped;
    } catch (error) {
      throw error instanceof KronError ? error : writeFailed(this.#failure(error));
    }
  }

  /** Only those of which something else may be kept; where nothing is but what nodes have in common, they are not read. */
  async *#recordsOf(table: string): AsyncGenerator<readonly StoredRecord[]> {
    for (let after: readonly string[] = []; ; ) {
      const behind = after.length === 0 ? "" : "and (key, at, kind) > ($1, $2, $3)";
      const text = `select key, at, kind, identity, text from kron.${table}
        where exists (select from kron.object where not starts_with(key, 'nodes/')) ${behind} order by key, at, kind limit ${PAGE_SIZE}`;
      const page = await this.#pageOf(text, after);
      const last = page.at(-1);
      if (last !== undefined) yield page.map(toRecord);
      if (last === undefined || page.length < PAGE_SIZE) return;
      after = [last.key, last.at, last.kind];
    }
  }

  /** Another node may have dropped the table meanwhile: then all of it is done. */
  async #pageOf(text: string, after: readonly string[]): Promise<readonly RecordRow[]> {
    try {
      return await this.#opening.queries.rows<RecordRow>(text, after);
    } catch (error) {
      if (isNoTable(error)) return [];
      throw error;
    }
  }

  async settleFence(shard: Shard | null, upToAt: EpochMs): Promise<void> {
    const text = "select kron.fence_settled($1, $2, $3, $4)";
    const values = [this.#session.id, shard?.pool ?? null, shard?.number ?? null, upToAt];
    try {
      await patiently(this.#patience, () => this.#connection.rows(text, values));
    } catch (error) {
      throw writeFailed(this.#failure(error));
    }
  }

  async markLoading(isLoading: boolean): Promise<void> {
    const text = `with mine as (select id from kron.session where id = $1 for key share)
      update kron.cluster set is_loading = $2 where exists (select from mine) returning is_loading`;
    try {
      const rows = await patiently(this.#patience, () => this.#connection.rows(text, [this.#session.id, isLoading]));
      if (rows.length === 0) throw this.#session.fenced();
    } catch (error) {
      throw writeFailed(error);
    }
  }

  async close(): Promise<void> {
    await this.queue.settled();
    await this.#connection.close();
  }
}

/** The store of one daemon, or one shard of it. `openPostgresStore` makes it; nothing else may. */
export class PostgresStore extends PostgresReader implements StateStore {
  readonly #writer: Writer;

  constructor(opening: Opening, writer: Writer, range?: KeyRange, shard?: Shard) {
    super(opening, range, shard);
    this.#writer = writer;
  }

  get failover(): FailoverFence {
    const shard = this.shard ?? null;
    const instantOf = async (text: string, values: readonly unknown[]): Promise<EpochMs | null> => {
      const [row] = await this.queries().rows<{ up_to: string | null }>(text, values);
      return row?.up_to == null ? null : Number(row.up_to);
    };
    return {
      dueUpTo: () => instantOf("select kron.fence_due($1, $2) as up_to", [shard?.pool, shard?.number]),
      upTo: () => instantOf("select nullif(max(fenced_at), 0) as up_to from kron.cluster", []),
      settled: (term, upToAt) => {
        assertHeld(term, this.opening.place);
        return this.#writer.settleFence(shard, upToAt);
      },
    };
  }

  override inRange(range: KeyRange): StateStore {
    return new PostgresStore(this.opening, this.#writer, range, this.shard ?? undefined);
  }

  /** What somebody who looks after one shard alone is shown; `shards`: how many its pool has. */
  ofShard(shard: Shard, shards: number): PostgresStore {
    return new PostgresStore(this.opening, this.#writer, keyRanges(shards)[shard.number], shard);
  }

  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {
    assertHeld(term, this.opening.place);
    this.queries();
    assertBatch(batch);
    return this.#writer.queue.commit({ ...batch, shard: this.shard ?? ALL_SHARDS });
  }

  async dropLedger(
    term: LockTerm,
    before: EpochMs,
    along: (records: readonly StoredRecord[]) => Batch,
  ): Promise<number> {
    assertHeld(term, this.opening.place);
    this.queries();
    return this.#writer.dropLedger(before, along);
  }

  async markLoading(term: LockTerm, isLoading: boolean): Promise<void> {
    assertHeld(term, this.opening.place);
    this.queries();
    await this.#writer.markLoading(isLoading);
  }

  override async close(): Promise<void> {
    if (this.opening.isClosed) return;
    await this.#writer.close();
    await super.close();
  }
}

/** Its reads and its commits go by connections of their own. */
export function postgresStore(
  opening: Opening,
  session: Session,
  connection: Connection,
  timeline: string,
): PostgresStore {
  return new PostgresStore(opening, new Writer(session, connection, opening, timeline));
}
